"""Turns the request body of an OpenAPI operation into arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.file_schemas import is_file
from protocols.schema import ANNOTATIONS, JsonObject, as_mapping, types
from protocols.sources.operation import FORM_TYPES, OperationArguments, is_json, plain_text
from protocols.sources.schemas import Schemas

_JSONS = {"application/json": 0, "application/json-patch+json": 2}
"""Rank of each JSON media type; if a body has several, the one with the lowest rank is sent.

Types that are not listed have rank 1. A JSON patch comes last: it is a list of changes, but few
documents describe it as a list.
"""
_PLAIN_OBJECT = ANNOTATIONS | {"type", "properties", "required", "additionalProperties"}


def add_body(arguments: OperationArguments, body: JsonObject, converted: Schemas) -> None:
    """Add the arguments in a request body to `arguments`.

    Each property of the body becomes an argument. The whole body becomes one argument if it is not
    an object, or if a property of a JSON body has the name of another argument. `converted`
    converts the schemas of the document to JSON Schema 2020-12.
    """
    media, content, whole = _choose_media(body["content"], converted)
    is_form = media in FORM_TYPES
    top = converted.top(whole)
    fields = _fields_of(top)
    required = body.get("required", bool(fields and top.get("required"))) is True
    if not fields and not required and _allows_nothing(top):
        return
    if fields or not is_form:
        arguments.media = _unusual_media(media)
    if fields and (is_form or not fields.keys() & arguments.properties.keys()):
        encodings = as_mapping(content.get("encoding"))
        needed = top.get("required", ()) if required else ()
        for name, schema in _joined_fields(fields, encodings, media, converted).items():
            arguments.add(name, "form" if is_form else "body", schema, required=name in needed)
        return
    arguments.add("", "body", _with_description(whole, body), required=required)


def _unusual_media(media: str) -> str:
    """Return a media type, or "" if a request need not name it.

    That is so for patterns such as `*/*`, and for the usual types of JSON bodies and forms.
    """
    is_usual = media in ("application/json", FORM_TYPES[0])
    return "" if is_usual or "*" in media else media


def _joined_fields(
    fields: JsonObject, encodings: JsonObject, media: str, converted: Schemas
) -> dict[str, Any]:
    """Return the schemas of the fields of a body, keyed by name.

    In a form, the schemas of objects get the key `x-atc-join`, which says how an object is sent;
    see `_join_of`.
    """
    found = {}
    for name, schema in fields.items():
        joint = _join_of(schema, as_mapping(encodings.get(name)), media, converted)
        found[name] = {**schema, "x-atc-join": joint} if joint else schema
    return found


def _with_description(schema: Any, body: JsonObject) -> Any:
    """Return the schema of a body. If it has no description, that of the body is added."""
    text = plain_text(body.get("description"))
    return {"description": text} | schema if isinstance(schema, dict) and text else schema


def _choose_media(
    content: JsonObject, converted: Schemas
) -> tuple[str, JsonObject, dict[str, Any] | bool]:
    """Return the media type in which a body is sent, its entry in the document, and its schema.

    The media type is the last multipart form with a file, else JSON (if possible not a JSON patch),
    else a form, else the first one. The schema of a body that is neither JSON nor a form is a
    string.
    """
    kinds = {one: one.split(";")[0].strip().lower() for one in content}
    kinds = kinds or {"": "application/json"}
    schemas = {one: converted.convert(as_mapping(content.get(one)).get("schema")) for one in kinds}
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
    media = kinds[chosen]
    schema = schemas[chosen]
    if media not in FORM_TYPES and not is_json(media):
        schema = {"type": "string", "contentMediaType": media}
    return media, as_mapping(content.get(chosen)), schema


def _is_plain_object(schema: Any) -> bool:
    """Return True for the schema of an object with no keywords but properties and annotations."""
    return bool(schema) and not schema.keys() - _PLAIN_OBJECT and types(schema) == ("object",)


def _fields_of(schema: Any) -> dict[str, Any]:
    """Return the properties of a plain object schema, or {} for another schema.

    A schema that describes additional properties is not plain.
    """
    if _is_plain_object(schema) and schema.get("additionalProperties", True) in (True, False, {}):
        return schema.get("properties") or {}
    return {}


def _allows_nothing(schema: Any) -> bool:
    """Return True for a plain object schema that forbids properties beside the declared ones."""
    return _is_plain_object(schema) and schema.get("additionalProperties") is False


def _join_of(schema: Any, encoding: JsonObject, media: str, converted: Schemas) -> str:
    """Return how an object in a field of a form is sent, or "" if the field is not an object.

    `[]`: as several fields with names such as `item[price]`. `{}`: as JSON.
    """
    if isinstance(schema, Mapping) and encoding.get("style") == "deepObject":
        return "[]"
    is_object = "object" in types(as_mapping(converted.top(schema)))
    return "{}" if media == "multipart/form-data" and is_object else ""
