"""Settings of calls."""

from atc.core.config import Config
from atc.core.setting_tables import CredentialEntry
from atc.core.tool_access import call_settings


def test_a_missing_secret_is_a_problem(monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    monkeypatch.delenv("NOT_SET", raising=False)
    entries = {
        "shop": CredentialEntry(value="env:SHOP_KEY", hosts=["api.example.org"]),
        "other": CredentialEntry(value="env:NOT_SET", hosts=["api.example.org"]),
    }
    settings = call_settings(Config(credentials=entries))
    assert settings.credentials["shop"].value == "s3cret"
    assert "NOT_SET" in settings.problems["other"]
