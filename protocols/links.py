"""Where arguments come from: response paths of other tools, matched by name, type and format.

A value has one name between tools: `code` in `/airports/{code}` and `airports[].code` are both `airport_code`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from protocols.naming import (
    ID_WORDS,
    NOT_LINKED,
    POSITIONS,
    SEARCHES,
    VAGUE,
    VERBS,
    WRAPPERS,
    singular,
    snake,
)
from protocols.protocol import HttpBinding, Link, ToolProtocol, Verify
from protocols.schema import (
    JsonObject,
    all_types,
    join_path,
    resolve,
    subschemas,
    types,
    unwrap_schema,
)

LINKS_PER_ARGUMENT = 3
"""Guesses for one argument at most: the simplest producers; more would only make prompts longer."""

_MAX_DEPTH = 24
_MAX_STEPS = 500
_COMBINERS = ("allOf", "anyOf", "oneOf")
_ALIKE = 2
"""Fields that a written record and a read one have in common at least: an `{"id": …}` is like too many others."""


# --- what values are called


def response_paths(schema: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """Every path in a response (`airports[].code`) with its schema there, outer before inner; of some 500 the nearest.

    Alternatives are all followed, recursive schemas once around; the values of a map keyed by data stand at `*`
    (`rates.*.EUR`); the whole response has the path `""`.
    """
    found: dict[tuple[int, ...], tuple[str, JsonObject]] = {}  # by their places in the document
    left = deque[tuple[Any, str, tuple[Any, ...], tuple[int, ...]]](
        [] if schema is None else [(schema, "", (), ())]
    )
    for step in range(1, _MAX_STEPS + 1):
        if not left:
            break
        part, path, above, place = left.popleft()
        if (
            isinstance(part, bool)
            or len(above) > _MAX_DEPTH
            or ("$ref" in part and part["$ref"] in above)
        ):
            continue
        here = resolve(part, schema or {})
        if types(here) or not any(key in here for key in _COMBINERS):
            found[place] = path, here
        room = _MAX_STEPS - step - len(left)  # the others would never be reached
        below = (*above, part.get("$ref"))
        inner = enumerate(islice(_inner_paths(here, path), max(room, 0)))
        left += [(one, at, below, (*place, n)) for n, (one, at) in inner]
    yield from (found[place] for place in sorted(found))


def _inner_paths(schema: JsonObject, path: str) -> Iterator[tuple[Any, str]]:
    """Yield each schema directly below a resolved schema at `path`, with its own path."""
    for name, one in schema.get("properties", {}).items():
        yield one, join_path(path, name)
    for one in subschemas(schema, "items"):
        yield one, f"{path}[]"
    for one in subschemas(schema, "additionalProperties"):
        yield one, join_path(path, "*")
    for one in subschemas(schema, *_COMBINERS):
        yield one, path


def field_key(
    protocol: ToolProtocol, path: str, *, collections: Collection[str] = ()
) -> str | None:
    """What the field at a response path may be called as an argument: `airports[].code` → `airport_code`.

    `None` for what callers make up (a count, a date), and where a vague name (`id`) stands under no noun. With the
    names of `collections`, `results[].id` of `/movie/popular` is a `movie_id`.
    """
    *above, last = path.split(".")
    field = snake(last.replace("[]", ""))
    field = singular(field) if last.endswith("[]") else field
    if field not in VAGUE:
        return field if field and field not in NOT_LINKED else None
    named = (snake(part.replace("[]", "")) for part in reversed(above))
    noun = next((singular(name) for name in named if name and name not in WRAPPERS), None)
    noun = noun or _resource(protocol, collections)
    return f"{noun}_{field}" if noun else None


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
    chosen = (
        _is_number(schema) and words[-1] not in POSITIONS and not _is_in_path(protocol, argument)
    )
    return name if particular and not chosen else None


def noun_of(protocol: ToolProtocol, argument: str) -> str | None:
    """The noun that a vague argument (`code`, `id`) is of: `/airports/{code}` → `airport`; `None` where none is."""
    if isinstance(protocol.binding, HttpBinding):
        wire = protocol.binding.wire_name(argument)
        for before, here in pairwise(_path_parts(protocol)):
            if here == f"{{{wire}}}":
                return singular(before) if "{" not in before else None
        if "{" in protocol.binding.url:
            return None  # beside a path variable, `id` in the query may be anything
    return _resource(protocol)


def _keys_of(protocol: ToolProtocol, argument: str) -> list[str]:
    """All that an argument's value may be called, the surest first.

    `new_start_city_id` is a `start_city_id` and a `city_id`; `{airport}` in a path, and `team` where it is a number,
    are what identifies an airport and a team.
    """
    key = argument_key(protocol, argument)
    name = snake(argument)
    schema = protocol.parameters[argument]
    keys = [key] if key else []
    if key and (words := key.split("_"))[-1] in ID_WORDS:
        keys += ["_".join(words[n:]) for n in range(1, len(words) - 1)]
    numbered = _is_number(schema) and name.rpartition("_")[2] not in POSITIONS
    if (
        _is_open(schema)
        and name not in NOT_LINKED | VAGUE
        and (numbered or _is_in_path(protocol, argument))
    ):
        keys += [f"{name}_{word}" for word in ("id", *sorted(ID_WORDS - {"id"}))]
    return keys


def _resource(protocol: ToolProtocol, collections: Collection[str] = ()) -> str | None:
    """What a tool is about: the last fixed part of its URL that is a noun, or the first noun of its name.

    A verb is none (`/films/search` is about films), nor is what stands where others have an id: `popular` of
    `/movie/popular` picks movies. A plural is a noun all the same (`/users/roles`).
    """
    if not isinstance(protocol.binding, HttpBinding):
        words = [word for word in snake(protocol.name).split("_") if word not in VERBS]
        return singular(words[0]) if words else None
    for before, here in reversed(list(pairwise(["", *_path_parts(protocol)]))):
        picks = before in collections and here not in collections and singular(here) == here
        if "{" not in here and here not in VERBS and not picks:
            return singular(here)
    return None


def _path_parts(protocol: ToolProtocol) -> list[str]:
    """The parts of a URL's path, fixed ones in one spelling: `["airports", "{code}"]`; empty without a URL.

    One that only says what the variable behind it is (`/flows/name/{name}`) is left out.
    """
    url = protocol.binding.url if isinstance(protocol.binding, HttpBinding) else ""
    found = [part.removesuffix(".json") for part in url.split("?")[0].split("/")[3:] if part]
    parts = [part if "{" in part else snake(part) for part in found]
    says = [here == f"{{{before}}}" for before, here in pairwise([*parts, ""])]
    return [part for n, part in enumerate(parts) if not (n and says[n] and "{" not in parts[n - 1])]


def _is_in_path(protocol: ToolProtocol, argument: str) -> bool:
    return (
        isinstance(protocol.binding, HttpBinding)
        and protocol.binding.locations.get(argument) == "path"
    )


def _is_open(schema: Any) -> bool:
    """Whether an argument has a schema that does not list its values."""
    return isinstance(schema, dict) and "enum" not in schema and "const" not in schema


def _is_number(schema: Any) -> bool:
    """Whether an argument takes nothing but numbers."""
    kinds = {*types(schema)} - {"null"} if isinstance(schema, dict) else set()
    return bool(kinds) and kinds <= {"integer", "number"}


# --- links


class _ResponsePlace(NamedTuple):
    """A place in a tool's response whose value may be an argument."""

    tool: str
    path: str
    types: frozenset[str]
    rank: tuple[Any, ...]
    """Reads first, then where the thing itself is and not another that refers to it (`films[].film_id`, not
    `ratings[].film_id`), then what needs no ids itself, searches, lists, few arguments."""
    needs: frozenset[str]
    """What the arguments may be called without which the tool cannot be called."""


