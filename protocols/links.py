"""Links: they say that a field in the response of one tool has values for an argument of another.

Arguments and fields are matched by name and type. The name says what a value identifies, so that
it is the same in all tools: `code` in `/airports/{code}` and `airports[].code` are both an
`airport_code`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from protocols.naming import (
    ID_WORDS,
    NOT_LINKED,
    OTHERS,
    POSITIONS,
    SEARCHES,
    VAGUE,
    VERBS,
    WRAPPERS,
    singular,
    snake,
)
from protocols.protocol import HttpBinding, Link, ToolProtocol
from protocols.schema import (
    JsonObject,
    all_types,
    join_path,
    resolve,
    subschemas,
    types,
)

LINKS_PER_ARGUMENT = 3
"""Maximum number of guessed links for one argument.

The tools that are simplest to call are kept. More links would only lengthen prompts.
"""

_MAX_DEPTH = 24
_MAX_STEPS = 500
_COMBINERS = ("allOf", "anyOf", "oneOf")


# --- names of values


def response_paths(schema: JsonObject | None) -> Iterator[tuple[str, JsonObject]]:
    """Yield the path and the schema of each part of a response, outer parts before inner ones.

    An example of a path is `airports[].code`. At most 500 schemas are visited, the nearest first.
    All alternatives are followed, recursive schemas once. The values of a map with arbitrary keys
    have the path `*` (`rates.*.EUR`). The whole response has the path "".
    """
    found: dict[tuple[int, ...], tuple[str, JsonObject]] = {}  # keyed by position in the document
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
    """Yield (schema, path) for each property, item and alternative of a schema.

    `path` is the path in the response that the schema describes, for example `airports[]`.
    """
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
    """Return the name of an argument that could take the value of a response field, or None.

    For example `airport_code` for the field at `airports[].code`. The result is None for values
    that callers choose themselves (a count, a date), and for a vague name (`id`) without a noun.
    `collections` are segments of URL paths that an id can follow: if `movie` is one, `results[].id`
    of `/movie/popular` is a `movie_id`.
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
    """Return the name that the value of an argument has in all tools, such as `airport_code`.

    Arguments with the same name take the same values. Return None for an argument whose values
    callers choose themselves (a date, a limit).
    """
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
    """Return what an argument with a vague name, such as `code`, identifies; None if it is unknown.

    For example, the result is `airport` for `code` in `/airports/{code}`.
    """
    if isinstance(protocol.binding, HttpBinding):
        wire = protocol.binding.wire_name(argument)
        for before, here in pairwise(_path_parts(protocol)):
            if here == f"{{{wire}}}":
                return singular(before) if "{" not in before else None
        if "{" in protocol.binding.url:
            return None  # with a variable in the path, an `id` in the query may be anything
    return _resource(protocol)


def _keys_of(protocol: ToolProtocol, argument: str) -> list[str]:
    """Return all names under which the value of an argument may be known, the most certain first.

    `new_start_city_id` is a `start_city_id` and a `city_id`. A variable `{airport}` in a path is
    the id of an airport, and so is a numeric argument `airport`.
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


def means_another(argument: str) -> bool:
    """Return True if an argument's name says that it takes another record than the present one.

    For example, `new_owner_id` takes the id of a person who is not yet the owner. A tool that
    returns the present owner is the wrong source of this id.
    """
    first, _, rest = snake(argument).partition("_")
    return first in OTHERS and bool(rest)


def _resource(protocol: ToolProtocol, collections: Collection[str] = ()) -> str | None:
    """Return the noun that a tool is about, such as `film`, or None.

    That is the last part of its URL that is a noun and no variable, or the first noun of its name.
    A verb is skipped (`/films/search` is about films), and so is a word where an id could be:
    `popular` in `/movie/popular` selects movies. A plural is still a noun (`/users/roles`).
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
    """Return the parts of a URL's path in snake case: `["airports", "{code}"]`.

    A part that only names the variable after it (`/flows/name/{name}`) is left out. Without a URL
    the list is empty.
    """
    url = protocol.binding.url if isinstance(protocol.binding, HttpBinding) else ""
    found = [part.removesuffix(".json") for part in url.split("?")[0].split("/")[3:] if part]
    parts = [part if "{" in part else snake(part) for part in found]
    says = [here == f"{{{before}}}" for before, here in pairwise([*parts, ""])]
    return [part for n, part in enumerate(parts) if not (n and says[n] and "{" not in parts[n - 1])]


def _is_in_path(protocol: ToolProtocol, argument: str) -> bool:
    """Return True if an argument goes into the path of the URL."""
    return (
        isinstance(protocol.binding, HttpBinding)
        and protocol.binding.locations.get(argument) == "path"
    )


def _is_open(schema: Any) -> bool:
    """Return True if the schema of an argument does not list the values that are allowed."""
    return isinstance(schema, dict) and "enum" not in schema and "const" not in schema


def _is_number(schema: Any) -> bool:
    """Return True if an argument only takes numbers."""
    kinds = {*types(schema)} - {"null"} if isinstance(schema, dict) else set()
    return bool(kinds) and kinds <= {"integer", "number"}


