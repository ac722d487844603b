"""The schema of a tool's responses, inferred by GenSON, with maps and formats.

1. Every response that was added conforms to the schema. 2. What a known document allows stays
allowed. A keyword of it stays as long as no response breaks it. 3. Within 1 and 2 the schema is as
strict as possible, except for formats, which need evidence, and for depth.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from genson import SchemaBuilder

from probing.keys import own_data_keys, property_names, shared_data_keys
from protocols.schema import Json, JsonObject, resolve, resolve_pointer, type_name, types
from protocols.validate import first_error, validator

_DEEPEST = 64
"""Levels of nesting that a schema describes."""
_FOLLOWED = 12
"""Levels of a known document that are merged."""
_FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "uuid": r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>.]+",
    "uri": r"[A-Za-z][A-Za-z0-9+.\-]*://\S+",
}
"""Patterns that are narrower than the formats: `a:b` is a URI, too."""
_BRANCHES = ("anyOf", "oneOf", "allOf")
_ORDER = ("integer", "number", "boolean", "string", "array", "object", "null")
_MOST_CHANGES = 200
"""Changes of a known schema after which it is dropped."""


DataKeys: TypeAlias = Callable[[Sequence[JsonObject]], frozenset[str]]
"""Takes the objects at one path, and returns those of their keys that are data and not fields."""


def infer(
    responses: Iterable[Json],
    known: JsonObject | None = None,
    *,
    words: Collection[str] = frozenset(),
    every_key: bool = False,
    shared: bool = False,
) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of responses, or `{}` without responses and `known`.

    Args:
        responses: the responses of one tool.
        known: a schema to merge with what the responses show.
        words: the words of the tool's document, see `probing.keys`.
        every_key: treat every key as a field, for a schema that is not shown to anybody.
        shared: the schema will be shown to other people than the owner of the responses, so keys
            that may be data become a map.
    """
    seen = [_cut(response, _DEEPEST) for response in responses]
    known_words = frozenset({*words, *property_names(known)})
    rule = shared_data_keys if shared else own_data_keys
    data_of: DataKeys = (lambda _: frozenset()) if every_key else partial(rule, words=known_words)
    found = _infer_from_values(seen, data_of)
    wide = None if known is None else relax_schema(known, seen)
    return found if wide is None else _merge_schemas(wide, found, wide, seen, _FOLLOWED, data_of)


def _infer_from_values(values: Sequence[Any], data_of: DataKeys) -> dict[str, Any]:
    found = _schema_of(values, data_of) if values else {}
    return {"type": "null"} if found == {"examples": [None]} else found


def relax_schema(known: JsonObject, values: Iterable[Json]) -> dict[str, Any] | None:
    """Return a copy of a schema that allows all of `values`, or None if `known` is no valid schema.

    A keyword that a value breaks is widened where that is possible, else dropped.
    """
    schema = copy.deepcopy(dict(known))
    for value in values:
        for _ in range(_MOST_CHANGES):
            try:
                error = first_error(validator(schema), value)
            except (ValueError, RecursionError):
                return None
            if error is None:
                break
            *above, keyword = error.schema_path
            node: Any = schema
            for step in above:
                node = node[step]
            _relax(node, keyword, error.instance)
        else:
            return None
    return schema


def _relax(node: Any, keyword: str | int, value: Any) -> None:
    """Widen or drop a keyword that a value breaks."""
    listed = node[keyword]
    if keyword == "type":
        node["type"] = one_or_all([*types(node), type_name(value)])
    elif keyword == "required" and any(name in value for name in listed):
        node["required"] = [name for name in listed if name in value]
    elif keyword == "anyOf":
        node["anyOf"] = [*listed, _schema_of([value])]
    elif isinstance(node, dict):
        del node[keyword]
    else:
        node[keyword] = {}


def conforms(schema: JsonObject, value: Json, *, otherwise: bool = False) -> bool:
    """Return True if a value conforms to a schema. For an invalid schema, return `otherwise`."""
    try:
        return bool(validator(schema).is_valid(value))
    except (ValueError, RecursionError):
        return otherwise


