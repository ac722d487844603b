"""The keys and values that `atc config set` takes, such as `credentials.github.hosts`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from atc.cli.toml_edit import KeyPath
from atc.core.config import SETTINGS, TABLES
from atc.core.limit_settings import LIMITS, SourceLimitEntry
from atc.core.setting_tables import CredentialEntry, McpEntry
from atc.core.setting_types import SECRET_PLACES, without_password
from atc.settings.reading import LISTS
from protocols.naming import closest_spellings
from protocols.secrets.names import secret_kind
from protocols.secrets.sources import mask_source
from protocols.sources import absolute_source

_PART = re.compile(r'"([^"]+)"|([^."]+)')
_FIELDS = {
    "credentials": tuple(one.name for one in fields(CredentialEntry)),
    "mcp": tuple(one.name for one in fields(McpEntry)),
    "source_limits": tuple(one.name for one in fields(SourceLimitEntry)),
}
_SECRET_FIELDS = frozenset(
    {("credentials", "value"), ("credentials", "client_secret"), ("credentials", "password")}
)
_INNER_LISTS = frozenset(
    {("credentials", "hosts"), ("credentials", "scopes"), ("mcp", "command"), ("", "model_price")}
)
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


def read_key(text: str) -> KeyPath:
    """Return the path of a key in the settings file.

    A name in a table may have dots, as in `headers.api.example.org.Accept`, also without quotes.

    Raises:
        click.UsageError: There is no such setting.
    """
    parts = [quoted or bare for quoted, bare in _PART.findall(text)]
    if _PART.sub("", text).replace(".", "") or not parts or text[0] == "." or text[-1] == ".":
        raise click.UsageError(f"{text!r} is no key; write it like 'max_calls' or 'mcp.NAME.url'")
    table = parts[0]
    if table not in SETTINGS:
        raise click.UsageError(f"unknown setting {table!r}; {_suggest(table, SETTINGS)}")
    if table not in TABLES:
        if len(parts) > 1:
            raise click.UsageError(f"{table!r} is one value, so nothing can follow it in {text!r}")
        return (table,)
    if table == "limits":
        if len(parts) != 2:
            raise click.UsageError(f"{text!r} names no value; write 'limits.SETTING'")
        if parts[1] not in LIMITS:
            problem = f"unknown setting {parts[1]!r} of limits; {_suggest(parts[1], LIMITS)}"
            raise click.UsageError(problem)
        return table, parts[1]
    if table == "mcp" and len(parts) > 3 and parts[-2] == "env":
        return table, ".".join(parts[1:-2]), "env", parts[-1]
    known = _FIELDS.get(table, ())
    form = f"{table}.{'HOST.HEADER' if table == 'headers' else 'NAME.SETTING'}"
    if len(parts) < 3:
        raise click.UsageError(f"{text!r} names no value; write {form!r}")
    if known and parts[-1] not in known:
        raise click.UsageError(
            f"unknown setting {parts[-1]!r} of {table}; {_suggest(parts[-1], known)}"
        )
    if _is_env(table, parts):
        raise click.UsageError(f"{text!r} names no value; write 'mcp.NAME.env.VARIABLE'")
    return table, ".".join(parts[1:-1]), parts[-1]


def _is_env(table: str, parts: list[str]) -> bool:
    """Return True if the key is the table of an MCP server's variables as a whole."""
    return table == "mcp" and parts[-1] == "env"


def _suggest(name: str, known: tuple[str, ...]) -> str:
    """Return the end of a message about an unknown name."""
    if "api_key" in name.lower():
        return "the key of an endpoint is read from the variable OPENAI_API_KEY"
    near = closest_spellings(name, known)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def is_secret(path: KeyPath) -> bool:
    """Return True if the value at a path is a secret, whatever it is."""
    return (path[0], path[-1]) in _SECRET_FIELDS or path[2:3] == ("env",)


def check_argument(key: str, path: KeyPath, text: str) -> None:
    """Check that a value on the command line is no secret: other users can read it there.

    Raises:
        click.UsageError: It is a secret. The message shows where to give it, and not the secret.
    """
    if is_secret(path):
        if not text.startswith(SECRET_PLACES):
            raise click.UsageError(
                f"{key} is a secret, which others can read on the command line; give it on stdin"
                f" (atc config set {key} -), or where it is: env:NAME, file:PATH or keyring:NAME"
            )
        if text.startswith("env:") and not _VARIABLE.fullmatch(text):
            raise click.UsageError(f"{key}: 'env:' must be followed by the name of a variable")
        return
    if path[0] == "headers" and secret_kind(path[-1]) is not None:
        raise click.UsageError(
            f"{key}: the header {path[-1]!r} is a secret, which belongs in 'credentials':"
            f" atc config set credentials.NAME.hosts {path[1]} credentials.NAME.header {path[-1]}"
            " credentials.NAME.value -"
        )
    shown = mask_source(text if path[0] != "mcp" else f"mcp:{text}").removeprefix("mcp:")
    if without_password(text) != text or shown != text:
        raise click.UsageError(
            f"{key}: the value has a secret in it, which others can read on the command line; give"
            f" it on stdin: atc config set {key} -"
        )


def read_value_text(key: str, path: KeyPath, text: str) -> Any:
    """Return the value that a text stands for, as far as the setting must be known for it.

    The text of a list is a TOML array or has commas between the items. Paths of files and sources
    are made absolute, since the settings hold in every folder. A number is returned as text; the
    type of the setting decides about it.

    Raises:
        click.UsageError: The text begins like a TOML array, but is none.
    """
    table = path[0] if len(path) > 1 else ""
    is_command = (table, path[-1]) == ("mcp", "command")
    if path[0] in LISTS or (table, path[-1]) in _INNER_LISTS:
        if text.startswith("["):
            items = _read_array(key, text)
        elif is_command:
            return text
        else:
            items = [part.strip() for part in text.split(",") if part.strip()]
        if path[0] == "tools":
            items = [absolute_source(one) if isinstance(one, str) else one for one in items]
        return items
    if is_secret(path) and text.startswith("file:"):
        return f"file:{Path(text.removeprefix('file:')).expanduser().absolute()}"
    return text


def _read_array(key: str, text: str) -> Any:
    """Return the items of a TOML array. Raises `click.UsageError` if the text is anything else."""
    try:
        read = tomllib.loads(f"items = {text}")
    except tomllib.TOMLDecodeError as error:
        raise click.UsageError(f"{key}: {text!r} is not a TOML array: {error}") from error
    if len(read) > 1:
        raise click.UsageError(f"{key}: {text!r} has more than one TOML array")
    return read["items"]


def typed_value(config: Any, path: KeyPath) -> Any:
    """Return the value of a setting in a configuration, as TOML has it."""
    value = config
    for name in path:
        value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
