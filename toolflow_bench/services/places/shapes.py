"""Schemas that responses and parameters of the places service are put together from."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import Json, JsonObject

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}
TIME: JsonObject = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:00$"}
DATE: JsonObject = {"type": "string", "title": "a date", "format": "date", "examples": ["2005-08-29"]}


def opaque_id(prefix: str, thing: str) -> JsonObject:
    """The schema of ids such as `ci_x3f6q`; `thing` is what has them, in words."""
    return {"type": "string", "title": f"an opaque id of {thing}", "pattern": f"^{prefix}_[a-z2-7]{{5}}$"}


STORM_ID = opaque_id("st", "a storm")
OBSERVATION_ID = opaque_id("ob", "an observation")
CITY_ID = opaque_id("ci", "a city")
COUNTRY_ID = opaque_id("co", "a country")
CONTINENT_ID = opaque_id("cn", "a continent")
CURRENCY_ID = opaque_id("cu", "a currency")
TIME_ZONE_ID = opaque_id("tz", "a time zone")
STATE_ID = opaque_id("us", "a state")
AIRFIELD_ID = opaque_id("af", "an airfield")
PLAN_ID = opaque_id("tp", "a trip plan")
ALERT_ID = opaque_id("al", "a storm alert")
NOTICE_ID = opaque_id("no", "a notice")
REPORT_ID = opaque_id("er", "an error report")
PLACE_ID: JsonObject = {
    "type": "string",
    "title": "an opaque id of a city, an airfield or an observation",
    "pattern": "^(ci|af|ob)_[a-z2-7]{5}$",
}


def text(longest: int, *, shortest: int = 1) -> dict[str, Any]:
    """A text of so many characters."""
    return {"type": "string", "minLength": shortest, "maxLength": longest}


def whole(minimum: int, maximum: int, *, default: Json = None) -> dict[str, Any]:
    """A whole number in a range."""
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return schema if default is None else {**schema, "default": default}


def field(schema: JsonObject, description: str, *, nullable: bool = False) -> dict[str, Any]:
    """One field of a response."""
    kept = {key: value for key, value in schema.items() if key not in {"title", "examples", "default"}}
    if nullable:
        kept["type"] = [kept["type"], "null"]
    return {**kept, "description": description}


def closed(description: str, **fields: JsonObject) -> dict[str, Any]:
    """An object of these fields, all present, and of no others."""
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def ref(name: str) -> dict[str, Any]:
    """The schema of this component."""
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(key: str, item: JsonObject, description: str) -> dict[str, Any]:
    """An object whose one field `key` is a list."""
    return closed(description, **{key: {"type": "array", "description": description, "items": item}})


def page_of(key: str, item: str, description: str) -> dict[str, Any]:
    """One page of a list of components `item`."""
    return closed(
        f"One page: {description}",
        **{
            key: {"type": "array", "description": f"{description} Those of this page.", "items": ref(item)},
            "page": field(INTEGER, "Number of this page, from 1."),
            "pages": field(INTEGER, "How many pages there are, at least 1."),
            "total": field(INTEGER, "How many items there are on all pages together."),
        },
    )