def one_or_all(kinds: Sequence[str]) -> str | list[str]:
    """Return one type, or several in a fixed order without duplicates.

    `integer` is left out beside `number`, which includes it.
    """
    found = [
        kind for kind in _ORDER if kind in kinds and not (kind == "integer" and "number" in kinds)
    ]
    return found[0] if len(found) == 1 else found


def _schema_of(values: Sequence[Any], data_of: DataKeys = shared_data_keys) -> dict[str, Any]:
    builder = SchemaBuilder(schema_uri=None)
    for value in values:
        builder.add_object(value)
    return _refine_schema(builder.to_schema(), values, data_of)


def _refine_schema(
    schema: dict[str, Any], values: Sequence[Any], data_of: DataKeys
) -> dict[str, Any]:
    """Return GenSON's schema of values with formats, fields and maps."""
    branches = schema.pop("anyOf", [])
    merged: dict[str, Any] = {}
    for branch in (schema, *branches):
        merged.update(branch)
    kinds = list(dict.fromkeys(kind for branch in branches or [schema] for kind in types(branch)))
    if not kinds:
        return {}
    if kinds == ["null"]:
        return {"examples": [None]}  # null is possible, and the type is unknown
    merged["type"] = kinds[0] if len(kinds) == 1 else sorted(kinds)
    texts = [value for value in values if isinstance(value, str)]
    if form := _format_of(texts):
        merged["format"] = form
    elements = _elements(values)
    if elements:
        merged["items"] = _refine_schema(merged["items"], elements, data_of)
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        properties = merged.pop("properties", {})
        required = set(merged.pop("required", ()))
        merged |= _fields(properties, required, objects, data_of)
    return merged


def _elements(values: Sequence[Any]) -> list[Any]:
    """Return the elements of all lists among the values."""
    return [element for value in values if isinstance(value, list) for element in value]


def _format_of(texts: Collection[str]) -> str | None:
    """Return the JSON Schema format that all texts have, as the validator judges it, or None.

    There must be at least three texts, two of them different.
    """
    different = set(texts)
    if len(texts) < 3 or len(different) < 2:
        return None
    for form, shape in _FORMATS.items():
        if all(
            re.fullmatch(shape, text) and conforms({"format": form}, text) for text in different
        ):
            return form
    return None


def _fields(
    properties: Mapping[str, Any],
    required: set[str],
    objects: Sequence[JsonObject],
    data_of: DataKeys,
) -> dict[str, Any]:
    """Return the part of a schema that describes the keys of objects: fields, or a map of data."""
    data = data_of(objects)
    below: dict[str, list[Json]] = {key: [] for key in properties}
    for one in objects:
        for key, part in one.items():
            below[key].append(part)
    fields = {
        key: _refine_schema(part, below[key], data_of)
        for key, part in properties.items()
        if key not in data
    }
    schema: dict[str, Any] = {"properties": fields} if fields else {}
    if required - data:
        schema["required"] = sorted(required - data)
    if data:
        schema["additionalProperties"] = _schema_of(
            [part for key in sorted(data) for part in below[key]], data_of
        )
    return schema


def _merge_schemas(
    known: JsonObject,
    found: JsonObject,
    root: JsonObject,
    values: list[Json],
    depth: int,
    data_of: DataKeys,
) -> dict[str, Any]:
    """Return a known schema, completed with the inferred one where it has no rule.

    All `values` conform to `known`.
    """
    here = dict(resolve(known, root))
    if not values or not depth or here.keys() & {*_BRANCHES, "if", "patternProperties"}:
        return dict(known)
    if not types(here) and not here.keys() & {"properties", "enum", "const"}:
        return {**found, **here} if here != {"examples": [None]} else dict(found)
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        here = _merge_fields(here, found, root, objects, depth, data_of)
    elements = _elements(values)
    if elements and isinstance(here.get("items", {}), Mapping) and "prefixItems" not in here:
        here["items"] = _merge_schemas(
            here.get("items") or {}, found.get("items", {}), root, elements, depth - 1, data_of
        )
    return here


