"""Response schemas in one style: closed objects whose fields all have a description, lists and pages of them."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject

INTEGER: JsonObject = {"type": "integer"}


def field(schema: JsonObject, description: str, *, nullable: bool = False) -> dict[str, Any]:
    """`schema` with a description, for a response; `nullable` also allows null."""
    kept = {key: value for key, value in schema.items() if key not in {"title", "examples"}}
    if nullable:
        kept["type"] = [kept["type"], "null"]
    return {**kept, "description": description}


def closed(description: str, **fields: JsonObject) -> dict[str, Any]:
    """An object of exactly these fields."""
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def list_of(key: str, item: JsonObject, description: str) -> dict[str, Any]:
    """An object of one field, which lists `item`s."""
    return closed(description, **{key: {"type": "array", "description": description, "items": item}})


def page_of(key: str, item: str, description: str) -> dict[str, Any]:
    """A page of items of the schema named `item`."""
    return closed(
        f"One page: {description}",
        **{
            key: {"type": "array", "description": f"{description} Those of this page.", "items": ref(item)},
            "page": field(INTEGER, "Number of this page, from 1."),
            "pages": field(INTEGER, "How many pages there are, at least 1."),
            "total": field(INTEGER, "How many items there are on all pages together."),
        },
    )


def ref(name: str) -> dict[str, Any]:
    """The schema of this name."""
    return {"$ref": f"#/components/schemas/{name}"}