def guess_links(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with guessed links added to arguments for which nothing is declared or observed.

    Precision comes first: an argument is matched only where its name says of what it is the id (`airport_code`, or
    `code` in `/airports/{code}`), or is required and has the same particular name as a response field; types must
    agree. The result depends on the set of tools alone, not on their order.
    """
    pairs = (pair for protocol in protocols for pair in pairwise(_path_parts(protocol)))
    collections = frozenset(before for before, here in pairs if "{" not in before and "{" in here)
    places: dict[str, list[_ResponsePlace]] = {}
    for protocol in protocols:
        for key, place in _iter_keyed_places(protocol, collections):
            places.setdefault(key, []).append(place)
    for found in places.values():
        found.sort(key=lambda place: place.rank)
    result = []
    for protocol in protocols:
        known = {link.argument for link in protocol.links}
        guesses = [
            link
            for name in protocol.parameters
            if name not in known
            for link in _guess_argument_links(protocol, name, places)
        ]
        result.append(replace(protocol, links=(*protocol.links, *guesses)) if guesses else protocol)
    return result


def _guess_argument_links(
    protocol: ToolProtocol, argument: str, places: dict[str, list[_ResponsePlace]]
) -> Iterator[Link]:
    """The guesses for one argument: of each tool one place, reads before writes."""
    keys = _keys_of(protocol, argument)
    wanted = _argument_types(protocol, argument)
    found: dict[str, _ResponsePlace] = {}
    reads = 0
    for place in (place for key in keys for place in places.get(key, ())):
        alike = not place.types or not wanted or bool(place.types & wanted)
        new = place.tool not in found and place.tool != protocol.name
        if alike and new and place.needs.isdisjoint(keys):
            found[place.tool], reads = place, reads + (not place.rank[0])
            if reads == LINKS_PER_ARGUMENT:
                break  # writes come behind reads, and all that follows behind these
    for place in sorted(found.values(), key=lambda place: place.rank[0])[:LINKS_PER_ARGUMENT]:
        yield Link(argument=argument, tool=place.tool, path=place.path, support="guessed")


def _iter_keyed_places(
    protocol: ToolProtocol, collections: Collection[str]
) -> Iterator[tuple[str, _ResponsePlace]]:
    """Every place in a tool's response that has a key, with the key."""
    changes = isinstance(protocol.binding, HttpBinding) and protocol.binding.method in (
        "DELETE",
        "PATCH",
        "PUT",
    )
    if protocol.writes and changes:
        return  # what a PATCH changes was there before, and its id was given
    ids = [*filter(None, (_keys_of(protocol, name) for name in protocol.required))]
    needs = frozenset(chain(*ids))
    searches = any(snake(name) in SEARCHES for name in protocol.parameters)
    for path, schema in response_paths(protocol.output_schema):
        kinds = frozenset(types(schema)) - {"null"}
        # No program can name a place under a `*`: the keys on the way are data.
        if "*" in path or (kinds and not kinds & {"string", "integer", "number"}):
            continue
        key = field_key(protocol, path, collections=collections)
        if key is not None:
            at = (
                field_key(protocol, f"{path.rpartition('.')[0]}.id", collections=collections)
                or "_id"
            )
            home = key.rpartition("_")[0] == at.removesuffix("_id")
            effort = (
                len(ids),
                not searches,
                "[]" not in path,
                len(protocol.required),
                path.count("."),
            )
            rank = (protocol.writes, not home, *effort, protocol.name, path)
            yield key, _ResponsePlace(protocol.name, path, kinds, rank, needs)


def _argument_types(protocol: ToolProtocol, argument: str) -> set[str]:
    """The types of an argument, or of its items."""
    root = protocol.input_schema
    schema = resolve(protocol.parameters[argument], root)
    if "array" in types(schema) and isinstance(items := schema.get("items"), dict):
        schema = resolve(items, root)
    wanted = {*all_types(schema, root)} - {"null"}
    return wanted | {"integer"} if "number" in wanted else wanted


# --- which read shows what a write wrote


def guess_verifiers(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """The protocols with a guessed `verified_by` on writes that have none.

    A read shows what a write wrote when its response holds records of exactly the fields that the write answers with,
    the write's own arguments among them, and when it needs nothing that the write was not given. Of several, one that
    lists records is taken before one that gives a single record, which may be another; then the one that takes fewest
    arguments.
    """
    unverified = (one for one in protocols if one.writes and one.verified_by is None)
    records = {one.name: record_fields(one) for one in unverified}
    wanted = {fields for fields in records.values() if len(fields) >= _ALIKE}
    if not wanted:
        return [*protocols]
    shown: dict[
        frozenset[str], list[tuple[bool, int, str, frozenset[str]]]
    ] = {}  # by the fields of their records
    for read in protocols:
        for path, schema in response_paths(read.output_schema) if not read.writes else ():
            if (fields := _fields(schema)) in wanted:
                shown.setdefault(fields, []).append(
                    ("[]" not in path, len(read.parameters), read.name, read.required)
                )
    result = []
    for write in protocols:
        record = records.get(write.name, frozenset())
        fitting = [read for read in shown.get(record, ()) if read[3] <= write.parameters.keys()]
        if record & write.parameters.keys() and fitting:
            simplest = min(fitting, key=lambda read: read[:3])
            write = replace(write, verified_by=Verify(tool=simplest[2], support="guessed"))
        result.append(write)
    return result


def record_fields(protocol: ToolProtocol) -> frozenset[str]:
    """The fields of the object that a tool answers with, a lone wrapping field taken off; empty where none is known."""
    return _fields(unwrap_schema(protocol.output_schema))


def _fields(schema: JsonObject) -> frozenset[str]:
    return frozenset(schema.get("properties", {})) if "object" in types(schema) else frozenset()
