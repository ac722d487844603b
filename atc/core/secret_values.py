"""Reading of secrets from the environment variable, file or keyring that a setting names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.core.config import Config, InvalidConfig
from atc.core.env_file import read_env_file
from atc.core.keyring_secrets import read_keyring
from atc.core.secret_commands import COMMAND, run_command
from atc.core.setting_tables import CredentialEntry
from atc.core.setting_types import SECRET_PLACES
from protocols.settings import Credential

SECRET_FIELDS = ("value", "client_secret", "username", "password")
"""Settings of a credential that may name the variable, file or keyring entry of their value."""


def read_value(
    what: str, value: str, *, env_file: Path | None = None, may_run: bool = False
) -> str:
    """Return the secret that the value of a setting refers to.

    The value is `env:NAME`, `file:PATH`, `keyring:NAME` or `command:WORDS`. Any other value is the
    secret itself. `what` names the setting in error messages. A variable that is not set is looked
    for in the file `env_file`. A command is run only if `may_run` is True.

    Raises:
        InvalidConfig: The variable is not set, the file or keyring cannot be read, the command
            fails or may not be run, or the secret has control characters.
    """
    scheme, _, rest = value.partition(":")
    if scheme == "env":
        secret = _read_variable(what, rest, env_file)
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
    elif scheme == "command" and may_run:
        secret = run_command(what, rest)
    elif scheme == "command":
        raise InvalidConfig(f"{what}: a command can give the secret of a credential only.")
    else:
        secret = value
    if secret.startswith(SECRET_PLACES):  # it could be taken for a place or a command later
        begin = secret.partition(":")[0]
        raise InvalidConfig(f"{what}: the secret begins with '{begin}:', which no secret may.")
    if any(ord(character) < 32 for character in secret):
        raise InvalidConfig(f"{what}: the secret has control characters in it.")
    return secret


def _read_variable(what: str, name: str, env_file: Path | None) -> str:
    """Return the value of a variable of the environment, or else of the file `env_file`."""
    secret = os.environ.get(name)
    if not secret and env_file is not None:
        secret = read_env_file(env_file).get(name)
    if secret:
        return secret
    beside = f" and is not in {env_file}" if env_file is not None else ""
    raise InvalidConfig(
        f"{what}: the variable {name} is not set{beside}; set it, or change its value."
    )


def describe_place(value: str, env_file: Path | None = None) -> str:
    """Return the place that a value such as `env:NAME` refers to, for messages; "" for a secret."""
    scheme, _, rest = value.partition(":")
    if scheme == "command":
        return f"the command {rest.split()[0]}" if rest.split() else ""
    if scheme == "env" and env_file is not None and not os.environ.get(rest):
        return f"the variable {rest} in {env_file}"
    kind = {"env": "the variable", "file": "the file", "keyring": "the keyring entry"}.get(scheme)
    return f"{kind} {rest}" if kind else ""


def _secrets_of(entry: Credential) -> dict[str, str]:
    """Return the settings of a credential that may name the place of a secret, keyed by setting."""
    return {key: getattr(entry, key) for key in SECRET_FIELDS}


def place_of_secret(entry: Credential, env_file: Path | None) -> str:
    """Return where the secret of a credential stands, for messages; "" if in the settings."""
    return describe_place(entry.value or entry.password or entry.client_secret, env_file)


def has_command(entry: Credential) -> bool:
    """Return True if a command gives a secret of the credential, so that it is read late."""
    return any(text.startswith(COMMAND) for text in _secrets_of(entry).values())


def read_late(config: Config, name: str) -> CredentialEntry:
    """Return a credential of the configuration with its secrets, also those of commands.

    Raises:
        InvalidConfig: One of them cannot be read.
    """
    entry = config.credentials[name]
    known: dict[str, Any] = {
        key: text
        and read_value(f"credential {name!r}", text, env_file=config.env_file, may_run=True)
        for key, text in _secrets_of(entry).items()
    }
    return replace(entry, **known)


def with_secrets(config: Config) -> tuple[Config, dict[str, str]]:
    """Return the configuration with its secrets in place of the variables and files that hold them.

    No command is run: a credential that needs one is left as it is, see `read_late`.
    The second result says why some secrets could not be read. It maps the name of a credential, or
    `mcp.SERVER`, to the reason.
    """
    problems: dict[str, str] = {}

    def read(owner: str, what: str, value: str) -> str:
        try:
            return value and read_value(what, value, env_file=config.env_file)
        except InvalidConfig as error:
            problems[owner] = str(error)
            return value

    credentials = {}
    servers = {}
    for name, entry in config.credentials.items():
        if has_command(entry):
            credentials[name] = entry
            continue
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
    late = {
        name: read_late(config, name)
        for name, one in config.credentials.items()
        if has_command(one)
    }
    return replace(read, credentials={**read.credentials, **late})
