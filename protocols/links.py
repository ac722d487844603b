"""Where arguments come from: response paths of other tools, matched by name, type and format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from protocols.jsontypes import JsonObject
from protocols.protocol import HttpBinding, Link, ToolProtocol
from protocols.schema import resolve, types
from protocols.vocabulary import ID_WORDS, NOT_LINKED, SEARCHES, VAGUE, VERBS, WRAPPERS

LINKS_PER_ARGUMENT = 3
"""Guesses for one argument at most: the simplest producers; more would only make prompts longer."""

_MAX_DEPTH, _MAX_PATHS = 8, 500


@dataclass(frozen=True, slots=True)
class _Produced:
    """A place in a tool's response, ready to be matched."""

    tool: str
    path: str
    types: frozenset[str]
    format: str
    rank: tuple[bool, int, bool, bool, int, int, str, str]
    """Reads first, then what needs no ids itself, searches, lists, few arguments."""
    needs: frozenset[str]
    """Keys of the arguments without which the tool cannot be called."""


def response_paths(schema: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """Every path in a response (`airports[].code`) with its schema there, outer before inner.

    Alternatives are all followed, recursive schemas once around; the values of a map keyed by data stand at `*`
    (`rates.*.EUR`); the whole response has the path `""`.
    """
    if schema is not None:
        yield from _paths(schema, schema, "", ())


def guess_links(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with guessed links added to arguments for which nothing is declared or observed.

    Precision comes first: an argument is matched only where its name says of what it is the id (`airport_code`, or
    `code` in `/airports/{code}`), or is required and has the same particular name as a response field; types and
    formats must agree. The result depends on the set of tools alone, not on their order.
    """
    produced: dict[str, list[_Produced]] = {}
    for protocol in protocols:
        for key, place in _produced(protocol):
            produced.setdefault(key, []).append(place)
    for places in produced.values():
        places.sort(key=lambda place: place.rank)
    return [_with_guesses(protocol, produced) for protocol in protocols]


def _with_guesses(protocol: ToolProtocol, produced: dict[str, list[_Produced]]) -> ToolProtocol:
    known = {link.argument for link in protocol.links}
    guesses: list[Link] = []
    for argument in protocol.parameters:
        key = argument_key(protocol, argument) if argument not in known else None
        if key is None:
            continue
        wanted, wanted_format = _wanted(protocol, argument)
        found: dict[str, Link] = {}
        for place in produced.get(key, ()):
            fits = _compatible(place.types, wanted) and (
                not place.format or place.format == wanted_format or not wanted_format
            )
            if fits and place.tool != protocol.name and key not in place.needs and place.tool not in found:
                found[place.tool] = Link(argument=argument, tool=place.tool, path=place.path, support="guessed")
            if len(found) == LINKS_PER_ARGUMENT:
                break
        guesses += found.values()
    return replace(protocol, links=(*protocol.links, *guesses)) if guesses else protocol


def _paths(
    schema: JsonObject | bool, root: JsonObject, path: str, above: tuple[str, ...]
) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(schema, bool):
        return
    ref = schema.get("$ref")
    if len(above) > _MAX_DEPTH * 3 or (isinstance(ref, str) and ref in above):
        return
    above = (*above, ref if isinstance(ref, str) else "")
    here = resolve(schema, root)
    if not any(part in here for part in ("allOf", "anyOf", "oneOf")) or types(here):
        yield path, here
    for name, part in here.get("properties", {}).items():
        yield from _paths(part, root, f"{path}.{name}" if path else name, above)
    if isinstance(items := here.get("items"), dict):
        yield from _paths(items, root, f"{path}[]", above)
    if isinstance(rest := here.get("additionalProperties"), dict):
        yield from _paths(rest, root, f"{path}.*" if path else "*", above)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in here.get(keyword, ()):
            yield from _paths(part, root, path, above)


def _produced(protocol: ToolProtocol) -> Iterator[tuple[str, _Produced]]:
    needs = frozenset(key for name in protocol.required if (key := argument_key(protocol, name)))
    searches = any(snake(name) in SEARCHES for name in protocol.parameters)
    seen: set[tuple[str, str]] = set()
    for number, (path, schema) in enumerate(response_paths(protocol.output_schema)):
        if number >= _MAX_PATHS:
            return
        kinds = frozenset(types(schema)) - {"null"}
        if "*" in path:  # no program can name such a place: the keys on the way are data
            continue
        if path.count(".") >= _MAX_DEPTH or (not kinds & {"string", "integer", "number"} and kinds):
            continue
        key = field_key(protocol, path)
        if key is not None and (key, path) not in seen:
            seen.add((key, path))
            effort = (protocol.writes, len(needs), not searches, "[]" not in path, len(protocol.required))
            rank = (*effort, path.count("."), protocol.name, path)
            yield key, _Produced(protocol.name, path, kinds, str(schema.get("format", "")), rank, needs)


def field_key(protocol: ToolProtocol, path: str) -> str | None:
    """What the field at a response path may be called as an argument: `airports[].code` → `airport_code`.

    `None` for what callers make up (a count, a date), and where a vague name (`id`) stands under no noun.
    """
    names = [snake(part.replace("[]", "")) for part in path.split(".")] if path else []
    if not names or not names[-1]:
        return None
    field = singular(names[-1]) if path.endswith("[]") or names[-1] in ("ids", "codes", "keys") else names[-1]
    if field not in VAGUE:
        return field if field not in NOT_LINKED else None
    noun = next((singular(n) for n in reversed(names[:-1]) if n and n not in WRAPPERS), None) or _resource(protocol)
    return f"{noun}_{field}" if noun else None


def argument_key(protocol: ToolProtocol, argument: str) -> str | None:
    """What an argument's value is called elsewhere; `None` for those that no other tool's response holds."""
    name = snake(argument)
    schema = protocol.parameters.get(argument, {})
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema or name in NOT_LINKED:
        return None
    words = name.split("_")
    if words[-1] in ("ids", "codes", "keys") or "array" in types(schema):
        name = singular(name)
        words = name.split("_")
    if name in VAGUE:
        noun = noun_of(protocol, argument)
        return f"{noun}_{name}" if noun else None
    if words[-1] in ID_WORDS:
        return name
    particular = len(name) >= 4 and argument in protocol.required
    return name if particular and not set(words) <= NOT_LINKED else None


def noun_of(protocol: ToolProtocol, argument: str) -> str | None:
    """The noun that a vague argument (`code`, `id`) is of: `/airports/{code}` → `airport`; `None` where none is."""
    if isinstance(protocol.binding, HttpBinding):
        segments = protocol.binding.url.split("?")[0].split("/")[3:]
        wire = protocol.binding.wire_names.get(argument, argument)
        for before, here in pairwise(segments):
            if here == f"{{{wire}}}":
                return singular(snake(before)) if "{" not in before else None
        if protocol.binding.locations.get(argument) != "path":
            # Beside a path variable, `id` in the query may be anything.
            return None if "{" in protocol.binding.url else _resource(protocol)
    return _resource(protocol)


def _resource(protocol: ToolProtocol) -> str | None:
    """What a tool is about: the last fixed part of its URL, or the first noun of its name."""
    if isinstance(protocol.binding, HttpBinding):
        segments = [s for s in protocol.binding.url.split("?")[0].split("/")[3:] if s]
        fixed = [snake(s) for s in segments if "{" not in s]
        return singular(fixed[-1]) if fixed and fixed[-1] not in VERBS else None
    words = [word for word in snake(protocol.name).split("_") if word not in VERBS]
    return singular(words[0]) if words else None


def _wanted(protocol: ToolProtocol, argument: str) -> tuple[frozenset[str], str]:
    schema = resolve(protocol.parameters[argument], protocol.input_schema)
    if "array" in types(schema) and isinstance(items := schema.get("items"), dict):
        schema = resolve(items, protocol.input_schema)
    kinds: set[str] = set(types(schema))
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kinds |= set(types(resolve(part, protocol.input_schema)))
    return frozenset(kinds) - {"null"}, str(schema.get("format", ""))


def _compatible(given: frozenset[str], wanted: frozenset[str]) -> bool:
    if not given or not wanted:
        return True
    return bool(given & wanted) or ("number" in wanted and "integer" in given)


@lru_cache(maxsize=16_384)
def snake(name: str) -> str:
    """`flightId`, `flight-id` → `flight_id`."""
    split = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


@lru_cache(maxsize=16_384)
def singular(name: str) -> str:
    """`airport_codes` → `airport_code`, `cities` → `city`, `addresses` → `address`."""
    if name.endswith("ies") and len(name) > 4 and name not in ("series", "movies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is", "series")) else name
