from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from atc.core.config import Config, InvalidConfig, public
from atc.core.limit_settings import LIMITS, LimitSettings
from atc.core.setting_tables import CredentialEntry
from atc.core.tool_access import call_settings, program_limits
from atc.settings.reading import read_settings


def load(
    folder: Path,
    *,
    project: str = "",
    user: str = "",
    env: dict[str, str] | None = None,
    **flags: object,
):
    if project:
        (folder / "atc.toml").write_text(project, encoding="utf-8")
    (folder / "atc").mkdir(exist_ok=True)
    (folder / "atc" / "config.toml").write_text(user, encoding="utf-8")
    with pytest.MonkeyPatch.context() as here:
        for name in [name for name in os.environ if name.startswith("ATC_")]:
            here.delenv(name)
        for name, value in {**(env or {}), "XDG_CONFIG_HOME": str(folder)}.items():
            here.setenv(name, value)
        here.chdir(folder)
        return read_settings(flags)[:2]


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    config, origins = load(tmp_path)
    assert config == Config()
    assert set(origins.values()) == {"default"}
    tables = {"credentials", "mcp", "headers", "limits", "source_limits"}
    limits = {f"limits.{name}" for name in LIMITS}
    assert set(origins) == set(public(config)) - tables | limits


def test_limits_are_a_table_and_flags(tmp_path: Path) -> None:
    config, origins = load(
        tmp_path,
        user='[limits]\nmax_response_mb = 5\ncall_seconds = 9\n[source_limits."h:80"]\ncall_seconds = 7',
        env={"ATC_PROGRAM_TOKENS": "50"},
        call_seconds=90,
    )
    limits = config.limits
    assert (limits.max_response_mb, limits.call_seconds, limits.program_tokens) == (5, 90, 50)
    assert origins["limits.call_seconds"] == "--call-seconds"
    assert origins["limits.program_tokens"] == "ATC_PROGRAM_TOKENS"
    settings = call_settings(config)
    assert settings.limits_of("h:80").call_seconds == 7
    assert settings.limits_of("h:80").max_response_bytes == 5_000_000
    assert program_limits(config).wall_seconds == 150
    slow = replace(config, max_calls=10, limits=LimitSettings(requests_per_second=0.5))
    assert program_limits(slow).wall_seconds == 140


@pytest.mark.parametrize(("asked", "seconds"), [(29, 29), (31, 30)])
def test_an_untrusted_file_only_lowers_limits(tmp_path: Path, asked: int, seconds: int) -> None:
    config, _ = load(tmp_path, project=f"[limits]\ncall_seconds = {asked}")
    assert config.limits.call_seconds == seconds


@pytest.mark.parametrize("limits", ["nothing = 1", "call_seconds = 0", "concurrent_calls = 1.5"])
def test_wrong_limits_are_named(tmp_path: Path, limits: str) -> None:
    with pytest.raises(InvalidConfig, match=f"limits.{limits.partition(' ')[0]}"):
        load(tmp_path, user=f"[limits]\n{limits}")
    with pytest.raises(InvalidConfig, match="must be a table"):
        load(tmp_path, user="limits = 3")


def test_each_layer_wins_over_the_one_below(tmp_path: Path) -> None:
    config, origins = load(
        tmp_path,
        user="max_tools = 9\nmax_calls = 9\nsamples = 9\nmax_repairs = 1",
        project="max_tools = 2\nmax_calls = 2\nsamples = 2",
        env={"ATC_MAX_TOOLS": "3", "ATC_MAX_CALLS": "3"},
        max_tools=4,
        model=None,
        tools=(),
    )
    assert (config.max_tools, config.max_calls, config.samples, config.max_repairs) == (4, 3, 2, 1)
    assert origins["max_tools"] == "--max-tools"
    assert origins["max_calls"] == "ATC_MAX_CALLS"
    assert origins["samples"] == "atc.toml"
    assert origins["max_repairs"] == str(tmp_path / "atc" / "config.toml")
    assert (origins["model"], origins["tools"]) == ("default", "default")