# --- links


class _ResponsePlace(NamedTuple):
    """A field of a tool's response whose value may be used as an argument of another tool."""

    tool: str
    path: str
    types: frozenset[str]
    rank: tuple[Any, ...]
    """Sort key of a field, best first.

    Fields of read-only tools come first. Then come ids in the record itself, not in a record that
    refers to it (`films[].film_id` before `ratings[].film_id`). Then come tools that need no ids,
    searches, lists, and tools with few arguments.
    """
    needs: frozenset[str]
    """Names of the ids without which the tool cannot be called."""
    is_listing: bool
    """True if the tool lists the things that the field identifies, and needs no id for that."""


def guess_links(protocols: Sequence[ToolProtocol]) -> list[ToolProtocol]:
    """Return the tools with guessed links added for arguments that have no link.

    Precision is more important than recall. The name of an argument must say what it identifies
    (`airport_code`, or `code` in `/airports/{code}`), or the argument must be required and have the
    same specific name as a response field. Types must agree. The result does not depend on the
    order of the tools.
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
    """Yield the guessed links of one argument, those to read-only tools first.

    There is at most one link to each tool. `places` are the fields of the responses of all tools,
    keyed by the name of an argument that could take their value (see `field_key`).
    """
    keys = _keys_of(protocol, argument)
    is_other = means_another(argument)
    if is_other and _has_counterpart(protocol, argument, keys):
        return  # the tools that give the known thing are no source of the other one
    others = [place for key in keys for place in places.get(key, ()) if place.tool != protocol.name]
    # No program can name a field if the keys above it are data.
    is_unnamed = any("*" in place.path for place in others)
    found = _select_places(others, keys, _argument_types(protocol, argument))
    # Only with a list of such things is it likely that the other one is among the sources. A ticket
    # alone gives the known assignee, which is the wrong value for `new_assignee_id`.
    is_listed = any(place.is_listing for place in found)
    if is_other and (is_unnamed or len(found) > LINKS_PER_ARGUMENT or not is_listed):
        return
    for place in sorted(found, key=lambda place: place.rank[0])[:LINKS_PER_ARGUMENT]:
        yield Link(argument=argument, tool=place.tool, path=place.path, support="guessed")


def _select_places(
    places: Iterable[_ResponsePlace], keys: Collection[str], wanted: Collection[str]
) -> list[_ResponsePlace]:
    """Return the fields that an argument may take its value from, one for each tool.

    Fields of one of the types `wanted` count, unless their tool itself needs the value, which is
    known as one of `keys`. After enough fields of read-only tools, the rest is left out.
    """
    found: dict[str, _ResponsePlace] = {}
    reads = 0
    for place in places:
        alike = not place.types or not wanted or not place.types.isdisjoint(wanted)
        new = place.tool not in found and "*" not in place.path
        if alike and new and place.needs.isdisjoint(keys):
            found[place.tool] = place
            reads += not place.rank[0]  # it says whether the tool writes
            if reads > LINKS_PER_ARGUMENT:
                break  # all other fields come after them
    return list(found.values())


def _has_counterpart(protocol: ToolProtocol, argument: str, keys: Collection[str]) -> bool:
    """Return True if another argument of the tool takes values of the same kind.

    For example, `item_ids` is the counterpart of `new_item_ids` in `exchange(item_ids,
    new_item_ids)`. `keys` are the names under which the value of `argument` may be known, see
    `_keys_of`.
    """
    return any(
        not set(_keys_of(protocol, other)).isdisjoint(keys)
        for other in protocol.parameters
        if other != argument
    )


def _iter_keyed_places(
    protocol: ToolProtocol, collections: Collection[str]
) -> Iterator[tuple[str, _ResponsePlace]]:
    """Yield (name, field) for each response field of a tool whose value can be an argument.

    The name is that of an argument which could take the value; see `field_key`.
    """
    changes = isinstance(protocol.binding, HttpBinding) and protocol.binding.method in (
        "DELETE",
        "PATCH",
        "PUT",
    )
    if protocol.writes and changes:
        return  # the record existed before, and the caller already has its id
    ids = [*filter(None, (_keys_of(protocol, name) for name in protocol.required))]
    needs = frozenset(chain(*ids))
    searches = any(snake(name) in SEARCHES for name in protocol.parameters)
    for path, schema in response_paths(protocol.output_schema):
        kinds = frozenset(types(schema)) - {"null"}
        if kinds and not kinds & {"string", "integer", "number"}:
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
            is_listing = home and "[]" in path and not needs and not protocol.writes
            yield key, _ResponsePlace(protocol.name, path, kinds, rank, needs, is_listing)


def _argument_types(protocol: ToolProtocol, argument: str) -> set[str]:
    """Return the JSON types of an argument; for a list, those of its items."""
    root = protocol.input_schema
    schema = resolve(protocol.parameters[argument], root)
    if "array" in types(schema) and isinstance(items := schema.get("items"), dict):
        schema = resolve(items, root)
    wanted = {*all_types(schema, root)} - {"null"}
    return wanted | {"integer"} if "number" in wanted else wanted
