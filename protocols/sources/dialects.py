"""One schema of OpenAPI 3.0, 3.1 or Swagger 2, its parts already converted → JSON Schema 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from protocols.jsontypes import Json, JsonObject
from protocols.schema import validator

Direction = Literal["request", "response"]

PLAIN = {
    "title", "description", "format", "pattern", "deprecated", "readOnly", "writeOnly", "uniqueItems", "enum",
    "examples", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties", "contentMediaType",
    "contentEncoding", "dependentRequired", "$comment",
}  # fmt: skip
ANNOTATIONS = {"title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"}
_JOINABLE = ANNOTATIONS | {"type", "properties", "required"}
_TYPES = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "str": "string", "text": "string", "date": "string",
    "datetime": "string", "date-time": "string", "uuid": "string", "file": "string", "dict": "object",
    "map": "object", "hash": "object", "json": "object", "list": "array", "none": "null",
}  # fmt: skip
_JSON_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


def modern(schema: dict[str, Any], raw: JsonObject, direction: Direction) -> dict[str, Any]:
    """What the older dialects wrote in other ways."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if not schema["prefixItems"]:
            del schema["prefixItems"]
    for bound in ("Minimum", "Maximum"):
        limit = bound.lower()
        if raw.get(f"exclusive{bound}") is True and limit in schema:
            schema[f"exclusive{bound}"] = schema.pop(limit)
    if not _compiles({"patternProperties": dict.fromkeys(schema.get("patternProperties", ()), True)}):
        del schema["patternProperties"]
    if kinds := _types(raw.get("type")):
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    if raw.get("type") == "file":
        schema["format"] = "binary"
    if "example" in raw and "examples" not in schema and not isinstance(raw["example"], Mapping | list):
        schema["examples"] = [raw["example"]]
    if isinstance(names := raw.get("required"), list):
        schema["required"] = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    schema = joined_objects(schema)
    _hide(schema, "readOnly" if direction == "request" else "writeOnly")
    return nullable(schema) if says_nullable(raw) else schema


def _types(declared: Json) -> list[str]:
    names = declared if isinstance(declared, list) else [declared]
    known = [_TYPES.get(str(name).lower(), str(name).lower()) for name in names]
    return list(dict.fromkeys(name for name in known if name in _JSON_TYPES)) if declared is not None else []


def joined_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """`allOf` of plain objects as one object, and `allOf` of one schema with only annotations beside it as that schema.

    3.0 has no other way to describe a reference, or to extend an object, so this is how most shapes are written.
    """
    parts = schema.get("allOf", [])
    beside = {key: value for key, value in schema.items() if key != "allOf"}
    if len(parts) == 1 and isinstance(parts[0], dict) and beside.keys() <= ANNOTATIONS:
        return {**parts[0], **beside}
    if not parts or not all(isinstance(p, dict) and p.keys() <= _JOINABLE for p in (*parts, beside)):
        return schema
    if any(p.get("type", "object") != "object" for p in (*parts, beside)):
        return schema
    joined: dict[str, Any] = {"type": "object", "properties": {}}
    required: list[str] = []
    for part in (*parts, beside):
        for name, field in part.get("properties", {}).items():
            known = joined["properties"].get(name, field)
            joined["properties"][name] = field if known in (field, {}) else {"allOf": [known, field]}
        required += [name for name in part.get("required", ()) if name not in required]
    notes = {key: value for key, value in beside.items() if key in ANNOTATIONS}
    return joined | ({"required": required} if required else {}) | notes


def _hide(schema: dict[str, Any], mark: str) -> None:
    """Take the properties so marked out: a client does not send what is read-only, nor gets what is write-only."""
    properties = schema.get("properties", {})
    hidden = {name for name, part in properties.items() if isinstance(part, Mapping) and part.get(mark) is True}
    if hidden:
        schema["properties"] = {name: part for name, part in properties.items() if name not in hidden}
        if "required" in schema:
            schema["required"] = [name for name in schema["required"] if name not in hidden]


def says_nullable(raw: JsonObject) -> bool:
    """Whether a schema says in 3.0's or Swagger's words that null is allowed."""
    return raw.get("nullable") is True or raw.get("x-nullable") is True


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, and null."""
    if "type" not in schema:
        # 3.0 says that `nullable` without a type means nothing; everybody writes it beside `$ref` and `allOf`.
        open_to_null = not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "enum", "const", "properties"}
        return schema if open_to_null else {"anyOf": [schema, {"type": "null"}]}
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    changed = schema | {"type": [*kinds, "null"] if "null" not in kinds else kinds}
    if "enum" in schema and None not in schema["enum"]:
        changed["enum"] = [*schema["enum"], None]
    return changed


def accepted(keyword: str, value: Json) -> bool:
    """Whether the metaschema allows `value` there: patterns that compile, numbers that are numbers."""
    try:
        return _accepted_scalar(keyword, value, type(value).__name__)
    except TypeError:  # not hashable
        return _compiles({keyword: value})


@lru_cache(maxsize=4096)
def _accepted_scalar(keyword: str, value: Json, kind: str) -> bool:  # noqa: ARG001 -- `1 == True` in a cache's key
    return _compiles({keyword: value})


def _compiles(schema: JsonObject) -> bool:
    try:
        validator(schema)
    except ValueError:
        return False
    return True
