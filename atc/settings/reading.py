"""Reading the settings: command line, `ATC_*` variables, `./atc.toml` and the user's own file.

No other module reads settings from these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from atc.core.config import (
    SETTINGS,
    TABLES,
    Config,
    InvalidConfig,
    config_adapter,
    describe_found,
    find_command,
)
from atc.core.limit_settings import LIMITS
from atc.core.specs import demand
from atc.pipeline.retrieve.methods import read_method
from atc.settings.files import PROJECT_FILE, project_file, read_file, read_own, user_config_file
from atc.settings.untrusted import find_refused_settings, restrict_tools
from atc.strategies import parse_spec
from protocols.errors import AtcError
from protocols.naming import closest_spellings
from sandbox.choose import AUTO

LISTS = frozenset({"tools", "allow_writes", "trust"})
"""Settings that are lists. In an environment variable, commas separate the items."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings from one source: a file, the environment or the command line.

    `_merge` combines several layers; a later layer overrides the earlier ones.
    """

    origin: str
    """Where the settings come from: the name of a file, `environment` or `command line`."""
    values: Mapping[str, Any]
    label: Callable[[str], str] = str
    """Returns how the layer spells a setting, such as `--max-calls` for `max_calls`."""


def load_config(flags: Mapping[str, Any] | None = None, *, stored: Layer | None = None) -> Config:
    """Return the configuration, made from all settings.

    Flags override `ATC_*` variables, which override `./atc.toml`, then the user's file and then the
    defaults. Flags that are None or empty count as not given. `stored` has the settings of an
    earlier run that continues; only flags override them. Tools that an untrusted `atc.toml` names
    get no credentials and no consent, and cannot reach this machine or its networks.

    Raises:
        InvalidConfig: A file, variable or flag is invalid, or an untrusted `atc.toml` has a setting
            that it may not decide.
    """
    config, _, refused = read_settings(flags, stored=stored)
    if refused:
        raise InvalidConfig(refused)
    return config


def read_settings(
    flags: Mapping[str, Any] | None = None, *, stored: Layer | None = None
) -> tuple[Config, dict[str, str], str]:
    """Return the configuration, the origin of each setting, and a sentence about refused settings.

    The sentence is empty unless an untrusted `atc.toml` has settings that it may not decide. The
    arguments are those of `load_config`.
    """
    own = read_own()
    user = Layer(str(user_config_file()), own.values if own else {})
    project = read_file(project_file(Path()))
    untrusted = project is not None and not project.is_trusted
    values = project.values if project else {}
    refused = ""
    if project is not None and untrusted:
        keys, refused = find_refused_settings(project, _merge([user])[0])
        values = {key: value for key, value in values.items() if key not in keys}
    others = [
        Layer(PROJECT_FILE, values),
        Layer(
            "environment",
            _with_limits_table(_read_environment()),
            lambda key: f"ATC_{key.upper()}",
        ),
        *([stored] if stored else []),
        Layer("command line", _with_limits_table(_given_flags(flags)), _flag_of),
    ]
    for layer in others:
        if named := find_command(layer.values):
            raise InvalidConfig(
                f"{layer.origin}: {named}: a command is taken from your own settings file only,"
                f" {user_config_file()}; if you want it to run, put this credential there."
            )
    config, origins = _merge([user, *others])
    if untrusted and origins["tools"] == PROJECT_FILE:
        config = restrict_tools(config, origins, f"{PROJECT_FILE}, which is not trusted")
    elif stored is not None and stored.values.get("near_hosts") is False:
        # The run began with the tools of an untrusted file.
        config = restrict_tools(config, origins, stored.origin, consent_from=stored.origin)
    return config, origins, refused


def check_own(kept: Mapping[str, Any], changed: Mapping[str, Any]) -> Config:
    """Return the configuration that the user's own file alone would give.

    `kept` are settings in the file, and `changed` those that a command is about to write there.

    Raises:
        InvalidConfig: A setting is unknown, or its value is invalid.
    """
    return _merge([Layer(str(user_config_file()), kept), Layer("not written", changed)])[0]


def _given_flags(flags: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the flags that the user gave: those that are neither None nor empty."""
    return {key: value for key, value in (flags or {}).items() if value is not None and value != ()}


