"""Where arguments come from: response paths of other tools, matched by name, type and format.

A value has one name between tools: `code` in `/airports/{code}` and `airports[].code` are both `airport_code`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, count, pairwise
from operator import attrgetter
from typing import Any

from protocols.jsontypes import JsonObject
from protocols.protocol import HttpBinding, Link, ToolProtocol, Verify
from protocols.schema import resolve, subschemas, types, wrapper_key
from protocols.words import CHANGES, ID_WORDS, NOT_LINKED, POSITIONS, SEARCHES, VAGUE, VERBS, WRAPPERS, singular, snake

LINKS_PER_ARGUMENT = 3
"""Guesses for one argument at most: the simplest producers; more would only make prompts longer."""

_MAX_DEPTH, _MAX_PATHS, _MAX_STEPS = 8, 500, 5_000


@dataclass(frozen=True, slots=True)
class _Produced:
    """A place in a tool's response, ready to be matched."""

    tool: str
    path: str
    types: frozenset[str]
    format: str
    rank: tuple[bool, bool, int, bool, bool, int, int, str, str]
    """Reads first, then where the thing itself is and not another that refers to it (`films[].film_id`, not
    `ratings[].film_id`), then what needs no ids itself, searches, lists, few arguments."""
    needs: frozenset[str]
    """What is meant by the arguments without which the tool cannot be called: keys and nouns."""


_RANK = attrgetter("rank")


class _Places:
    """Where the responses of a set of tools hold what could be an argument, reads and writes apart.

    By key, and by noun, without the places of tools that need that very thing themselves: they are no source of it, and
    a large API has one for every other (`get_film(film_id)` answers with a `film_id`).
    """

    def __init__(self, protocols: Sequence[ToolProtocol]) -> None:
        self._called: dict[tuple[str, bool], list[_Produced]] = {}
        objects: dict[tuple[str, bool, str, str], list[_Produced]] = {}
        collections = collections_of(protocols)
        for protocol in filter(_may_produce, protocols):
            for key, noun, place in _produced(protocol, collections):
                called = self._called.setdefault((key, protocol.writes), [])
                if key not in place.needs:
                    called.append(place)
                if key.removeprefix(f"{noun}_") in ID_WORDS and noun not in place.needs:
                    parent = place.path.rpartition(".")[0]
                    objects.setdefault((noun, protocol.writes, protocol.name, parent), []).append(place)
        for places in self._called.values():
            places.sort(key=_RANK)
        self._identifying: dict[tuple[str, bool], list[list[_Produced]]] = {}
        for (noun, writes, _, _), places in sorted(objects.items(), key=lambda item: min(map(_RANK, item[1]))):
            self._identifying.setdefault((noun, writes), []).append(places)

    def of(self, protocol: ToolProtocol, argument: str) -> Iterator[_Produced]:
        """The places whose values may be an argument, by name, type and format; the best first."""
        key, noun = argument_key(protocol, argument), noun_meant(protocol, argument)
        holder = holder_key(protocol, argument)
        if (holder, False) in self._called:
            key = holder
        if key is None and noun is None:
            return
        fits = _fitting(protocol, argument)
        wider = wider_keys(key or "")
        same = {key, noun, *wider}
        for writes in (False, True):
            called = filter(fits, self._called.get((key or "", writes), ()))
            alone = _alone(self._identifying.get((noun or "", writes), ()), fits)
            with_role = (place for one in wider for place in self._called.get((one, writes), ()) if fits(place))
            for place in chain(merge(called, alone, key=_RANK), with_role):
                if place.tool != protocol.name and place.needs.isdisjoint(same):
                    yield place


