"""Fields of responses as pairs of a path and a JSON type, read from schemas and from responses alike.

Paths are spelled as in links (`airports[].code`); a map's values stand at `*` (`rates.*`), whatever their keys. A
number is an `integer` where no value was spelled with a fraction: `5.0` makes a field a `number`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, type_name, types

Fields = dict[str, frozenset[str]]
"""Path → the JSON types there, `null` among them; `any` where a schema says nothing."""

_DEEPEST = 12


def schema_fields(schema: JsonObject | None) -> Fields:
    """The fields that a response schema describes; the whole response is no field."""
    found: dict[str, set[str]] = {}
    if schema is not None:
        _walk_schema(schema, schema, "", 0, found)
    return _settled(found)


def response_fields(responses: Iterable[Json], *, maps: Collection[str] = ()) -> Fields:
    """The fields seen in any of the responses. `maps` are paths of objects whose keys are data."""
    found: dict[str, set[str]] = {}
    for response in responses:
        for path, value in _walk(response, "", maps):
            found.setdefault(path, set()).add(type_name(value))
    return _settled(found)


def map_paths(schema: JsonObject | None) -> frozenset[str]:
    """Where a schema has maps."""
    return frozenset(path[:-1].removesuffix(".") for path in schema_fields(schema) if path.split(".")[-1] == "*")


def pairs(fields: Fields) -> frozenset[tuple[str, str]]:
    """Pairs of path and type, `null` left out except where nothing else was seen."""
    return frozenset((path, kind) for path, kinds in fields.items() for kind in (kinds - {"null"} or {"null"}))


def leaves(fields: Fields) -> frozenset[str]:
    """Paths that hold more than objects, lists and null: what a response says."""
    return frozenset(path for path, kinds in fields.items() if kinds - {"object", "array", "null", "any"})


def says_something(schema: JsonObject | None) -> bool:
    """Whether a response schema describes any value besides wrappers of values; a bare text or number is one."""
    if schema is None:
        return False
    return bool(leaves(schema_fields(schema)) or set(types(resolve(schema, schema))) - {"object", "array", "null"})


def _settled(found: Mapping[str, set[str]]) -> Fields:
    return {
        path: frozenset(kinds - {"integer"} if "number" in kinds else kinds)
        for path, kinds in sorted(found.items())
        if path
    }


def _walk(value: Json, path: str, maps: Collection[str]) -> Iterator[tuple[str, Json]]:
    yield path, value
    if isinstance(value, Mapping):
        for key, part in value.items():
            name = "*" if path in maps else key
            yield from _walk(part, f"{path}.{name}" if path else name, maps)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part, f"{path}[]", maps)


def _walk_schema(schema: Any, root: JsonObject, path: str, depth: int, found: dict[str, set[str]]) -> None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        if schema is True:
            found.setdefault(path, set()).add("any")
        return
    here = resolve(schema, root)
    branches = [part for keyword in ("allOf", "anyOf", "oneOf") for part in here.get(keyword, ())]
    named = types(here)
    if named or not branches:
        found.setdefault(path, set()).update(named or ("any",))
    for part in branches:
        _walk_schema(part, root, path, depth + 1, found)
    for key, part in here.get("properties", {}).items():
        _walk_schema(part, root, f"{path}.{key}" if path else key, depth + 1, found)
    for part in (here.get("additionalProperties"), *here.get("patternProperties", {}).values()):
        if isinstance(part, Mapping):
            _walk_schema(part, root, f"{path}.*" if path else "*", depth + 1, found)
    for part in (here.get("items"), *here.get("prefixItems", ())):
        if isinstance(part, Mapping):
            _walk_schema(part, root, f"{path}[]", depth + 1, found)
