"""Settings from flags, `ATC_*` variables, `./atc.toml` and the user's own file. Nothing else reads
them.

A folder's `atc.toml` may come from somebody else's repository. The user trusts one file, at one
place, with one content. Until then it may only name tools that are data, and lower limits.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from atc.core.config import SETTINGS, TABLES, Config, InvalidConfig, config_adapter, got
from atc.core.specs import demand
from atc.pipeline.retrieve.methods import read_method as read_method
from atc.safety.settings_consent import KEYS
from atc.strategies import parse_spec as read_strategy
from protocols.errors import AtcError
from protocols.naming import closest_spellings
from protocols.private_files import (
    NotPrivate,
    check_above,
    is_writable_by_others,
    keep_private,
    write_whole,
)
from protocols.secrets.sources import mask_source
from protocols.sources import is_local_data
from sandbox.choose import AUTO

PROJECT_FILE = "atc.toml"
_LISTS = frozenset({"tools", "allow_writes", "trust"})
"""Settings that are lists; a variable separates the items by commas."""
_HARMLESS = frozenset({"tools", "docs", "decoding"})
"""Settings that any folder's file may set. Of `tools`, only data files of that folder that name no
address.
"""

LIMITS = frozenset(
    {
        "max_tools",
        "samples",
        "max_repairs",
        "max_calls",
        "max_tokens",
        "max_model_calls",
        "max_seconds",
        "max_cost",
    }
)
"""Settings that any folder's file may lower but not raise."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `origin` names that place, and `label` returns how a key is written
    there.
    """

    origin: str
    values: Mapping[str, Any]
    label: Callable[[str], str] = str


def load_config(flags: Mapping[str, Any] | None = None, *, stored: Layer | None = None) -> Config:
    """Return the configuration. Flags win over `ATC_*` variables, then `./atc.toml`, the user's
    file and the defaults.

    A flag that is None or empty was not given. `stored` are the settings of a run that continues;
    only flags win over them. Tools named by an untrusted `atc.toml` get no credentials and no
    consent, and cannot reach this machine's networks.

    Raises:
        InvalidConfig: A file, variable or flag cannot be used, or an `atc.toml` sets what it may
            not.
    """
    config, _, refused = read_settings(flags, stored=stored)
    if refused:
        raise InvalidConfig(refused)
    return config


def read_settings(
    flags: Mapping[str, Any] | None = None, *, stored: Layer | None = None
) -> tuple[Config, dict[str, str], str]:
    """Return the configuration, the origin of each key's value, and what was ignored of an
    untrusted `atc.toml`.
    """
    given = {
        key: value for key, value in (flags or {}).items() if value is not None and value != ()
    }
    own = _read_own()
    project = read_file(project_file(Path()))
    base = Layer(str(user_config_file()), own.values if own else {})
    values = project.values if project else {}
    refused = ""
    if project is not None and not project.is_trusted:
        keys, refused = _find_refused_settings(project, _merge([base])[0])
        values = {key: value for key, value in values.items() if key not in keys}
    layers = [
        base,
        Layer(PROJECT_FILE, values),
        Layer("environment", _read_environment(), lambda key: f"ATC_{key.upper()}"),
        *([stored] if stored else []),
        Layer(
            "command line",
            given,
            lambda key: f"--{key.replace('_', '-').replace('retrieval', 'method')}",
        ),
    ]
    config, origins = _merge(layers)
    if project is not None and not project.is_trusted and origins["tools"] == PROJECT_FILE:
        config = _for_strangers(config, origins, f"{PROJECT_FILE}, which is not trusted")
    elif stored is not None and stored.values.get("near_hosts") is False:  # it began so
        config = _for_strangers(config, origins, stored.origin, theirs=stored.origin)
    return config, origins, refused


def _for_strangers(
    config: Config, origins: dict[str, str], origin: str, *, theirs: str = ""
) -> Config:
    """Return the configuration for tools that an untrusted file names, and record in `origins` what
    is changed.

    These tools get no credentials and reach no host of this machine or its networks. Standing
    consent and trust do not hold for them, since they could take the names for which these were
    given. Only what was said on the command line counts, now or when the run of `theirs` began.
    """
    changes: dict[str, Any] = {"lend_credentials": False, "near_hosts": False}
    changes |= {
        key: () for key in KEYS if not origins[key].startswith("--") and origins[key] != theirs
    }
    origins |= dict.fromkeys(changes, origin)
    return replace(config, **changes)


def _merge(layers: Sequence[Layer]) -> tuple[Config, dict[str, str]]:
    """Return the configuration that results from `layers`, weakest first, and the origin of each
    key's value.

    Credentials, MCP servers and headers merge by name, everything else by key.

    Raises:
        InvalidConfig: A key is unknown, or does not take its value.
    """
    values: dict[str, Any] = {table: {} for table in TABLES}
    places: dict[str, Layer] = {}
    for layer in layers:
        for key, raw in layer.values.items():
            if key not in SETTINGS:
                raise InvalidConfig(_explain_unknown_key(layer, key))
            if key not in TABLES:
                values[key], places[key] = raw, layer
            elif isinstance(raw, Mapping):
                values[key] |= raw
                places |= {f"{key}.{name}": layer for name in raw}
            else:
                raise InvalidConfig(f"{layer.origin}: {key} must be tables, such as [{key}.NAME].")
    try:
        config = config_adapter().validate_python(values)
    except ValidationError as error:
        raise InvalidConfig(_explain_problem(error.errors()[0], places)) from None
    # What these are spelled with is known by the packages that they choose from.
    for key, read in (("strategy", read_strategy), ("retrieval", read_method)):
        try:
            if (spec := getattr(config, key)) != AUTO:
                read(spec)
        except AtcError as error:
            raise InvalidConfig(
                f"{places[key].origin}: {places[key].label(key)}: {error}"
            ) from None
    origins = dict.fromkeys((key for key in SETTINGS if key not in TABLES), "default")
    named = {
        key: one.origin if one.label is str or "." in key else one.label(key)
        for key, one in places.items()
    }
    return config, origins | named


def _explain_problem(problem: ErrorDetails, places: Mapping[str, Layer]) -> str:
    """Return a sentence that says what is wrong with a setting, without quoting a secret."""
    key, *within = map(str, problem["loc"])
    layer = places[f"{key}.{within[0]}" if key in TABLES else key]
    name = ".".join([key, *within[:2]]) if key in TABLES else layer.label(key)
    return f"{layer.origin}: {name} {demand(problem)}{got(problem)}."


def _explain_unknown_key(layer: Layer, key: str) -> str:
    near = closest_spellings(key, SETTINGS)
    hint = (
        f"did you mean {layer.label(near[0])!r}?" if near else f"known are {', '.join(SETTINGS)}."
    )
    return f"{layer.origin}: unknown setting {layer.label(key)!r}; {hint}"


def user_config_file() -> Path:
    """Return the path of the user's own settings; the file need not exist."""
    return platformdirs.user_config_path("atc", appauthor=False) / "config.toml"


