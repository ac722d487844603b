"""Fields of the baseball service's responses and the forms of its ids, each described once."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject


def identifier(prefix: str, title: str) -> JsonObject:
    """The schema of an opaque id such as `pl_x3f6q`."""
    return {"type": "string", "title": title, "pattern": f"^{prefix}_[a-z2-7]{{5}}$"}


PLAYER_ID = identifier("pl", "an opaque player id")
TEAM_ID = identifier("tm", "an opaque id of a team's season")
FRANCHISE_ID = identifier("fr", "an opaque franchise id")
PARK_ID = identifier("pk", "an opaque park id")
SCHOOL_ID = identifier("sc", "an opaque school id")
AWARD_ID = identifier("aw", "an opaque award id")
SERIES_ID = identifier("se", "an opaque id of a postseason series")
STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}
BOOLEAN: JsonObject = {"type": "boolean"}
DATE: JsonObject = {
    "type": "string",
    "title": "a date",
    "format": "date",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "examples": ["1955-10-04"],
}
LEAGUE: JsonObject = {"type": "string", "enum": ["AL", "NL", "AA", "FL", "NA", "PL", "UA"]}
SLOT: JsonObject = {"type": "string", "enum": ["C", "1B", "2B", "3B", "SS", "OF", "DH", "SP", "RP"]}
PURPOSE: JsonObject = {"type": "string", "enum": ["scouting", "tryout", "ceremony", "filming"]}
CATEGORY: JsonObject = {"type": "string", "enum": ["best_hitter", "best_pitcher", "best_manager", "best_season"]}
ROLE: JsonObject = {"type": "string", "enum": ["hitter", "pitcher", "coach"]}
CHANNEL: JsonObject = {"type": "string", "enum": ["phone", "video", "studio"]}
OCCASION: JsonObject = {"type": "string", "enum": ["title", "anniversary", "opening"]}
MINUTES: JsonObject = {"type": "integer", "minimum": 5, "maximum": 120}
PRIORITY: JsonObject = {"type": "integer", "minimum": 1, "maximum": 5}
GRADE: JsonObject = {"type": "integer", "minimum": 20, "maximum": 80}
CASH: JsonObject = {"type": "integer", "minimum": 0, "maximum": 500_000_000}


def field(schema: JsonObject, description: str, *, nullable: bool = False) -> dict[str, Any]:
    """`schema` with a description, as a response has it."""
    kept = {key: value for key, value in schema.items() if key not in {"title", "examples"}}
    if nullable:
        kept["type"] = [kept["type"], "null"]
        if "enum" in kept:
            kept["enum"] = [*kept["enum"], None]
    return {**kept, "description": description}


def counted(what: str) -> dict[str, Any]:
    """A count that old records may lack."""
    return field(INTEGER, f"{what}; null where it was not recorded.", nullable=True)


def closed(description: str, **fields: JsonObject) -> dict[str, Any]:
    """An object of exactly these fields."""
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def reference(name: str) -> dict[str, Any]:
    """A schema of the service by name."""
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(key: str, item: str, description: str) -> dict[str, Any]:
    """An object whose one field is a list."""
    return closed(description, **{key: {"type": "array", "description": description, "items": reference(item)}})


def page_of(key: str, item: str, description: str) -> dict[str, Any]:
    """One page of a list, and how many there are."""
    return closed(
        f"One page: {description}",
        **{
            key: {"type": "array", "description": f"{description} Those of this page.", "items": reference(item)},
            "page": field(INTEGER, "Number of this page, from 1."),
            "pages": field(INTEGER, "How many pages there are, at least 1."),
            "total": field(INTEGER, "How many items there are on all pages together."),
        },
    )