def test_variables_are_parsed_as_their_settings_are(tmp_path: Path) -> None:
    config, _ = load(
        tmp_path,
        env={
            "ATC_TOOLS": "a.json, b/",
            "ATC_MAX_SECONDS": "2.5",
            "ATC_ALLOW_WRITES": "all",
            "ATC_STATE_DIR": "~/state",
            "ATC_MODEL": "scripted:replies.json",
            "ATC_DEBUG": "1",
            "ATC_MODEL_PATH": "x.gguf",
            "ATC_SOMETHING_ELSE": "1",
        },
    )
    assert config.tools == ("a.json", "b/")
    assert config.max_seconds == 2.5
    assert config.allow_writes == ("all",)
    assert config.state_dir == Path("~/state").expanduser()
    assert config.model == f"scripted:{tmp_path / 'replies.json'}"
    assert load(tmp_path, env={"ATC_MODEL": ""})[0].model is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle = 'x'", "config.toml: unknown setting 'modle'; did you mean 'model'?"),
        ("max_seconds = nan", "max_seconds must be a finite number, got nan."),
        ("strategy = 'reakt'", "strategy: no strategy is named 'reakt'; did you mean 'react'?"),
        ("tools = 3", "tools must be a valid tuple, got 3."),
        ("model = ", "config.toml is not TOML: Invalid value (at end of document); fix that line."),
        ("[credentials]\nx = 's3cret'", "credentials.x must be a dictionary"),
        (
            "[credentials.x]\nhosts = ['a.org']",
            "credentials.x needs a value, or a client_id, or a username and a password.",
        ),
        ("[credentials.x]\nvalue = 's3cret'", "credentials.x.hosts is missing."),
        (
            "[credentials.x]\nvalue = 's3cret'\nhosts = ['*.org']",
            "credentials.x.hosts must be a host, such as 'api.example.org' or 'localhost:8080'.",
        ),
        (
            "[credentials.x]\nvalue = 's3cret'\nhosts = ['a.org']\nprefx = 'a'",
            "credentials.x.prefx is unknown.",
        ),
        (
            "[credentials.x]\nvalue = 's3cret'\nhosts = ['a.org']\nplace = 'body'",
            "place must be 'header', 'query' or 'cookie'.",
        ),
    ],
)
def test_a_bad_setting_is_one_sentence_without_secrets(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(tmp_path, user=text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_wrong_variables_and_flags_are_named_as_written(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidConfig, match=r"ATC_MAX_TOOLS must be a valid integer, .*, got 'many'"
    ):
        load(tmp_path, env={"ATC_MAX_TOOLS": "many"})
    with pytest.raises(
        InvalidConfig, match="unknown setting 'ATC_MAX_TOOL'; did you mean 'ATC_MAX_TOOLS'"
    ):
        load(tmp_path, env={"ATC_MAX_TOOL": "3"})
    with pytest.raises(InvalidConfig, match="command line: --max-seconds must be"):
        load(tmp_path, max_seconds=-1.0)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "atc.toml").mkdir()
    with pytest.raises(InvalidConfig, match=r"atc.toml: Is a directory; fix or remove it"):
        load(tmp_path)
    (tmp_path / "atc.toml").rmdir()
    (tmp_path / "atc.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(InvalidConfig, match="it is not UTF-8 text"):
        load(tmp_path)


CREDENTIALS = """
[credentials.mine]
value = "env:MY_TOKEN"
hosts = ["api.example.org", "localhost:8080"]
prefix = "Bearer "

[credentials.plain]
value = "s3cret"
hosts = ["example.org"]
place = "query"
name = "key"
"""


def test_credentials_merge_by_name_and_are_never_shown(tmp_path: Path) -> None:
    config, origins = load(
        tmp_path,
        user=CREDENTIALS,
        credentials={"plain": {"value": "other", "hosts": ["a.org"], "name": "X"}},
    )
    assert config.credentials["mine"] == CredentialEntry(
        value="env:MY_TOKEN", hosts=("api.example.org", "localhost:8080"), prefix="Bearer "
    )
    assert config.credentials["plain"].value == "other"
    assert origins["credentials.plain"] == "command line"
    assert origins["credentials.mine"] == str(tmp_path / "atc" / "config.toml")
    shown = public(config)["credentials"]
    assert shown["mine"]["value"] == "env:MY_TOKEN"
    assert shown["plain"]["value"] == "***"
    assert "other" not in repr(config)