def project_file(folder: Path) -> Path:
    """Return the path of a folder's own settings.

    The file itself may be a link: trust is given to it where it is found.
    """
    return folder.resolve() / PROJECT_FILE


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings, read once. `foreign` says why another user may have written it; it is
    empty if nobody could.
    """

    path: Path
    digest: str
    values: Mapping[str, Any]
    foreign: str

    @property
    def is_trusted(self) -> bool:
        """Return True if the user trusts the file with its present content."""
        return _read_trust_book().get(str(self.path)) == self.digest


def read_file(path: Path) -> SettingsFile | None:
    """Return the settings in the file, or None if there is no file.

    Raises:
        InvalidConfig: It cannot be read, or is not TOML.
    """
    try:
        content = path.read_bytes()
        status = path.stat()
        values = tomllib.loads(content.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = (
            error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        )
        raise InvalidConfig(
            f"cannot read the settings in {path}: {reason}; fix or remove it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(f"{path} is not TOML: {error}; fix that line.") from error
    foreign = (
        "can be changed by every user of this machine" if status.st_mode & stat.S_IWOTH else ""
    )
    if status.st_uid not in (os.geteuid(), 0):
        foreign = "belongs to another user"
    return SettingsFile(path, hashlib.sha256(content).hexdigest(), values, foreign)


def _read_own() -> SettingsFile | None:
    """Return the user's own settings, or None if there are none.

    Raises:
        InvalidConfig: Somebody else can write or replace the file; or see `read_file`.
    """
    own = read_file(user_config_file())
    if own is None:
        return None
    try:
        check_above(own.path.absolute())
    except NotPrivate as error:
        raise InvalidConfig(f"your settings are not yours alone: {error}") from error
    foreign = own.foreign
    if not foreign and is_writable_by_others(own.path.stat()):
        foreign = "can be changed by the users of its group"
    if foreign:
        place = shlex.quote(str(own.path.resolve()))
        raise InvalidConfig(
            f"your settings in {str(own.path)!r}: the file {foreign}. Read it, and if it says what you want, repair"
            f" it with: chown {os.geteuid()} {place} && chmod go-w {place}"
        )
    return own


def trust(path: Path, digest: str | None) -> None:
    """Trust the file at `path` while its content has this `digest`; stop trusting it if `digest` is
    None.
    """
    known = {place: kept for place, kept in _read_trust_book().items() if place != str(path)}
    known |= {} if digest is None else {str(path): digest}
    write_whole(_trust_book(), json.dumps(known, indent=1, sort_keys=True) + "\n")


def _trust_book() -> Path:
    return user_config_file().with_name("trusted.json")


def _read_trust_book() -> dict[str, str]:
    """Return the digests of the files that the user trusts, by path.

    Raises:
        NotPrivate: Another user wrote them, or can replace the file.
    """
    keep_private(_trust_book())
    check_above(_trust_book().absolute())
    try:
        known: dict[str, str] = json.loads(_trust_book().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def _read_environment() -> dict[str, Any]:
    """Return the settings among the environment's variables.

    An empty variable counts as not set. A variable that is almost the name of a setting is an
    error.
    """
    known = [key for key in SETTINGS if key not in TABLES]
    found: dict[str, Any] = {}
    for variable, value in os.environ.items():
        key = variable.removeprefix("ATC_").lower()
        if key == variable.lower() or not value:
            continue
        if key in known:
            found[key] = (
                [part.strip() for part in value.split(",") if part.strip()]
                if key in _LISTS
                else value
            )
        elif near := closest_spellings(key, known, cutoff=0.85):
            raise InvalidConfig(
                f"environment: unknown setting {variable!r}; did you mean 'ATC_{near[0].upper()}'?"
            )
    return found


def _find_refused_settings(file: SettingsFile, below: Config) -> tuple[frozenset[str], str]:
    """Return the settings that an untrusted file may not decide, and a sentence about them.

    `below` are the settings that the file would override. Keys that are no settings are left out.
    """
    changed = (
        " It has changed since you trusted it." if str(file.path) in _read_trust_book() else ""
    )
    if file.foreign:
        told = f"{file.path} {file.foreign}, so nothing is taken from it. Read it, then 'atc config trust', or remove it."
        return frozenset(file.values), told + changed
    found = {
        key: what
        for key, raw in file.values.items()
        if (what := _describe_refused_part(key, raw, below))
    }
    if not found:
        return frozenset(), ""
    verb, them = ("is", "it") if len(found) == 1 else ("are", "them")
    return frozenset(found), (
        f"{PROJECT_FILE}: {', '.join(found.values())} {verb} not taken from a folder's file, which may be somebody"
        f" else's. Give {them} yourself, as a flag or in {user_config_file()}, or read {PROJECT_FILE} and trust it as"
        f" it stands: 'atc config trust'.{changed}"
    )


def _describe_refused_part(key: str, raw: Any, below: Config) -> str:
    """Return which part of this setting an untrusted file may not decide; empty if it may, or if it
    is no setting.
    """
    if key == "tools":
        sources = raw if isinstance(raw, list) else [raw]
        texts = [source for source in sources if isinstance(source, str)]
        beyond = [mask_source(source) for source in texts if not is_local_data(source)]
        if not beyond:
            return ""
        return f"'tools' with {', '.join(map(repr, beyond))} (code, a command, an address, or a place elsewhere)"
    if key in LIMITS:
        return "" if is_within_limit(key, raw, below) else f"{key!r} above {_limit(key, below):g}"
    return repr(key) if key not in _HARMLESS and key in SETTINGS else ""


def is_within_limit(key: str, raw: Any, below: Config) -> bool:
    """Return True if a limit is not above the one of `below`. A value that is no number is reported
    later.
    """
    limit = _limit(key, below)
    with suppress(TypeError, ValueError):  # "99" is read as a number
        return limit is None or float(raw) <= limit
    return True


def _limit(key: str, below: Config) -> float | None:
    """Return a limit as a number. `samples` may be left to the model and then counts as 1."""
    limit: float | None = getattr(below, key)
    return 1 if limit is None and key == "samples" else limit
