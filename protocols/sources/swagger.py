"""Swagger 2 operations in the terms of OpenAPI 3, so that one reader serves both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from protocols.jsontypes import JsonObject

FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_BESIDE_SCHEMA = {"name", "in", "required", "schema", "style", "explode", "collectionFormat", "allowEmptyValue"}
_STYLES: dict[str, dict[str, Any]] = {
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
    "csv": {"style": "form", "explode": False},
}


def upgrade_parameter(parameter: JsonObject) -> dict[str, Any]:
    """A parameter with its `schema`, whatever stood beside it; `explode` says how an array is written.

    Documents of both versions are seen with either form, so this is applied to all.
    """
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        schema = {k: v for k, v in parameter.items() if k not in _BESIDE_SCHEMA and not k.startswith("x-example")}
        schema.pop("description", None)
        schema.pop("content", None)
        schema.pop("examples", None)  # 3.x names its examples: a mapping, not a schema's list
    upgraded = dict(parameter) | {"schema": schema}
    if schema.get("type") == "array" and "style" not in parameter and "explode" not in parameter:
        written = parameter.get("collectionFormat", "csv" if "type" in parameter else None)
        upgraded |= _STYLES.get(str(written), {})
    return upgraded


def upgrade_body(parameters: Sequence[JsonObject], consumes: Sequence[str]) -> dict[str, Any] | None:
    """The `requestBody` that `in: body` and `in: formData` parameters make; `None` where there are none."""
    for parameter in parameters:
        if parameter.get("in") == "body":
            media = next((m for m in consumes if "json" in m.lower()), None) or next(iter(consumes), "application/json")
            return {
                "description": parameter.get("description", ""),
                "required": parameter.get("required") is True,
                "content": {media: {"schema": parameter.get("schema", {})}},
            }
    fields = [p for p in parameters if p.get("in") == "formData"]
    if not fields:
        return None
    media = next((m for m in consumes if m in FORM_TYPES), FORM_TYPES[any(f.get("type") == "file" for f in fields)])
    properties = {str(f["name"]): _described(upgrade_parameter(f)) for f in fields if "name" in f}
    required = [str(f["name"]) for f in fields if "name" in f and f.get("required") is True]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def upgrade_response(response: JsonObject, produces: Sequence[str]) -> dict[str, Any]:
    """A response with its `content` by media type."""
    schema = response.get("schema")
    media = list(produces) or ["application/json"]
    if isinstance(schema, Mapping) and schema.get("type") == "file":
        content: dict[str, Any] = {m if "json" not in m else "application/octet-stream": {} for m in media}
    elif isinstance(schema, Mapping):
        content = {m: {"schema": schema} for m in media}
    else:
        # To the letter this means an empty body; in practice (httpbin) the body is merely not described.
        content = {m: {} for m in produces}
    return {"description": response.get("description", ""), "content": content}


def _described(parameter: JsonObject) -> dict[str, Any]:
    schema = dict(parameter["schema"])
    if isinstance(text := parameter.get("description"), str):
        schema.setdefault("description", text)
    return schema
