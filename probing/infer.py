"""The schema of a tool's responses, inferred by GenSON, with maps and formats where the evidence is enough.

1. Every response that was added conforms to the schema.
2. What a known document allows stays allowed; a keyword of it stays as long as no response breaks it.
3. The schema is as strict as these permit, but for formats, which need evidence, and depth.
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
_FOLLOWED = 12
"""Levels of nesting that are described, and levels of a known document that are merged."""
_FORMATS = {
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    "uuid": r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>.]+",
    "uri": r"[A-Za-z][A-Za-z0-9+.\-]*://\S+",
}
"""Narrower than the formats: `a:b` is a URI."""
_BRANCHES = ("anyOf", "oneOf", "allOf")
_ORDER = ("integer", "number", "boolean", "string", "array", "object", "null")
_MOST_CHANGES = 200
"""Changes of a known schema after which it is dropped."""


DataKeys: TypeAlias = Callable[[Sequence[JsonObject]], frozenset[str]]
"""Gives the keys of objects at one place that are data."""


def infer(
    responses: Iterable[Json],
    known: JsonObject | None = None,
    *,
    words: Collection[str] = frozenset(),
    every_key: bool = False,
    shared: bool = False,
) -> dict[str, Any]:
    """Return the schema (JSON Schema 2020-12) of `responses`, merged with a `known` one; `{}` if there is neither.

    Keys that are data become a map's; `words` are those of the tool's document, see `probing.keys`. `shared` says that
    others than the owner of the responses are shown the schema. With `every_key` each key is a field: for one that
    nobody is shown.
    """
    seen = [_cut(response, _DEEPEST) for response in responses]
    told = frozenset({*words, *property_names(known)})
    rule = shared_data_keys if shared else own_data_keys
    data_of: DataKeys = (lambda _: frozenset()) if every_key else partial(rule, words=told)
    found = _infer_from_values(seen, data_of)
    wide = None if known is None else relax_schema(known, seen)
    return found if wide is None else _merge_schemas(wide, found, wide, seen, _FOLLOWED, data_of)


def _infer_from_values(values: Sequence[Any], data_of: DataKeys) -> dict[str, Any]:
    found = _schema_of(values, data_of) if values else {}
    return {"type": "null"} if found == {"examples": [None]} else found


def relax_schema(known: JsonObject, values: Iterable[Json]) -> dict[str, Any] | None:
    """A known schema that allows all of `values`: what one breaks is widened where it stands, else dropped.

    None where it is no schema.
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
    """Whether a value conforms to a schema; `otherwise` where that is none."""
    try:
        return bool(validator(schema).is_valid(value))
    except (ValueError, RecursionError):
        return otherwise


def one_or_all(kinds: Sequence[str]) -> str | list[str]:
    """One type, or several without repetition, in a fixed order; an integer is a number."""
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
    """GenSON's schema of values, with what its strategies do not see."""
    branches = schema.pop("anyOf", [])
    schema = {key: part for branch in (schema, *branches) for key, part in branch.items()}
    kinds = list(dict.fromkeys(kind for branch in branches or [schema] for kind in types(branch)))
    if not kinds:
        return {}
    if kinds == ["null"]:
        return {"examples": [None]}  # null may come, and nothing is known of its type
    schema["type"] = kinds[0] if len(kinds) == 1 else sorted(kinds)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) >= 3 and len(set(texts)) >= 2 and (form := _format_of(set(texts))):
        schema["format"] = form
    lists = [part for value in values if isinstance(value, list) for part in value]
    if lists:
        schema["items"] = _refine_schema(schema["items"], lists, data_of)
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        schema |= _fields(
            schema.pop("properties", {}), set(schema.pop("required", ())), objects, data_of
        )
    return schema


def _format_of(texts: Collection[str]) -> str | None:
    """The JSON Schema format that all texts have, as the validator judges it."""
    for form, shape in _FORMATS.items():
        if all(re.fullmatch(shape, text) and conforms({"format": form}, text) for text in texts):
            return form
    return None


def _fields(
    properties: Mapping[str, Any],
    required: set[str],
    objects: Sequence[JsonObject],
    data_of: DataKeys,
) -> dict[str, Any]:
    """A record, or a map whose keys are data."""
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
    """A known schema, which all values conform to, with what was found where it is silent."""
    here = dict(resolve(known, root))
    if not values or not depth or here.keys() & {*_BRANCHES, "if", "patternProperties"}:
        return dict(known)
    if not types(here) and not here.keys() & {"properties", "enum", "const"}:
        return {**found, **here} if here != {"examples": [None]} else dict(found)
    objects = [value for value in values if isinstance(value, dict)]
    named = dict(here.get("properties", {}))
    extra = here.get("additionalProperties")
    rest = found.get(
        "additionalProperties", {}
    )  # what was found may be a map, where a record was known
    for key in dict.fromkeys((*found.get("properties", {}), *named)) if objects else ():
        part = found.get("properties", {}).get(key, rest)
        if isinstance(named.get(key), Mapping):
            inner = [value[key] for value in objects if key in value]
            named[key] = _merge_schemas(named[key], part, root, inner, depth - 1, data_of)
        elif key not in named and not (
            isinstance(extra, Mapping) and extra
        ):  # `{}` tells of no map
            named[key] = part
    if named:
        here["properties"] = named
    if objects and isinstance(extra, Mapping):
        inner = [part for value in objects for key, part in value.items() if key not in named]
        rest = _infer_from_values(inner, data_of)
        here["additionalProperties"] = _merge_schemas(extra, rest, root, inner, depth - 1, data_of)
    lists = [element for value in values if isinstance(value, list) for element in value]
    if lists and isinstance(here.get("items", {}), Mapping) and "prefixItems" not in here:
        here["items"] = _merge_schemas(
            here.get("items") or {}, found.get("items", {}), root, lists, depth - 1, data_of
        )
    return here


def _cut(value: Json, depth: int) -> Any:
    """A value without what lies deeper; what stands there is anything."""
    if isinstance(value, dict):
        return {key: _cut(part, depth - 1) for key, part in value.items()} if depth else {}
    if isinstance(value, list):
        return [_cut(part, depth - 1) for part in value] if depth else []
    return value


def count_fields(schema: JsonObject, replies: Iterable[Json]) -> dict[str, int]:
    """Response path (`airports[].code`, `rates.*`) → in how many of `replies` there is a value."""
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
    """The parts of a schema that may be written to, with their paths (`airports[].code`, `rates.*`).

    References are followed, recursive ones once around: what is below stands at the path where it first came. With
    `values`, only the parts at whose place one of them has a value.
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
    named = schema.get("properties") or {}
    objects = [value for value in values or () if isinstance(value, dict)]
    elements = [element for value in values or () if isinstance(value, list) for element in value]
    rest = [part for value in objects for key, part in value.items() if key not in named]
    below = [(f"{path}.{name}".lstrip("."), part, [one[name] for one in objects if name in one])
             for name, part in named.items()]  # fmt: skip
    below += [(f"{path}[]", schema.get("items"), elements)]
    below += [(f"{path}.*".lstrip("."), schema.get("additionalProperties"), rest)]
    below += [
        (path, part, values or []) for keyword in _BRANCHES for part in schema.get(keyword) or ()
    ]
    for where, part, inside in below:
        yield from nodes(
            part, where, root=root, above=above, values=None if values is None else inside
        )
