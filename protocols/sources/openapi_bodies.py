"""Turns the request body of an OpenAPI operation into arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.protocol import Location
from protocols.schema import ANNOTATIONS, JsonObject, as_mapping, is_file, types
from protocols.sources.operation import FORM_TYPES, OperationArguments, is_json, plain_text
from protocols.sources.schemas import Schemas

_JSONS = {"application/json": 0, "application/json-patch+json": 2}
"""Preference among JSON media types, lowest first. Few documents describe a patch as a list."""
_PLAIN_OBJECT = ANNOTATIONS | {"type", "properties", "required", "additionalProperties"}


def add_body(arguments: OperationArguments, body: JsonObject, converted: Schemas) -> None:
    """Add the arguments of a body: its properties if no name clashes, else one argument.

    `converted` converts the schemas of the document.
    """
    content = body["content"]
    kinds = {one: one.split(";")[0].strip().lower() for one in content}
    kinds = kinds or {"": "application/json"}
    schemas = {one: converted.convert(as_mapping(content.get(one)).get("schema")) for one in kinds}
    chosen = _choose_media(kinds, schemas, converted)
    media = kinds[chosen]
    location: Location = "form" if media in FORM_TYPES else "body"
    whole: Any = schemas[chosen]
    if location == "body" and not is_json(media):
        whole = {"type": "string", "contentMediaType": media}
    top = converted.top(whole)
    fields = _fields_of(top)
    required = body.get("required", bool(fields and top.get("required"))) is True
    if not fields and not required and _allows_nothing(top):
        return
    if (fields or location == "body") and "*" not in media:
        arguments.media = "" if media in ("application/json", FORM_TYPES[0]) else media
    if fields and (location == "form" or not fields.keys() & arguments.properties.keys()):
        encodings = as_mapping(as_mapping(content.get(chosen)).get("encoding"))
        for name, schema in fields.items():
            if joint := _join_of(schema, as_mapping(encodings.get(name)), media, converted):
                schema = {**schema, "x-atc-join": joint}
            needed = required and name in top.get("required", ())
            arguments.add(name, location, schema, required=needed)
        return
    if isinstance(whole, dict) and (text := plain_text(body.get("description"))):
        whole = {"description": text} | whole
    arguments.add("", "body", whole, required=required)


def _choose_media(kinds: Mapping[str, str], schemas: Mapping[str, Any], converted: Schemas) -> str:
    """Return the media type to send: the last multipart form with a file, or JSON (but not a JSON
    patch), or a form, or the first one.

    `kinds` has the media types without their parameters.
    """
    chosen = min(
        kinds,
        key=lambda one: (
            not is_json(one),
            kinds[one] not in FORM_TYPES,
            _JSONS.get(kinds[one], 1),
        ),
    )
    for one in (one for one in kinds if kinds[one] == FORM_TYPES[1]):
        form = converted.complete(as_mapping(converted.top(schemas[one])))
        if any(is_file(part, form) for part in form.get("properties", {}).values()):
            chosen = one
    return chosen


def _is_plain_object(schema: Any) -> bool:
    """Return True for an object schema with nothing but properties and annotations."""
    return bool(schema) and not schema.keys() - _PLAIN_OBJECT and types(schema) == ("object",)


def _fields_of(schema: Any) -> dict[str, Any]:
    """Return the properties of a plain object, unless others are allowed with a schema."""
    if _is_plain_object(schema) and schema.get("additionalProperties", True) in (True, False, {}):
        return schema.get("properties") or {}
    return {}


def _allows_nothing(schema: Any) -> bool:
    """Return True for a plain object schema that allows no further properties."""
    return _is_plain_object(schema) and schema.get("additionalProperties") is False


def _join_of(schema: Any, encoding: JsonObject, media: str, converted: Schemas) -> str:
    """Return how a field of a form is written if it is an object, else ""."""
    if isinstance(schema, Mapping) and encoding.get("style") == "deepObject":
        return "[]"
    is_object = "object" in types(as_mapping(converted.top(schema)))
    return "{}" if media == "multipart/form-data" and is_object else ""
