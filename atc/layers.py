"""How layers of settings (defaults, files, variables, flags) merge into a `Config`. Reads no file, no environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from atc.config import SETTINGS, TABLES, Config, CredentialEntry, InvalidConfig, McpEntry, expects
from atc.retrieve.methods import read as read_method
from atc.strategies import read as read_strategy
from protocols.errors import AtcError
from sandbox.choose import AUTO

_HINTS = get_type_hints(Config, include_extras=True)
_ENTRIES: Mapping[str, tuple[Any, str]] = {
    "credentials": (CredentialEntry, "value and hosts"),
    "mcp": (McpEntry, "command or url"),
    "headers": (dict[str, str], "names and texts"),
}
"""By table: what an entry of it is, and what its entries hold at least."""
_LISTS = frozenset({"tools", "allow_writes", "trust"})
_TOLD = frozenset({"hosts", "place"})
"""Fields of entries that are quoted in messages: they hold no secret."""
_SPELLED: Mapping[str, Callable[[str], object]] = {
    "strategy": read_strategy,
    "retrieval": lambda spec: spec == AUTO or read_method(spec),
}
"""Settings whose words are known by the package that they choose from."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `origin` names the place, `label` how a key is written there."""

    origin: str
    values: Mapping[str, Any]
    label: Callable[[str], str] = str
    text: bool = False
    """Values are text that must be parsed (environment variables); a list has commas between its items."""


def merge(layers: Sequence[Layer]) -> tuple[Config, dict[str, str]]:
    """The configuration of `layers`, weakest first, and for each key where its value came from.

    Credentials and MCP servers merge by name, everything else by key.

    Raises:
        InvalidConfig: an unknown key, or a value that its key does not take.
    """
    values: dict[str, Any] = {table: {} for table in TABLES}
    origins = dict.fromkeys((key for key in SETTINGS if key not in TABLES), "default")
    for layer in layers:
        for key, raw in layer.values.items():
            if key in TABLES:
                entries = _entries(layer, key, raw)
                values[key] |= entries
                origins |= {f"{key}.{name}": layer.origin for name in entries}
            else:
                values[key] = _value(layer, key, raw)
                origins[key] = layer.origin if layer.label is str else layer.label(key)
    return Config(**values), origins


def nearest_key(name: str, *, cutoff: float = 0.6) -> str | None:
    """The setting whose name is most like `name`, if any is."""
    found = get_close_matches(name, SETTINGS, n=1, cutoff=cutoff)
    return found[0] if found else None


@cache
def _type(key: str) -> TypeAdapter[Any]:
    """What checks a setting; few are set, and each takes a millisecond to make."""
    return TypeAdapter(_HINTS[key])


def _value(layer: Layer, key: str, raw: Any) -> Any:
    if key not in SETTINGS:
        raise InvalidConfig(_unknown(layer, key, SETTINGS))
    try:
        if not layer.text:
            value = _type(key).validate_python(raw)
        elif key in _LISTS:
            value = _type(key).validate_python([part.strip() for part in raw.split(",") if part.strip()])
        else:
            value = _type(key).validate_strings(raw)
    except ValidationError:
        got = "" if key == "store" else f", got {raw!r}"  # there may be a password in it
        raise InvalidConfig(f"{layer.origin}: {layer.label(key)} must be {_wanted(_HINTS[key])}{got}.") from None
    try:
        _SPELLED.get(key, str)(value)
    except AtcError as error:
        raise InvalidConfig(f"{layer.origin}: {layer.label(key)}: {error}") from None
    return value


def _entries(layer: Layer, table: str, raw: Any) -> dict[str, Any]:
    """The entries of a table. Messages never quote a value that may be a secret."""
    kind, least = _ENTRIES[table]
    if not isinstance(raw, Mapping):
        example = "github" if table == "credentials" else "files"
        what = f"must be tables such as [{table}.{example}]"
        raise InvalidConfig(f"{layer.origin}: {table} {what}, got a {type(raw).__name__}.")
    found: dict[str, Any] = {}
    for name, entry in raw.items():
        where = f"{table}.{name}"
        if not isinstance(entry, Mapping):
            what = f"must be a table with {least}, got a {type(entry).__name__}."
            raise InvalidConfig(f"{layer.origin}: {where} {what}")
        try:
            found[name] = TypeAdapter(kind).validate_python(dict(entry))
        except ValidationError as error:
            first = min(error.errors(), key=lambda one: one["type"] != "unexpected_keyword_argument")
            field = str(first["loc"][0]) if first["loc"] else ""
            hints = get_type_hints(kind, include_extras=True) if isinstance(kind, type) else {}
            if first["type"] == "unexpected_keyword_argument":
                raise InvalidConfig(_unknown(layer, field, list(hints), within=f"{where}.")) from None
            got = f", got {entry[field]!r}" if field in _TOLD and field in entry else ""
            at = f"{where}.{field}" if field else where
            raise InvalidConfig(
                f"{layer.origin}: {at} must be {_wanted(hints.get(field), first['msg'])}{got}."
            ) from None
    return found


def _wanted(hint: Any, message: str = "") -> str:
    """What a setting of this type takes, as the end of a sentence that begins with "must be"."""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    parts = [part for one in (hint, *get_args(hint)) for part in getattr(one, "__metadata__", ())]
    return next((part.what for part in parts if isinstance(part, expects)), message)


def _unknown(layer: Layer, key: str, known: Sequence[str], *, within: str = "") -> str:
    near = get_close_matches(key, known, n=1, cutoff=0.6)
    hint = f"did you mean {layer.label(near[0])!r}?" if near else f"known are {', '.join(known)}."
    return f"{layer.origin}: unknown setting {within + layer.label(key)!r}; {hint}"
