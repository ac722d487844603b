"""How layers of settings (defaults, files, variables, flags) merge into a `Config`. Reads no file, no environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from atc.config import SETTINGS, TABLES, Config, CredentialEntry, InvalidConfig, McpEntry, adapter, demand
from atc.retrieve.methods import read as read_method
from atc.strategies import read as read_strategy
from protocols.errors import AtcError
from sandbox.choose import AUTO

_UNTOLD = frozenset({*TABLES, "store"})
"""Settings with secrets in them, whose values no message quotes; but for these of their fields."""
_TOLD = frozenset({"hosts", "place"})


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `origin` names the place, `label` how a key is written there."""

    origin: str
    values: Mapping[str, Any]
    label: Callable[[str], str] = str


def merge(layers: Sequence[Layer]) -> tuple[Config, dict[str, str]]:
    """The configuration of `layers`, weakest first, and for each key where its value came from.

    Credentials, MCP servers and headers merge by name, everything else by key.

    Raises:
        InvalidConfig: an unknown key, or a value that its key does not take.
    """
    values: dict[str, Any] = {table: {} for table in TABLES}
    places: dict[str, Layer] = {}
    for layer in layers:
        for key, raw in layer.values.items():
            if key not in SETTINGS:
                raise InvalidConfig(_unknown(layer, key, SETTINGS))
            if key not in TABLES:
                values[key], places[key] = raw, layer
            elif isinstance(raw, Mapping):
                values[key] |= raw
                places |= {f"{key}.{name}": layer for name in raw}
            else:
                raise InvalidConfig(f"{layer.origin}: {key} must be tables, such as [{key}.NAME].")
    try:
        config = adapter().validate_python(values)
    except ValidationError as error:
        # A misspelled key explains what else is missing.
        raise InvalidConfig(_told(min(error.errors(), key=lambda one: not _is_unknown(one)), places)) from None
    # What these are spelled with is known by the packages that they choose from.
    for key, read in (("strategy", read_strategy), ("retrieval", read_method)):
        try:
            if (spec := getattr(config, key)) != AUTO:
                read(spec)
        except AtcError as error:
            raise InvalidConfig(f"{places[key].origin}: {places[key].label(key)}: {error}") from None
    origins = dict.fromkeys((key for key in SETTINGS if key not in TABLES), "default")
    named = {key: one.origin if one.label is str or "." in key else one.label(key) for key, one in places.items()}
    return config, origins | named


def _is_unknown(problem: ErrorDetails) -> bool:
    return problem["type"] == "unexpected_keyword_argument"


def _told(problem: ErrorDetails, places: Mapping[str, Layer]) -> str:
    """What is wrong with a setting, in a sentence that quotes no secret."""
    key, *within = map(str, problem["loc"])
    layer = places[f"{key}.{within[0]}" if key in TABLES else key]
    if _is_unknown(problem):
        kind = CredentialEntry if key == "credentials" else McpEntry
        return _unknown(layer, within[1], [one.name for one in fields(kind)], within=f"{key}.{within[0]}.")
    name = ".".join([key, *within[:2]]) if key in TABLES else layer.label(key)
    what = demand(problem).replace("Field required", "is missing")
    told = key not in _UNTOLD or (len(within) > 1 and within[1] in _TOLD and problem["type"] != "missing")
    got = f", got {problem['input']!r}" if told else ""
    return f"{layer.origin}: {name} {what}{got}."


def _unknown(layer: Layer, key: str, known: Sequence[str], *, within: str = "") -> str:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f"did you mean {layer.label(near[0])!r}?" if near else f"known are {', '.join(known)}."
    return f"{layer.origin}: unknown setting {within + layer.label(key)!r}; {hint}"
