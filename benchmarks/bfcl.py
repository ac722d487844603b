"""BFCL's executable classes, and what its documents say of their methods as protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.jsontypes import JsonObject
from protocols.protocol import ToolProtocol

INSTALL = "pip install --no-deps bfcl-eval mpmath"
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TicketAPI": "ticket_api",
    "MessageAPI": "message_api",
    "MathAPI": "math_api",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""Class → its module, which names its document too."""
_TYPES = {"dict": "object", "float": "number", "list": "array", "tuple": "array", "bool": "boolean", "int": "integer"}
_PLAIN = ("object", "number", "array", "boolean", "integer", "string", "null")


def protocol_of(tool: JsonObject) -> ToolProtocol:
    """A function's document as a protocol: its types are spelled as Python's."""
    return ToolProtocol(
        name=tool["name"],
        description=tool.get("description", ""),
        input_schema=_schema(tool.get("parameters", {})),
        output_schema=_schema(tool["response"]) if "response" in tool else None,
    )


def _schema(part: JsonObject) -> dict[str, Any]:
    """A schema in BFCL's own words → JSON Schema: what it names no type of is open."""
    kind = _TYPES.get(part.get("type", ""), part.get("type"))
    schema: dict[str, Any] = {"type": kind} if kind in _PLAIN else {}
    if isinstance(properties := part.get("properties"), Mapping):
        schema["properties"] = {name: _schema(inner) for name, inner in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(inner := part.get(key), Mapping):
            schema[key] = _schema(inner)
    return schema | {key: part[key] for key in ("required", "enum") if isinstance(part.get(key), list)}
