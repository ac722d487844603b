"""JSON types, strict reading and writing of JSON, and JSON Schemas with local references.

JSON has no NaN and no infinity. `Json` and similar names of types stand for `Any`, because
recursive type aliases require more casts than they find mistakes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = Any
"""None, bool, int, float, str, list of Json or dict of str to Json."""

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""The same with its parts typed, for JSON that is returned to callers."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object; read-only by convention."""

GUESSED_TYPE = "x-atc-guessed-type"
"""Keyword of a schema: a guessed schema, from which prompts show the type of a value if no certain
type is known. Nothing is validated or checked against it.
"""

SHOWN_FIELDS = "x-atc-shown-fields"
"""Keyword of a response schema: a schema of further fields, which only examples show. The static
check accepts these fields. Nothing is validated against them.
"""


def as_mapping(value: Json) -> JsonObject:
    """Return `value` if it is a JSON object, else an empty dict."""
    return value if isinstance(value, Mapping) else {}


def items_of_type(value: Json, kind: type = object) -> list[Any]:
    """Return the items of a list that have a given type. Return [] if `value` is not a list."""
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []


def loads(text: str) -> Json:
    """Return the JSON value of `text`.

    Raises:
        ValueError: it is not JSON, or has a number that Python cannot represent: NaN, beyond
            ±1.8e308, or an integer of more than 4,300 digits.
        RecursionError: it is nested too deeply.
    """
    try:
        return _DECODER.decode(text)
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise ValueError("Exceeds the limit of 4,300 digits for a whole number") from None
        raise


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return `value` as JSON text, without escaping non-ASCII letters.

    Objects that are not JSON become their `repr`; NaN and infinities become null.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=repr, indent=indent)
    except ValueError:
        # Imported only here, because it takes a tenth of the time of `atc --help`.
        from pydantic_core import to_jsonable_python

        plain = to_jsonable_python(value, inf_nan_mode="null", fallback=repr)
        return json.dumps(plain, ensure_ascii=False, default=repr, indent=indent)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name[:20]} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_float)


# --- paths, references, and what a schema says


