"""Reading of secrets from the environment variable, file or keyring that a setting names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.core.config import Config, InvalidConfig
from atc.core.keyring_secrets import read_keyring
from protocols.settings import Credential

SECRET_FIELDS = ("value", "client_secret", "username", "password")
"""Settings of a credential that may name the variable, file or keyring entry of their value."""


def read_value(what: str, value: str) -> str:
    """Return the secret that the value of a setting refers to.

    The value is `env:NAME`, `file:PATH` or `keyring:NAME`. Any other value is the secret itself.
    `what` names the setting in error messages.

    Raises:
        InvalidConfig: The variable is not set, the file or keyring cannot be read, or the secret
            has control characters.
    """
    scheme, _, rest = value.partition(":")
    if scheme == "env":
        secret = os.environ.get(rest)
        if not secret:
            raise InvalidConfig(
                f"{what}: the variable {rest} is not set; set it, or change its value."
            )
    elif scheme == "file":
        try:
            secret = Path(rest).expanduser().read_text(encoding="utf-8").partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InvalidConfig(f"{what}: cannot read {rest}: {reason}.") from None
        if not secret:
            raise InvalidConfig(f"{what}: the first line of {rest} is empty; put the secret there.")
    elif scheme == "keyring":
        secret = read_keyring(what, rest)
    else:
        secret = value
    if any(ord(character) < 32 for character in secret):
        raise InvalidConfig(f"{what}: the secret has control characters in it.")
    return secret


def describe_place(value: str) -> str:
    """Return the place that a value such as `env:NAME` refers to, for messages; "" for a secret."""
    scheme, _, rest = value.partition(":")
    kind = {"env": "the variable", "file": "the file", "keyring": "the keyring entry"}.get(scheme)
    return f"{kind} {rest}" if kind else ""


def _secrets_of(entry: Credential) -> dict[str, str]:
    """Return the settings of a credential that may name the place of a secret, keyed by setting."""
    return {key: getattr(entry, key) for key in SECRET_FIELDS}


def place_of_secret(entry: Credential) -> str:
    """Return where the secret of a credential stands, for messages; "" if in the settings."""
    return describe_place(entry.value or entry.password or entry.client_secret)


def with_secrets(config: Config) -> tuple[Config, dict[str, str]]:
    """Return the configuration with its secrets in place of the variables and files that hold them.

    The second result says why some secrets could not be read. It maps the name of a credential, or
    `mcp.SERVER`, to the reason.
    """
    problems: dict[str, str] = {}

    def read(owner: str, what: str, value: str) -> str:
        try:
            return value and read_value(what, value)
        except InvalidConfig as error:
            problems[owner] = str(error)
            return value

    credentials = {}
    servers = {}
    for name, entry in config.credentials.items():
        known: dict[str, Any] = {
            key: read(name, f"credential {name!r}", text)
            for key, text in _secrets_of(entry).items()
        }
        credentials[name] = replace(entry, **known)
    for name, server in config.mcp.items():
        env = {
            key: read(f"mcp.{name}", f"mcp.{name}.env.{key}", text)
            for key, text in server.env.items()
        }
        servers[name] = replace(server, env=env)
    return replace(config, credentials=credentials, mcp=servers), problems


def portable(config: Config) -> Config:
    """Return the configuration in a form that workers on other machines can use.

    All secrets are read on this machine, because the others do not have its variables and files.

    Raises:
        InvalidConfig: A secret cannot be read.
    """
    read, problems = with_secrets(config)
    for problem in problems.values():
        raise InvalidConfig(problem)
    return read
