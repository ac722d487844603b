"""What the model writes for a query: its shape, how it is read, and which samples are of no use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atc.retrieve.document import ToolDocument
from atc.retrieve.replies import json_object, one_text
from protocols.jsontypes import JsonObject

MAX_TOKENS = 256
"""For one sample: a tool takes about 70, a search 50, the longest that the schemas allow about 240."""

_MOST_PARAMETERS = 8
_MOST_PHRASES = 6
_LONG = 9
"""Words from which on a text that says few different ones is taken to repeat itself."""

TOOL_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 60},
        "description": {"type": "string", "maxLength": 400},
        "parameters": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": _MOST_PARAMETERS},
    },
    "required": ["name", "description", "parameters"],
    "additionalProperties": False,
}
SEARCH_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "search": {
            "type": "array",
            "items": {"type": "string", "maxLength": 80},
            "minItems": 1,
            "maxItems": _MOST_PHRASES,
        }
    },
    "required": ["search"],
    "additionalProperties": False,
}


def read_tool(reply: str) -> ToolDocument:
    """The tool that a reply describes; without a description where it describes none.

    Parameters may also come as an object by name, or as a list of objects with names: an endpoint may not hold itself
    to the schema.
    """
    said = json_object(reply)
    return ToolDocument(
        name=one_text(said.get("name")),
        description=one_text(said.get("description")),
        parameters=dict.fromkeys(_names(said.get("parameters")), ""),
    )


def read_search(reply: str) -> str:
    """The search query of a reply, its phrases joined; empty where there is none."""
    phrases = json_object(reply).get("search")
    listed = phrases if isinstance(phrases, list) else [phrases]
    return ", ".join(text for phrase in listed[:_MOST_PHRASES] if (text := one_text(phrase)))


def fault(text: str, *, given: Iterable[str]) -> str | None:
    """Why a sample is of no use; None where it is of use. `given` are texts that the model had and may not repeat."""
    said = _words(text)
    if not any(word.strip("_0123456789") for word in said):
        return "empty or unreadable"
    if any(said == _words(other) for other in given):
        return "a copy of what the model was given"
    if len(said) >= _LONG and len(set(said)) < len(said) / 3:
        return "one phrase over and over"
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _names(parameters: object) -> list[str]:
    listed = list(parameters) if isinstance(parameters, dict | list) else []
    named = [one_text(item.get("name") if isinstance(item, dict) else item) for item in listed]
    return [name for name in named if name][:_MOST_PARAMETERS]