def _merge_fields(
    known: Mapping[str, Any],
    found: JsonObject,
    root: JsonObject,
    objects: Sequence[JsonObject],
    depth: int,
    data_of: DataKeys,
) -> dict[str, Any]:
    """Return a known schema of objects with the fields that were found.

    A field that the known schema describes as a part of a map stays a part of the map.
    """
    merged = dict(known)
    named = dict(known.get("properties", {}))
    extra = known.get("additionalProperties")
    is_map = isinstance(extra, Mapping) and bool(extra)
    found_fields = found.get("properties", {})
    found_rest = found.get("additionalProperties", {})
    for key in dict.fromkeys((*found_fields, *named)):
        part = found_fields.get(key, found_rest)
        if isinstance(named.get(key), Mapping):
            inner = [value[key] for value in objects if key in value]
            named[key] = _merge_schemas(named[key], part, root, inner, depth - 1, data_of)
        elif key not in named and not is_map:
            named[key] = part
    if named:
        merged["properties"] = named
    if isinstance(extra, Mapping):
        inner = [part for value in objects for key, part in value.items() if key not in named]
        rest = _infer_from_values(inner, data_of)
        merged["additionalProperties"] = _merge_schemas(
            extra, rest, root, inner, depth - 1, data_of
        )
    return merged


def _cut(value: Json, depth: int) -> Any:
    """Return a value without its parts below `depth`. The schema allows anything there."""
    if isinstance(value, dict):
        return {key: _cut(part, depth - 1) for key, part in value.items()} if depth else {}
    if isinstance(value, list):
        return [_cut(part, depth - 1) for part in value] if depth else []
    return value


def count_fields(schema: JsonObject, replies: Iterable[Json]) -> dict[str, int]:
    """Return how many replies have a value at each response path (`airports[].code`, `rates.*`)."""
    counts: Counter[str] = Counter()
    for reply in replies:
        counts.update({path for path, _ in nodes(schema, values=[reply])} - {""})
    return dict(counts)


def nodes(
    schema: Any,
    path: str = "",
    *,
    root: Any = None,
    above: tuple[str, ...] = (),
    values: list[Json] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parts of a schema that may be changed, with their response paths.

    References are followed; a recursive one is followed once, at the path where it first occurs.

    Args:
        schema: a JSON Schema.
        path: the response path of `schema`: `airports[].code`, `rates.*`.
        root: the document of the references; by default `schema`.
        above: the references that led here.
        values: if given, yield only the parts for which one of these values has a part.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict) or values == []:
        return
    ref = schema.get("$ref")
    if isinstance(ref, str):
        if ref not in above:
            yield from nodes(
                resolve_pointer(root, ref), path, root=root, above=(*above, ref), values=values
            )
        return
    yield path, schema
    for part_path, part, part_values in _parts(schema, path, values or []):
        yield from nodes(
            part,
            part_path,
            root=root,
            above=above,
            values=None if values is None else part_values,
        )


def _parts(
    schema: JsonObject, path: str, values: list[Json]
) -> Iterator[tuple[str, Any, list[Json]]]:
    """Yield the subschemas of a schema, each with its response path and the values at that path."""
    properties = schema.get("properties") or {}
    objects = [value for value in values if isinstance(value, dict)]
    for name, part in properties.items():
        inner = [value[name] for value in objects if name in value]
        yield f"{path}.{name}".lstrip("."), part, inner
    yield f"{path}[]", schema.get("items"), _elements(values)
    rest = [part for value in objects for key, part in value.items() if key not in properties]
    yield f"{path}.*".lstrip("."), schema.get("additionalProperties"), rest
    for keyword in _BRANCHES:
        for part in schema.get(keyword) or ():
            yield path, part, values
