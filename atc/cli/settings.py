"""Settings from flags, `ATC_*` variables, `./atc.toml` and the user's file: nothing else in the program reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import platformdirs

from atc.cli.trust import PROJECT_FILE, is_trusted, read_settings, refused
from atc.config import TABLES, Config, CredentialEntry, InvalidConfig, McpEntry
from atc.layers import Layer, merge, nearest_key

_OTHER_VARIABLES = frozenset({"ATC_DEBUG", "ATC_MODEL_PATH"})


def load_config(
    flags: Mapping[str, Any] | None = None,
    *,
    stored: Layer | None = None,
    on_refusal: Callable[[str], None] | None = None,
) -> tuple[Config, dict[str, str]]:
    """The configuration, and for each key where its value came from.

    Flags win over `ATC_*` variables, these over `./atc.toml`, this over the user's file, this over defaults.
    A flag that is None or empty was not given. `stored` are the settings of a run that goes on: only flags win over
    them. What an `atc.toml` that is not trusted may not decide is an error; with `on_refusal`, which is told of it, it
    is left out. Tools that such a file names get no credentials.

    Raises:
        InvalidConfig: a file, variable or flag that cannot be used.
    """
    given = {key: value for key, value in (flags or {}).items() if value is not None and value != ()}
    user = user_config_file()
    own, project = read_settings(user), read_settings(Path.cwd() / PROJECT_FILE)
    base = Layer(str(user), own.values if own else {})
    values, trusted = project.values if project else {}, True
    if project is not None and not (trusted := is_trusted(project, trust_book(user))):
        keys, sentence = refused(project, merge([base])[0], user=user, book=trust_book(user))
        if keys and on_refusal is None:
            raise InvalidConfig(sentence)
        if keys and on_refusal is not None:
            on_refusal(sentence)
        values = {key: value for key, value in values.items() if key not in keys}
    layers = [
        base,
        Layer(PROJECT_FILE, values),
        Layer("environment", _read_environment(os.environ), lambda key: f"ATC_{key.upper()}", text=True),
        *([stored] if stored else []),
        Layer("command line", given, lambda key: f"--{key.replace('_', '-')}"),
    ]
    config, origins = merge(layers)
    if not trusted and origins["tools"] == PROJECT_FILE:
        config = replace(config, lend_credentials=False)
        origins["lend_credentials"] = f"{PROJECT_FILE}, which is not trusted"
    return config, origins


def user_config_file() -> Path:
    """Where the user's own settings stand, whether or not the file exists."""
    return platformdirs.user_config_path("atc", appauthor=False) / "config.toml"


def trust_book(user: Path) -> Path:
    """Where it is kept which folders' files are trusted: beside the user's own file."""
    return user.with_name("trusted.json")


def read_value(what: str, value: str) -> str:
    """What `env:NAME` or `file:PATH` stands for, else the text itself; `what` names it in messages.

    Raises:
        InvalidConfig: the variable is not set, or the file cannot be read.
    """
    scheme, _, rest = value.partition(":")
    if scheme == "env":
        secret = os.environ.get(rest)
        if not secret:
            raise InvalidConfig(f"{what}: the variable {rest} is not set; set it, or change its value.")
    elif scheme == "file":
        try:
            secret = Path(rest).expanduser().read_text(encoding="utf-8").partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InvalidConfig(f"{what}: cannot read {rest}: {reason}.") from None
        if not secret:
            raise InvalidConfig(f"{what}: the first line of {rest} is empty; put the secret there.")
    else:
        secret = value
    if any(ord(character) < 32 for character in secret):
        raise InvalidConfig(f"{what}: the secret has control characters in it.")
    return secret


def with_secrets(name: str, entry: CredentialEntry) -> CredentialEntry:
    """The credential with its secrets in the place of where they are read.

    Raises:
        InvalidConfig: one cannot be read.
    """
    what = f"credential {name!r}"
    value, secret = (text and read_value(what, text) for text in (entry.value, entry.client_secret))
    return replace(entry, value=value, client_secret=secret)


def server_environment(name: str, entry: McpEntry) -> dict[str, str]:
    """The variables of an MCP server's command, secrets read. Raises InvalidConfig where one cannot be."""
    return {key: read_value(f"mcp.{name}.env.{key}", text) for key, text in entry.env.items()}


def _read_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Settings among the variables. An empty variable counts as not set; a near miss of a setting is an error."""
    found: dict[str, str] = {}
    for variable, value in env.items():
        if not variable.startswith("ATC_") or variable in _OTHER_VARIABLES or not value:
            continue
        key = variable.removeprefix("ATC_").lower()
        near = nearest_key(key, cutoff=0.85)
        if near == key and key not in TABLES:
            found[key] = value
        elif near is not None and near not in TABLES:
            raise InvalidConfig(f"environment: unknown setting {variable!r}; did you mean 'ATC_{near.upper()}'?")
    return found
