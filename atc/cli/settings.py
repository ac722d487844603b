"""Settings from flags, `ATC_*` variables, `./atc.toml` and the user's file: nothing else in the program reads them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from atc.config import TABLES, Config, CredentialEntry, InvalidConfig
from atc.layers import Layer, merge, nearest_key

PROJECT_FILE = "atc.toml"
_COMMAND = re.compile(r"(?:[\w.-]+=)?mcp:(?!\s*https?://)(.*)", re.DOTALL | re.IGNORECASE)
_OTHER_VARIABLES = frozenset({"ATC_DEBUG", "ATC_MODEL_PATH"})


def load_config(
    flags: Mapping[str, Any] | None = None,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    user_file: Path | None = None,
    stored: Layer | None = None,
) -> tuple[Config, dict[str, str]]:
    """The configuration, and for each key where its value came from.

    Flags win over `ATC_*` variables, these over `atc.toml` in `cwd`, this over the user's file, this over defaults.
    A flag that is None or empty was not given. `stored` are the settings of a run that goes on: only flags win over
    them.

    Raises:
        InvalidConfig: a file, variable or flag that cannot be used.
    """
    env = os.environ if env is None else env
    given = {key: value for key, value in (flags or {}).items() if value is not None and value != ()}
    user = user_config_file() if user_file is None else user_file
    project = (Path.cwd() if cwd is None else cwd) / PROJECT_FILE
    layers = [
        Layer(str(user), own := _read_toml(user)),
        Layer(PROJECT_FILE, _without_powers(_read_toml(project), user, servers=own.get("mcp", {}))),
        Layer("environment", _read_environment(env), lambda key: f"ATC_{key.upper()}", text=True),
        *([stored] if stored else []),
        Layer("command line", given, lambda key: f"--{key.replace('_', '-')}"),
    ]
    return merge(layers)


def user_config_file() -> Path:
    """Where the user's own settings stand, whether or not the file exists."""
    import platformdirs

    return platformdirs.user_config_path("atc", appauthor=False) / "config.toml"


def read_secret(name: str, entry: CredentialEntry, *, env: Mapping[str, str] | None = None) -> str:
    """The secret itself, read when it is needed.

    Raises:
        InvalidConfig: the variable is not set, or the file cannot be read.
    """
    return read_value(f"credential {name!r}", entry.value, env=env)


def read_value(what: str, value: str, *, env: Mapping[str, str] | None = None) -> str:
    """What `env:NAME` or `file:PATH` stands for, else the text itself; `what` names it in messages.

    Raises:
        InvalidConfig: the variable is not set, or the file cannot be read.
    """
    scheme, _, rest = value.partition(":")
    if scheme == "env":
        secret = (os.environ if env is None else env).get(rest)
        if not secret:
            raise InvalidConfig(f"{what}: the variable {rest} is not set; set it, or change its value.")
    elif scheme == "file":
        try:
            secret = Path(rest).expanduser().read_text(encoding="utf-8").partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidConfig(f"{what}: cannot read {rest}: {_reason(error)}.") from None
        if not secret:
            raise InvalidConfig(f"{what}: the first line of {rest} is empty; put the secret there.")
    else:
        secret = value
    if any(ord(character) < 32 for character in secret):
        raise InvalidConfig(f"{what}: the secret has control characters in it.")
    return secret


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"cannot read the settings in {path}: {_reason(error)}; fix or remove it.") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidConfig(f"{path} is not TOML: {error}; fix that line.") from error


def _without_powers(values: dict[str, Any], user: Path, *, servers: Collection[str]) -> dict[str, Any]:
    """A folder's own file, which may have come with a repository of others, decides neither secrets nor consent.

    Nor does it name commands: of MCP servers it may give addresses, and the names of the user's own `servers`.
    """
    for key in (*TABLES, "allow_writes", "on_unknown", "start_servers", "trust", "trust_annotations"):
        if key in values:
            raise InvalidConfig(
                f"{PROJECT_FILE}: {key!r} is not taken from a folder's file, which may be somebody else's; put it into"
                f" {user}."
            )
    tools = values.get("tools", ())
    for source in [tools] if isinstance(tools, str) else tools if isinstance(tools, list) else ():
        found = _COMMAND.fullmatch(source) if isinstance(source, str) else None
        if found and found[1].strip() not in servers:
            raise InvalidConfig(
                f"{PROJECT_FILE}: the tools name the command {found[1]!r}, which is not taken from a folder's file;"
                f" give it as --tools yourself, or name it in {user} as [mcp.NAME], and here as 'mcp:NAME'."
            )
    return values


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


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