def response_paths(schema: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """Every path in a response (`airports[].code`) with its schema there, outer before inner.

    Alternatives are all followed, recursive schemas once around; the values of a map keyed by data stand at `*`
    (`rates.*.EUR`); the whole response has the path `""`.
    """
    if schema is not None:
        yield from _paths(schema, schema, "", (), count(1))


def guess_links(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with guessed links added to arguments for which nothing is declared or observed.

    Precision comes first: an argument is matched only where its name says of what it is the id (`airport_code`, or
    `code` in `/airports/{code}`), or is required and has the same particular name as a response field; types and
    formats must agree. The result depends on the set of tools alone, not on their order.
    """
    places, result = _Places(protocols), []
    for protocol in protocols:
        guesses: list[Link] = []
        known = {link.argument for link in protocol.links}
        for argument in (name for name in protocol.parameters if name not in known):
            found: dict[str, str] = {}
            for place in places.of(protocol, argument):
                found.setdefault(place.tool, place.path)
                if len(found) == LINKS_PER_ARGUMENT:
                    break
            guesses += (
                Link(argument=argument, tool=tool, path=path, support="guessed") for tool, path in found.items()
            )
        result.append(replace(protocol, links=(*protocol.links, *guesses)) if guesses else protocol)
    return result


def _paths(
    schema: JsonObject | bool, root: JsonObject, path: str, above: tuple[str, ...], steps: Iterator[int]
) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(schema, bool) or next(steps) > _MAX_STEPS:
        return
    ref = schema.get("$ref")
    if len(above) > _MAX_DEPTH * 3 or (isinstance(ref, str) and ref in above):
        return
    above = (*above, ref if isinstance(ref, str) else "")
    here = resolve(schema, root)
    if not any(part in here for part in ("allOf", "anyOf", "oneOf")) or types(here):
        yield path, here
    for name, part in here.get("properties", {}).items():
        yield from _paths(part, root, f"{path}.{name}" if path else name, above, steps)
    if isinstance(items := here.get("items"), dict):
        yield from _paths(items, root, f"{path}[]", above, steps)
    if isinstance(rest := here.get("additionalProperties"), dict):
        yield from _paths(rest, root, f"{path}.*" if path else "*", above, steps)
    for part in subschemas(here, "allOf", "anyOf", "oneOf"):
        yield from _paths(part, root, path, above, steps)


def _produced(protocol: ToolProtocol, collections: Collection[str]) -> Iterator[tuple[str, str, _Produced]]:
    """Every place in a tool's response that has a key, with the key and the noun that it is of (empty: none)."""
    meant = (
        named for name in protocol.required for named in (argument_key(protocol, name), noun_meant(protocol, name))
    )
    needs = frozenset(filter(None, meant))
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
        key = field_key(protocol, path, collections=collections)
        if key is not None and (key, path) not in seen:
            seen.add((key, path))
            noun = noun_at(protocol, path, collections=collections) or ""
            home = key.rpartition("_")[0] == noun
            effort = (len(needs), not searches, "[]" not in path, len(protocol.required))
            rank = (protocol.writes, not home, *effort, path.count("."), protocol.name, path)
            yield key, noun, _Produced(protocol.name, path, kinds, str(schema.get("format", "")), rank, needs)


def _may_produce(protocol: ToolProtocol) -> bool:
    """Whether what a tool answers with is news: what a PATCH changes was there before, and its id was given."""
    if isinstance(protocol.binding, HttpBinding):
        return not protocol.writes or protocol.binding.method not in ("PUT", "PATCH", "DELETE")
    return not protocol.writes or snake(protocol.name).partition("_")[0] not in CHANGES


def _alone(objects: Iterable[Sequence[_Produced]], fits: Callable[[_Produced], bool]) -> Iterator[_Produced]:
    """Those that fit alone in their object: of a `code` and a `slug` beside each other either may be meant."""
    for places in objects:
        fitting = [place for place in places if fits(place)]
        if len(fitting) == 1:
            yield fitting[0]


def _fitting(protocol: ToolProtocol, argument: str) -> Callable[[_Produced], bool]:
    """Whether a place has a type and a format of the argument's."""
    schema = resolve(protocol.parameters[argument], protocol.input_schema)
    if "array" in types(schema) and isinstance(items := schema.get("items"), dict):
        schema = resolve(items, protocol.input_schema)
    wanted = set(types(schema))
    for part in subschemas(schema, "anyOf", "oneOf"):
        wanted |= set(types(resolve(part, protocol.input_schema)))
    wanted |= {"integer"} if "number" in wanted else set()
    wanted -= {"null"}

    def fits(place: _Produced) -> bool:
        alike = not place.types or not wanted or bool(place.types & wanted)
        return alike and len({place.format, str(schema.get("format", ""))} - {""}) < 2

    return fits


# --- what values are called

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
    field = snake(path.rpartition(".")[2].replace("[]", ""))
    field = singular(field) if path.endswith("[]") or field in ("ids", "codes", "keys") else field
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


# --- which read shows what a write wrote

_ALIKE = 2
"""Fields that a record has at least: an `{"id": …}` alone is like too many others."""


def guess_verifiers(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with a guessed `verified_by` on writes that have none.

    A read shows what a write wrote when its response holds records of exactly the fields that the write answers with,
    the write's own arguments among them, and when it needs nothing that the write was not given. Of several, one that
    lists records is taken before one that gives a single record, which may be another; then the one that takes fewest
    arguments.
    """
    shown: dict[frozenset[str], list[tuple[bool, int, str, frozenset[str]]]] = {}  # by the fields of their records
    for read in protocols:
        listed: dict[frozenset[str], bool] = {}
        for path, schema in response_paths(read.output_schema) if not read.writes else ():
            fields = _fields(schema)
            listed[fields] = listed.get(fields, False) or "[]" in path
        for fields, several in listed.items():
            shown.setdefault(fields, []).append((not several, len(read.parameters), read.name, read.required))
    result = []
    for write in protocols:
        record = record_fields(write) if write.writes and write.verified_by is None else frozenset()
        fitting = [read for read in shown.get(record, ()) if read[3] <= write.parameters.keys()]
        if len(record) >= _ALIKE and record & write.parameters.keys() and fitting:
            result.append(replace(write, verified_by=Verify(tool=min(fitting)[2], support="guessed")))
        else:
            result.append(write)
    return result


def record_fields(protocol: ToolProtocol) -> frozenset[str]:
    """The fields of the object that a tool answers with, a lone wrapping field taken off; empty where none is known."""
    root = protocol.output_schema
    if root is None:
        return frozenset()
    top = resolve(root, root)
    if (key := wrapper_key(root)) is not None:
        top = resolve(top["properties"][key], root)
    return _fields(top)


def _fields(schema: JsonObject) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) if "object" in types(schema) else frozenset()
