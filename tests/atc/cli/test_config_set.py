"""`atc config set` and `unset`."""

from __future__ import annotations

import io
import json
import stat
import sys
import types
from pathlib import Path

import pytest

from atc.core.config import InvalidConfig
from atc.core.secret_values import read_value
from atc.settings.reading import load_config

KEY = "sk-Zq8XvT3mKp7LrW2n"


@pytest.fixture
def file(own_folders: Path) -> Path:
    """Return the path of the user's own settings file, which does not exist."""
    return own_folders / "user" / "atc" / "config.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_settings_are_written_as_they_are_read(file: Path, own_folders: Path, atc_) -> None:
    (own_folders / "openapi.json").write_text("{}")
    words = [
        "max_calls",
        "50",
        "learn",
        "no",
        "model_price",
        "0.25,2",
        "tools",
        "openapi.json,mcp:files",
    ]
    more = "mcp.files.command", "npx -y files", "credentials.crm.hosts", "crm.example.org"
    code, out, err = atc_("config", "set", *words, *more, "credentials.crm.value", "env:CRM")
    assert (code, out, err.count("\n")) == (0, "", 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    config = load_config()
    assert (config.max_calls, config.learn, config.model_price) == (50, False, (0.25, 2.0))
    assert config.tools == (str(own_folders / "openapi.json"), "mcp:files")
    assert config.mcp["files"].command == ("npx", "-y", "files")
    assert config.credentials["crm"].value == "env:CRM"
    assert "learn = false" in file.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["max_cals", "3"], "did you mean 'max_calls'?"),
        (["max_calls", "x"], "max_calls must be a valid integer"),
        (["max_calls"], "'max_calls' has no value"),
        (["max_calls", "1", "max_calls", "2"], "given twice"),
        (["credentials.crm.valu", "x"], "did you mean 'value'?"),
        (["credentials.crm.value", "env:A"], "crm.hosts is missing; what a table must have"),
        (["headers.a", "x"], "names no value"),
        (["limits.call_second", "x"], "did you mean 'call_seconds'?"),
        (["limits", "3"], "write 'limits.SETTING'"),
        (["source_limits.h.org.call_seconds", "0"], "source_limits.h.org.call_seconds must be"),
        (["a=b", "x"], "unknown setting 'a=b'"),
        (["mcp.files.env", "x"], "write 'mcp.NAME.env.VARIABLE'"),
        (["tools", "[a"], "not a TOML array"),
        (["tools", "[]\nmodel = \"x\""], "more than one TOML array"),
        ([".max_calls", "5"], "is no key"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_one_sentence(file: Path, atc_, words: list[str], said: str) -> None:
    write(file, "model = 'a'\n")
    code, out, err = atc_("config", "set", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert file.read_text() == "model = 'a'\n"


@pytest.mark.parametrize(
    ("key", "value", "way"),
    [
        ("credentials.a.value", KEY, "atc config set credentials.a.value -"),
        ("credentials.a.value", f"env:{KEY}", "must be followed by the name of a variable"),
        ("credentials.a.client_secret", KEY, "env:NAME, file:PATH or keyring:NAME"),
        ("mcp.a.env.TOKEN", KEY, "atc config set mcp.a.env.TOKEN -"),
        ("mcp.a.url", f"https://h.org/?api_key={KEY}", "atc config set mcp.a.url -"),
        ("headers.a.org.X-Api-Key", KEY, "credentials.NAME.value -"),
        ("store", f"postgresql://me:{KEY}@h/d", "atc config set store -"),
        ("tools", f"https://me:{KEY}@h.org/openapi.json", "atc config set tools -"),
        ("openai_api_key", KEY, "the variable OPENAI_API_KEY"),
    ],
)
def test_a_secret_on_the_command_line_is_refused(
    file: Path, atc_, key: str, value: str, way: str
) -> None:
    code, out, err = atc_("config", "set", key, value)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert way in err
    assert KEY not in err
    assert not file.exists()


def test_a_secret_is_taken_from_stdin(file: Path, atc_, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, f"{KEY}\n")
    words = "credentials.a.hosts", "a.org", "credentials.a.value", "-"
    code, out, err = atc_("config", "set", *words, "--json")
    assert code == 0
    assert json.loads(out)["set"]["credentials.a.value"] == "***"
    assert KEY not in out + err
    assert load_config().credentials["a"].value == KEY
    for text, said in (("", "stdin is empty"), ("a\nb\n", "one line")):
        pipe(monkeypatch, text)
        assert said in atc_("config", "set", "credentials.a.value", "-")[2]


def test_a_secret_is_put_into_the_keyring(
    file: Path, atc_, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: dict[tuple[str, str], str] = {}
    keyring = types.ModuleType("keyring")
    keyring.errors = types.ModuleType("keyring.errors")
    keyring.errors.KeyringError = type("KeyringError", (Exception,), {})
    keyring.errors.NoKeyringError = type("NoKeyringError", (keyring.errors.KeyringError,), {})
    keyring.get_keyring = object
    keyring.set_password = lambda service, name, text: held.update({(service, name): text})
    keyring.get_password = lambda service, name: held.get((service, name))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setitem(sys.modules, "keyring.errors", keyring.errors)
    pipe(monkeypatch, f"{KEY}\n")
    words = "credentials.a.hosts", "a.org", "credentials.a.value", "-"
    assert atc_("config", "set", "--keyring", *words)[0] == 0
    assert KEY not in file.read_text()
    assert read_value("x", load_config().credentials["a"].value) == KEY
    assert "keyring:credentials.a.value" in atc_("config", "show")[1]
    with pytest.raises(InvalidConfig, match=r"keyring set atc none$"):
        read_value("x", "keyring:none")

    def fail(*_: str) -> None:
        raise keyring.errors.NoKeyringError

    keyring.set_password = fail
    before = file.read_text()
    pipe(monkeypatch, "another\n")
    code, _, err = atc_("config", "set", "--keyring", "credentials.a.value", "-")
    assert (code, err.count("\n")) == (2, 1)
    assert "this machine has no keyring" in err
    assert file.read_text() == before


def test_only_the_users_file_is_written(file: Path, own_folders: Path, atc_) -> None:
    (own_folders / "atc.toml").write_text("max_calls = 5\n")
    code, _, err = atc_("config", "set", "max_calls", "40")
    assert (code, "Here, atc.toml overrides max_calls." in err) == (0, True)
    assert (own_folders / "atc.toml").read_text() == "max_calls = 5\n"
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_link_is_followed_and_stays(file: Path, own_folders: Path, atc_) -> None:
    target = own_folders / "dotfiles.toml"
    write(target, "# mine\n")
    file.parent.mkdir(parents=True)
    file.symlink_to(target)
    assert atc_("config", "set", "max_calls", "5")[0] == 0
    assert file.is_symlink()
    assert target.read_text() == "# mine\nmax_calls = 5\n"


def test_a_broken_file_is_left_as_it_is(file: Path, atc_) -> None:
    write(file, "max_calls = \n")
    code, _, err = atc_("config", "set", "max_calls", "5")
    assert (code, err.count("\n"), "is not TOML" in err) == (2, 1, True)
    assert file.read_text() == "max_calls = \n"


def test_unset_removes_a_setting_or_a_table(file: Path, atc_) -> None:
    write(file, "max_cals = 1\nmax_calls = 5\n[headers.'a.org']\nA = 'x'\n[mcp.f]\nurl = 'u'\n")
    assert atc_("config", "unset", "headers.a.org", "max_calls")[0] == 0
    assert file.read_text() == "max_cals = 1\n[mcp.f]\nurl = 'u'\n"
    assert atc_("config", "unset", "max_cals")[0] == 0
    code, _, err = atc_("config", "unset", "mcp.f.url")
    assert (code, "needs either a command or a url" in err) == (2, True)
    code, _, err = atc_("config", "unset", "model")
    assert (code, err.count("\n"), "does not set 'model'" in err) == (2, 1, True)