def _with_limits_table(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings from flags or variables, with those of `[limits]` in a table of their own."""
    limits = {key: value for key, value in values.items() if key in LIMITS}
    others = {key: value for key, value in values.items() if key not in LIMITS}
    return others | ({"limits": limits} if limits else {})


def _flag_of(key: str) -> str:
    """Return the command-line option of a setting: `--max-calls` for `max_calls`."""
    return "--method" if key == "retrieval" else f"--{key.replace('_', '-')}"


def _merge(layers: Sequence[Layer]) -> tuple[Config, dict[str, str]]:
    """Return the configuration that results from `layers`, and the origin of each setting.

    Later layers override earlier ones. The tables of credentials, MCP servers and headers are
    merged name by name; any other setting is replaced as a whole.

    Raises:
        InvalidConfig: A setting is unknown, or its value is invalid.
    """
    values: dict[str, Any] = {table: {} for table in TABLES}
    sources: dict[str, Layer] = {}
    for layer in layers:
        for key, raw in layer.values.items():
            if key not in SETTINGS:
                raise InvalidConfig(_explain_unknown_key(layer, key))
            if key not in TABLES:
                values[key] = raw
                sources[key] = layer
            elif isinstance(raw, Mapping):
                values[key] |= raw
                sources |= {f"{key}.{name}": layer for name in raw}
            else:
                form = f"a table [{key}]" if key == "limits" else f"tables, such as [{key}.NAME]"
                raise InvalidConfig(f"{layer.origin}: {key} must be {form}.")
    try:
        config = config_adapter().validate_python(values)
    except ValidationError as error:
        raise InvalidConfig(_explain_problem(error.errors()[0], sources)) from None
    _check_choices(config, sources)
    names = [key for key in SETTINGS if key not in TABLES] + [f"limits.{key}" for key in LIMITS]
    origins = dict.fromkeys(names, "default")
    return config, origins | {key: _origin_of(key, layer) for key, layer in sources.items()}


def _check_choices(config: Config, sources: Mapping[str, Layer]) -> None:
    """Check the settings `strategy` and `retrieval` with their flags, such as `chain:repair=none`.

    `Config` cannot check them, because it may not import the packages that define the choices.

    Raises:
        InvalidConfig: The strategy, method or flag is unknown, or the flag's value is invalid.
    """
    for key, parse in (("strategy", parse_spec), ("retrieval", read_method)):
        spec = getattr(config, key)
        if spec == AUTO:
            continue
        try:
            parse(spec)
        except AtcError as error:
            layer = sources[key]
            raise InvalidConfig(f"{layer.origin}: {layer.label(key)}: {error}") from None


def _origin_of(key: str, layer: Layer) -> str:
    """Return where a setting comes from, as `atc config show` displays it: a file or a flag."""
    name = key.removeprefix("limits.")
    return layer.origin if layer.label is str or "." in name else layer.label(name)


def _explain_problem(problem: ErrorDetails, sources: Mapping[str, Layer]) -> str:
    """Return a sentence that says what is wrong with a setting, without quoting a secret."""
    key, *within = map(str, problem["loc"])
    layer = sources[f"{key}.{within[0]}" if key in TABLES else key]
    name = ".".join([key, *within[:2]]) if key in TABLES else layer.label(key)
    if key == "limits" and layer.label is not str:
        name = layer.label(within[0])
    return f"{layer.origin}: {name} {demand(problem)}{describe_found(problem)}."


def _explain_unknown_key(layer: Layer, key: str) -> str:
    """Return a sentence that says that a setting is unknown, and suggests a similar one."""
    near = closest_spellings(key, SETTINGS)
    hint = (
        f"did you mean {layer.label(near[0])!r}?" if near else f"known are {', '.join(SETTINGS)}."
    )
    return f"{layer.origin}: unknown setting {layer.label(key)!r}; {hint}"


def _read_environment() -> dict[str, Any]:
    """Return the settings from the environment variables `ATC_*`, without empty ones.

    Raises:
        InvalidConfig: The name of a variable looks like a misspelled setting.
    """
    known = [*(key for key in SETTINGS if key not in TABLES), *LIMITS]
    found: dict[str, Any] = {}
    for variable, value in os.environ.items():
        key = variable.removeprefix("ATC_").lower()
        if key == variable.lower() or not value:
            continue
        if key in LISTS:
            found[key] = [part.strip() for part in value.split(",") if part.strip()]
        elif key in known:
            found[key] = value
        elif near := closest_spellings(key, known, cutoff=0.85):
            raise InvalidConfig(
                f"environment: unknown setting {variable!r}; did you mean 'ATC_{near[0].upper()}'?"
            )
    return found
