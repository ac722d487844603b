"""What a value is called between tools: `code` in `/airports/{code}` and `airports[].code` are both `airport_code`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Any

from protocols.jsontypes import JsonObject
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import types
from protocols.vocabulary import ID_WORDS, NOT_LINKED, POSITIONS, VAGUE, VERBS, WRAPPERS
from protocols.words import singular, snake

_HOW_MANY = frozenset({"no", "num", "number"})
"""Names that identify where they stand in a path (`/issues/{number}`), and else say how many there shall be."""


def collections_of(protocols: Iterable[ToolProtocol]) -> frozenset[str]:
    """The parts of URLs that have an argument behind them in some tool: `movie` of `/movie/{movie_id}`."""
    return frozenset(
        before
        for protocol in protocols
        if isinstance(protocol.binding, HttpBinding)
        for before, here in pairwise(_parts(protocol.binding))
        if _is_fixed(before) and not _is_fixed(here)
    )


def field_key(protocol: ToolProtocol, path: str, *, collections: Collection[str] = ()) -> str | None:
    """What the field at a response path may be called as an argument: `airports[].code` → `airport_code`.

    `None` for what callers make up (a count, a date), and where a vague name (`id`) stands under no noun. See
    `collections_of`: knowing them, `results[].id` of `/movie/popular` is a `movie_id`.
    """
    field = _field(path)
    if not field:
        return None
    if field not in VAGUE:
        return field if field not in NOT_LINKED else None
    noun = noun_at(protocol, path, collections=collections)
    return f"{noun}_{field}" if noun else None


def noun_at(protocol: ToolProtocol, path: str, *, collections: Collection[str] = ()) -> str | None:
    """The noun that the field at a response path is of: `airports[].code` → `airport`; None where none is."""
    above = [snake(part.replace("[]", "")) for part in path.split(".")[:-1]]
    named = next((singular(name) for name in reversed(above) if name and name not in WRAPPERS), None)
    return named or _resource(protocol, collections)


def _field(path: str) -> str:
    last = snake(path.rpartition(".")[2].replace("[]", ""))
    return singular(last) if path.endswith("[]") or last in ("ids", "codes", "keys") else last


def argument_key(protocol: ToolProtocol, argument: str) -> str | None:
    """What an argument's value is called elsewhere; `None` for those that no other tool's response holds."""
    name = snake(argument)
    schema = protocol.parameters.get(argument, {})
    if not _is_open(schema) or name in NOT_LINKED:
        return None
    if name.split("_")[-1] in ("ids", "codes", "keys") or "array" in types(schema):
        name = singular(name)
    words = name.split("_")
    if name in VAGUE:
        noun = noun_of(protocol, argument)
        return f"{noun}_{name}" if noun else None
    if words[-1] in ID_WORDS:
        return name
    particular = len(name) >= 4 and argument in protocol.required and not set(words) <= NOT_LINKED
    chosen = _is_number(schema) and words[-1] not in POSITIONS and not is_part(protocol, argument)
    return name if particular and not chosen else None


def noun_meant(protocol: ToolProtocol, argument: str) -> str | None:
    """The noun whose id an argument may hold without saying so: `{airport}` in a path, `team` where it is a number."""
    name, schema = snake(argument), protocol.parameters.get(argument, {})
    if not _is_open(schema) or name in NOT_LINKED | VAGUE:
        return None
    numbered = _is_number(schema) and name.rpartition("_")[2] not in POSITIONS
    return name if is_part(protocol, argument) or numbered else None


def wider_keys(key: str) -> list[str]:
    """What an id with a role before its noun is called without it: `new_start_city_id` → `start_city_id`, `city_id`."""
    words = key.split("_")
    return ["_".join(words[n:]) for n in range(1, len(words) - 1)] if words[-1] in ID_WORDS else []


def noun_of(protocol: ToolProtocol, argument: str) -> str | None:
    """The noun that a vague argument (`code`, `id`) is of: `/airports/{code}` → `airport`; `None` where none is."""
    if isinstance(protocol.binding, HttpBinding):
        segments = protocol.binding.url.split("?")[0].split("/")[3:]
        wire = protocol.binding.wire_names.get(argument, argument)
        for before, here in pairwise(segments):
            if here == f"{{{wire}}}":
                return singular(snake(before)) if "{" not in before else None
        if not is_part(protocol, argument) and ("{" in protocol.binding.url or snake(argument) in _HOW_MANY):
            return None  # beside a path variable, `id` in the query may be anything
    return _resource(protocol)


def holder_key(protocol: ToolProtocol, argument: str) -> str | None:
    """What a vague argument may be of instead, where it is in the query behind two nouns: the first of them.

    `id` of `/artist/songs` is an artist's, `id` of `/catalogue/songs` a song's: it depends on what other tools yield.
    """
    name = snake(argument)
    if name not in VAGUE - NOT_LINKED or not isinstance(protocol.binding, HttpBinding) or is_part(protocol, argument):
        return None
    *_, holder, last = ["", "", *_parts(protocol.binding)]
    nouns = holder and holder not in VERBS and last not in VERBS and noun_of(protocol, argument) is not None
    return f"{singular(holder)}_{name}" if nouns else None


def is_part(protocol: ToolProtocol, argument: str) -> bool:
    """Whether an argument stands in the URL's path."""
    return isinstance(protocol.binding, HttpBinding) and protocol.binding.locations.get(argument) == "path"


def _resource(protocol: ToolProtocol, collections: Collection[str] = ()) -> str | None:
    """What a tool is about: the last fixed part of its URL, or the first noun of its name.

    A verb is none (`/films/search` is about films), nor is what stands where others have an id: `popular` of
    `/movie/popular` picks movies. A plural is a noun all the same (`/users/roles`).
    """
    if not isinstance(protocol.binding, HttpBinding):
        words = [word for word in snake(protocol.name).split("_") if word not in VERBS]
        return singular(words[0]) if words else None
    parts = _parts(protocol.binding)
    fixed = [number for number, part in enumerate(parts) if _is_fixed(part)]
    while fixed:
        number = fixed.pop()
        here, before = parts[number], parts[number - 1] if fixed and fixed[-1] == number - 1 else ""
        picks = before in collections and here not in collections and singular(here) == here
        if here not in VERBS and not picks:
            return singular(here)
        if not before:
            return None
    return None


def _parts(binding: HttpBinding) -> list[str]:
    """The parts of a URL's path: `["airports", "{code}"]`."""
    parts = [part for part in binding.url.split("?")[0].split("/")[3:] if part]
    return [snake(part) if _is_fixed(part) else part for part in parts]


def _is_fixed(part: str) -> bool:
    return "{" not in part


def _is_open(schema: Any) -> bool:
    """Whether an argument has a schema that does not list its values."""
    return isinstance(schema, dict) and "enum" not in schema and "const" not in schema


def _is_number(schema: JsonObject) -> bool:
    """Whether an argument takes nothing but numbers."""
    kinds = {*types(schema)} - {"null"}
    return bool(kinds) and kinds <= {"integer", "number"}
