"""JSON Schema: validation that never touches the network, local references, and the shape of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import jsonschema_rs

from protocols.jsontypes import Json, JsonObject


class Violation(NamedTuple):
    """One clause that a value breaks: where in the value, what was said, and the clause's place in the schema."""

    path: str
    message: str
    clause: str


def _refuse(uri: str) -> NoReturn:
    # jsonschema-rs fetches remote references by itself unless it is given a retriever.
    raise ValueError(f"the remote reference {uri} is not fetched")


def validator(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    """A validator of `schema`; formats are checked. Raises `ValueError` for a schema that cannot be one."""
    return jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True, retriever=_refuse)


def violations(schema: JsonObject, value: Json) -> list[Violation]:
    """Every clause of `schema` that `value` breaks; empty when it conforms."""
    return [
        Violation(dotted(error.instance_path), error.message, "/".join(map(str, error.schema_path)))
        for error in validator(schema).iter_errors(value)
    ]


def dotted(path: Iterator[str | int] | list[str | int]) -> str:
    """`["rows", 0, "id"]` → `rows[0].id`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def steps(path: str) -> list[str | int]:
    """`rows[0].id` → `["rows", 0, "id"]`; an empty index (`rows[]`, any element) gives 0."""
    parts: list[str | int] = []
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d*)\]", path):
        parts.append(key or int(index or 0))
    return parts


def resolve(schema: Any, root: JsonObject) -> JsonObject:
    """`schema` with a leading local `$ref` followed (to any depth) and its siblings kept; `{}` where it leads nowhere.

    Only the top is resolved, so recursive schemas stay finite: callers resolve each level as they descend.
    """
    seen: set[str] = set()
    current: Any = schema
    siblings: dict[str, Any] = {}
    while isinstance(current, Mapping) and isinstance(ref := current.get("$ref"), str):
        siblings = {k: v for k, v in current.items() if k != "$ref"} | siblings
        if ref in seen:
            return siblings
        seen.add(ref)
        current = pointer(root, ref)
    if not isinstance(current, Mapping):
        return siblings
    return {**current, **siblings} if siblings else current


def pointer(root: Any, ref: str) -> Any:
    """What the local reference `#/$defs/x` points to, or `None`."""
    if not ref.startswith("#"):
        return None
    current = root
    for part in ref.removeprefix("#").removeprefix("/").split("/") if ref not in ("#", "#/") else []:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(current, Mapping) and key in current:
            current = current[key]
        elif isinstance(current, list) and key.isdigit() and int(key) < len(current):
            current = current[int(key)]
        else:
            return None
    return current


def types(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that a (resolved) schema names, or that its keywords and values imply; empty when open."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list | tuple):
        return tuple(declared)
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    if values:
        return tuple(dict.fromkeys(type_name(v) for v in values))
    if "properties" in schema or "additionalProperties" in schema:
        return ("object",)
    if "items" in schema or "prefixItems" in schema:
        return ("array",)
    return ()


def type_name(value: Json) -> str:
    """The JSON type of a value: `integer` for 1 and `number` for 1.5, `boolean` for True."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def wrapper_key(schema: JsonObject | None) -> str | None:
    """The key of a response that only wraps one field (`{"flights": […]}`), which programs see unwrapped, or `None`.

    Decided by the protocol alone, so that the same tool always has the same shape: an object with exactly one
    property, which is required.
    """
    if schema is None:
        return None
    top = resolve(schema, schema)
    properties = top.get("properties", {})
    if types(top) != ("object",) or len(properties) != 1 or any(k in top for k in ("oneOf", "anyOf", "allOf")):
        return None
    if top.get("additionalProperties") not in (None, False):
        return None
    key = next(iter(properties))
    return key if key in top.get("required", ()) else None


def shape(value: Json, *, depth: int = 3) -> str:
    """A one-line sketch of a value's structure: `{id: string, stops: [{code: string}] × 3}`."""
    match value:
        case Mapping():
            if depth == 0:
                return "{…}"
            inside = ", ".join(f"{k}: {shape(v, depth=depth - 1)}" for k, v in list(value.items())[:12])
            return "{" + inside + (", …" if len(value) > 12 else "") + "}"
        case list():
            return f"[{shape(value[0], depth=depth - 1) if depth else '…'}] × {len(value)}" if value else "[]"
        case _:
            return type_name(value)