def dotted_path(path: Iterator[str | int] | list[str | int]) -> str:
    """Return a path as text: `["rows", 0, "id"]` → `rows[0].id`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
    return text


_JSON_TEXT = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'


def parse_path(path: str, *, each: Any = 0) -> list[Any]:
    """Return the parts of a JSON path: `rows[0].id` → `["rows", 0, "id"]`.

    An empty index (`rows[]`) becomes the value of `each`. A quoted key (`["a.b"]`) may contain any
    character.
    """
    found = re.findall(rf"\[({_JSON_TEXT})\]|([^.\[\]]+)|\[(\d*)\]", path)
    return [
        json.loads(quoted) if quoted else key or (int(index) if index else each)
        for quoted, key, index in found
    ]


_PATH_SYNTAX = re.compile(r'[.\[\]"]')


def join_path(path: str, key: str) -> str:
    """Return the path of the field `key` below `path`: `rows[]` and `id` give `rows[].id`.

    A key that contains path syntax is quoted: `rows[]["@odata.type"]`.
    """
    if _PATH_SYNTAX.search(key):
        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key


def resolve(schema: Any, root: JsonObject) -> JsonObject:
    """Return the schema that `schema` refers to with `$ref`, or `schema` itself without a `$ref`.

    Keywords beside the `$ref` are added to the result. If the target does not exist, the result has
    only these keywords. Only the top level is resolved, since schemas may be recursive. Callers
    resolve each level as they descend.
    """
    if isinstance(schema, dict) and "$ref" not in schema:
        return schema
    seen: set[str] = set()
    current: Any = schema
    siblings: dict[str, Any] = {}
    while isinstance(current, Mapping) and isinstance(ref := current.get("$ref"), str):
        if len(current) > 1:
            siblings = {k: v for k, v in current.items() if k != "$ref"} | siblings
        if ref in seen:
            return siblings
        seen.add(ref)
        current = resolve_pointer(root, ref)
    if not isinstance(current, Mapping):
        return siblings
    return {**current, **siblings} if siblings else current


def resolve_pointer(root: Any, ref: str) -> Any:
    """Return the target of a local reference such as `#/$defs/x`, or None."""
    if not ref.startswith("#"):
        return None
    current = root
    parts = [] if ref in ("#", "#/") else ref.removeprefix("#").removeprefix("/").split("/")
    for part in parts:
        key = part.replace("~1", "/").replace("~0", "~") if "~" in part else part
        if isinstance(current, (dict, Mapping)) and key in current:
            current = current[key]
        elif isinstance(current, list) and key.isdigit() and int(key) < len(current):
            current = current[int(key)]
        else:
            return None
    return current


ANNOTATIONS = frozenset(
    {"title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"}
)


_MAPS = ("patternProperties", "dependentSchemas", "dependencies")


def iter_member_schemas(schemas: Iterable[JsonObject], key: Any) -> Iterator[Any]:
    """Yield the schemas for one property or item of a value that is described by `schemas`.

    `key` is a property name, an index, or the type `str` or `int` for any name or index without a
    schema of its own. All `patternProperties` count as matching, because matching an untrusted
    pattern may take too long.
    """
    for schema in schemas:
        if key is str or isinstance(key, str):
            own = schema.get("properties") or {}
            yield from (
                [own[key]]
                if key in own
                else subschemas(schema, "additionalProperties", "unevaluatedProperties")
            )
            yield from subschemas(schema, "patternProperties", "propertyNames")
        else:
            first = schema.get("prefixItems") or ()
            own_place = key is not int and key < len(first)
            yield from (
                [first[key]] if own_place else subschemas(schema, "items", "unevaluatedItems")
            )
            yield from subschemas(schema, "contains")


def subschemas(schema: JsonObject, *keywords: str) -> Iterator[Any]:
    """Yield the schemas that a schema has under the given keywords, such as `items` or `anyOf`.

    The value of a keyword may be one schema, a list of schemas, or a mapping to schemas.
    """
    for keyword in keywords:
        value = schema.get(keyword)
        if value is None:  # most keywords are absent, and a test for a mapping is slow
            continue
        if isinstance(value, list):
            yield from value
        elif isinstance(value, Mapping):
            yield from value.values() if keyword in _MAPS else (value,)


_COMBINING = ("allOf", "anyOf", "oneOf", "if", "then", "else")


def expand_combinations(schemas: Iterable[Any], root: JsonObject, *, most: int) -> list[JsonObject]:
    """Return schemas, each followed by those that it combines with `allOf`, `anyOf` and so on.

    All of them apply to the same value. References are resolved. At most `most` schemas are
    returned.
    """
    found = list[JsonObject]()
    left = [(schema, frozenset[str]()) for schema in schemas][::-1]
    while left and len(found) < most:
        schema, above = left.pop()
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if ref in above:
            continue
        if view := resolve(schema, root):
            found.append(view)
        below = above | {ref} if isinstance(ref, str) else above
        left += [(inner, below) for inner in subschemas(view, *_COMBINING)][::-1]
    return found


def iter_parts(value: Json) -> Iterator[Json]:
    """Yield a JSON value and all values inside it, at any depth."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        if isinstance(part, Mapping):
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part)


def iter_reference_targets(schema: Json) -> set[str]:
    """Return the texts of all references (`$ref`) in a schema, such as `#/$defs/x`."""
    found: set[str] = set()
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            ref = part.get("$ref")
            if isinstance(ref, str):
                found.add(ref)
            left += [inner for inner in part.values() if isinstance(inner, Mapping | list | tuple)]
        elif isinstance(part, list | tuple):
            left += [inner for inner in part if isinstance(inner, Mapping | list | tuple)]
    return found


