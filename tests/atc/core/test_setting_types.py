"""Settings that can be shown."""

from atc.core.setting_types import mask_command, mask_sources, without_password

KEY = "Zq8XvT3mKp7LrW2nBd5HsJ9c"


def test_settings_are_shown_without_secrets():
    assert without_password("postgresql://u:pw@h/d") == "postgresql://u:***@h/d"
    assert mask_sources([f"https://h/x?api_key={KEY}"]) == ["https://h/x?api_key=***"]
    assert mask_command(["x", "--token", KEY]) == ["x", "--token", "***"]
