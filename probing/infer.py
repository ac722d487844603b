"""Infers the JSON Schema of a tool's responses, with the library GenSON, and adds maps and formats.

1. Every observed response conforms to the schema.
2. A schema that is already known is kept: what it allows stays allowed, and each of its keywords
   stays unless a response violates it.
3. Otherwise the schema is as strict as possible. Exceptions are formats, which need evidence, and
   very deep levels, which are not described.
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
"""Maximum number of nested levels that an inferred schema describes."""
_FOLLOWED = 12
"""Maximum number of nested levels of a known schema that are merged with an inferred one."""
_FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "uuid": r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>.]+",
    "uri": r"[A-Za-z][A-Za-z0-9+.\-]*://\S+",
}
"""Patterns by which formats are recognised. They are stricter than the formats themselves:
`a:b` is a valid URI, but is not recognised as one."""
_BRANCHES = ("anyOf", "oneOf", "allOf")
_ORDER = ("integer", "number", "boolean", "string", "array", "object", "null")
_MOST_CHANGES = 200
"""Maximum number of changes for one value. A known schema that needs more is not used."""


DataKeys: TypeAlias = Callable[[Sequence[JsonObject]], frozenset[str]]
"""A function that takes all objects at one response path, and returns those of their keys that are
data (such as currency codes) and not names of fields."""


def infer(
    responses: Iterable[Json],
    known: JsonObject | None = None,
    *,
    words: Collection[str] = frozenset(),
    every_key: bool = False,
    shared: bool = False,
) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of responses.

    Return `{}` if there are neither responses nor a declared schema.

    Args:
        responses: the responses of one tool.
        known: a declared schema. It is relaxed where a response violates it, and completed.
        words: the words in the tool's document, which are not private (see `probing.keys`).
        every_key: True to treat every key as a field, for a schema that is used only internally.
        shared: True if the schema will be shown to other people than the owner of the responses.
            Then keys that may be data are not named but described as the keys of a map.
    """
    seen = [_limit_depth(response, _DEEPEST) for response in responses]
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
    """Return a copy of `known`, relaxed so that all of `values` conform to it.

    A keyword that a value violates is widened if possible, and otherwise dropped. Return None if
    `known` is not a valid schema, or if it would have to be changed too often.
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
    """Change a schema in place: widen or drop the keyword that a value violates."""
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
    """Return the value of a schema's `type`: a string for one type, else a list in a fixed order.

    Duplicates are dropped, and so is "integer" if "number" is among the types.
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
    """Return a schema by GenSON with two additions: formats, and maps for keys that are data.

    `values` are the values from which GenSON inferred the schema.
    """
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
    elements = _all_elements(values)
    if elements:
        merged["items"] = _refine_schema(merged["items"], elements, data_of)
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        properties = merged.pop("properties", {})
        required = set(merged.pop("required", ()))
        merged |= _describe_keys(properties, required, objects, data_of)
    return merged


def _all_elements(values: Sequence[Any]) -> list[Any]:
    """Return the elements of those values that are lists, in one list."""
    return [element for value in values if isinstance(value, list) for element in value]


def _format_of(texts: Collection[str]) -> str | None:
    """Return the JSON Schema format that all texts have, such as `date`, or None.

    Return None for fewer than three texts, and if all texts are equal: this is too little evidence.
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


def _describe_keys(
    properties: Mapping[str, Any],
    required: set[str],
    objects: Sequence[JsonObject],
    data_of: DataKeys,
) -> dict[str, Any]:
    """Return the keywords of a schema that describe the keys of some JSON objects.

    Names of fields are described by `properties` and `required`, and keys that are data (such as
    currency codes) by `additionalProperties`.

    Args:
        properties: the schema of each key, as GenSON inferred it.
        required: the keys that all objects have.
        objects: the objects.
        data_of: returns the keys that are data.
    """
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
    """Return a known schema, completed with an inferred one where the known schema has no rule.

    Args:
        known: the known schema, to which all `values` conform.
        found: the schema that was inferred from `values`.
        root: the document in which the references of `known` are resolved.
        values: the values at this path of the responses.
        depth: the number of levels that are merged. Below, only the known schema is used.
        data_of: returns the keys of objects that are data and not names of fields.
    """
    here = dict(resolve(known, root))
    if not values or not depth or here.keys() & {*_BRANCHES, "if", "patternProperties"}:
        return dict(known)
    if not types(here) and not here.keys() & {"properties", "enum", "const"}:
        return {**found, **here} if here != {"examples": [None]} else dict(found)
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        here = _merge_fields(here, found, root, objects, depth, data_of)
    elements = _all_elements(values)
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
    """Return a known schema of objects, completed with the fields of an inferred schema.

    If the known schema describes the objects as a map, no fields are added. `objects` are the
    objects at this path of the responses. They conform to `known`, and `found` was inferred from
    them. The other parameters are those of `_merge_schemas`.
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


def _limit_depth(value: Json, depth: int) -> Any:
    """Return a copy of a JSON value in which objects and lists below `depth` levels are empty.

    The schema that is inferred from the copy then allows anything in these objects and lists.
    """
    if isinstance(value, dict):
        return {key: _limit_depth(part, depth - 1) for key, part in value.items()} if depth else {}
    if isinstance(value, list):
        return [_limit_depth(part, depth - 1) for part in value] if depth else []
    return value


def count_fields(schema: JsonObject, replies: Iterable[Json]) -> dict[str, int]:
    """Return how many replies have a value at each response path of a schema.

    The keys of the result are the response paths, such as `airports[].code`, or `rates.*` for the
    values of a map.
    """
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
    """Yield each subschema of a schema with its response path, the schema itself first.

    The subschemas are not copies, so the caller may change them. References are followed, but a
    recursive reference only once.

    Args:
        schema: a JSON Schema.
        path: the response path of `schema`, such as `airports[].code` or `rates.*`.
        root: the document in which references are resolved; by default `schema`.
        above: the references that were followed to reach `schema`.
        values: values that the schema describes. If they are given, a subschema is yielded only if
            at least one of the values contains something at its path.
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
    for part_path, part, part_values in _direct_subschemas(schema, path, values or []):
        yield from nodes(
            part,
            part_path,
            root=root,
            above=above,
            values=None if values is None else part_values,
        )


def _direct_subschemas(
    schema: JsonObject, path: str, values: list[Json]
) -> Iterator[tuple[str, Any, list[Json]]]:
    """Yield each direct subschema with its response path and the values at that path.

    `path` is the response path of the schema, and `values` has the values that the schema
    describes.
    """
    properties = schema.get("properties") or {}
    objects = [value for value in values if isinstance(value, dict)]
    for name, part in properties.items():
        inner = [value[name] for value in objects if name in value]
        yield f"{path}.{name}".lstrip("."), part, inner
    yield f"{path}[]", schema.get("items"), _all_elements(values)
    rest = [part for value in objects for key, part in value.items() if key not in properties]
    yield f"{path}.*".lstrip("."), schema.get("additionalProperties"), rest
    for keyword in _BRANCHES:
        for part in schema.get(keyword) or ():
            yield path, part, values