def scalar_schema(schema: Any, root: JsonObject) -> JsonObject:
    """Return the schema of a single value, which says its type and `format`.

    If a schema allows null or a list as well, the result is the schema without them. For a list, it
    is the schema of its items.
    """
    top = resolve(schema, root)
    for _ in range(4):
        options = [resolve(part, root) for part in subschemas(top, "anyOf", "oneOf")]
        others = [part for part in options if part.get("type") != "null"]
        single = [part for part in others if part.get("type") != "array"] or others
        inner = single[0] if len(single) == 1 else top.get("items")
        top = resolve(inner, root) or top
    return top


def types(schema: JsonObject) -> tuple[str, ...]:
    """Return the JSON types that a schema allows; an empty tuple if it allows any type.

    The schema must have no `$ref` at its top level.
    """
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list | tuple):
        return tuple(declared)
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values:
        return tuple(dict.fromkeys(type_name(v) for v in values))
    if "properties" in schema or "additionalProperties" in schema:
        return ("object",)
    if "items" in schema or "prefixItems" in schema:
        return ("array",)
    return ()


def all_types(schema: Any, root: JsonObject, depth: int = 4) -> tuple[str, ...]:
    """Return the JSON types that a schema or its alternatives (`anyOf`, …) allow.

    The result is empty if any type is allowed.
    """
    here = resolve(schema, root)
    inner = [*subschemas(here, "anyOf", "oneOf")] or [*subschemas(here, "allOf")][:1]
    if (named := types(here)) or depth == 0:
        return named
    each = [all_types(one, root, depth - 1) for one in inner]
    return tuple(dict.fromkeys(kind for kinds in each for kind in kinds)) if all(each) else ()


_NAMES = (
    (type(None), "null"), (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"),
    (Mapping, "object")
)  # fmt: skip


def type_name(value: Json) -> str:
    """Return the JSON type of a value: `integer` for 1, `number` for 1.5, `boolean` for True."""
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "array")


def wrapper_key(schema: JsonObject | None) -> str | None:
    """Return the key of a response that only wraps one field (`{"flights": […]}`), or None.

    Programs get the value of this field instead of the response. The key depends only on the
    schema, so that a tool always returns the same structure: the schema is an object with exactly
    one property, which is required.
    """
    if schema is None:
        return None
    top = resolve(schema, schema)
    properties = top.get("properties", {})
    if (
        types(top) != ("object",)
        or len(properties) != 1
        or any(k in top for k in ("oneOf", "anyOf", "allOf"))
    ):
        return None
    if top.get("additionalProperties") not in (None, False):
        return None
    key = next(iter(properties))
    return key if key in top.get("required", ()) else None


def unwrap_schema(schema: JsonObject | None) -> JsonObject:
    """Return the schema of the part of a response that programs get.

    This is the field at `wrapper_key`, if there is one, and otherwise the whole response.
    References at the top level of the result are resolved. If `schema` is None, the result is {}.
    """
    key = wrapper_key(schema)
    root = schema or {}
    top = resolve(root, root)
    return top if key is None else resolve(top["properties"][key], root)


_MOST_ITEMS = 10
"""Maximum number of items of a list whose structure `shape` looks at."""
_MOST_SHAPES = 3
"""Maximum number of different structures of items that `shape` shows for one list."""


def shape(value: Json, *, depth: int = 3) -> str:
    """Return a value's structure on one line, as `{id: string, stops: [{code: string}] × 3}`."""
    match value:
        case Mapping():
            if depth == 0:
                return "{…}"
            inside = ", ".join(
                f"{k}: {shape(v, depth=depth - 1)}" for k, v in list(value.items())[:12]
            )
            return "{" + inside + (", …" if len(value) > 12 else "") + "}"
        case list():
            if not value:
                return "[]"
            shapes = [shape(item, depth=depth - 1) for item in value[:_MOST_ITEMS]] if depth else []
            kinds = list(dict.fromkeys(shapes))[:_MOST_SHAPES] or ["…"]
            return f"[{' | '.join(kinds)}] × {len(value)}"
        case _:
            return type_name(value)
