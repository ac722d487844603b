"""Tools for benchmarks, described as `ToolProtocol`s: those of ToolFlow's services and of BFCL.

BFCL is the Berkeley Function-Calling Leaderboard. Its tools are the methods of Python classes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protocols.protocol import ToolProtocol
from protocols.schema import JsonObject
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from toolflow_bench.services.document import document
from toolflow_bench.services.service import NAMES, find_service

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
"""The BFCL module of each class. The document of the class has the same name as the module."""
_TYPES = {
    "dict": "object",
    "float": "number",
    "list": "array",
    "tuple": "array",
    "bool": "boolean",
    "int": "integer",
}
_PLAIN = ("object", "number", "array", "boolean", "integer", "string", "null")


def protocol_of(tool: JsonObject) -> ToolProtocol:
    """Convert BFCL's description of a function to a `ToolProtocol`.

    The types in BFCL's descriptions have Python's names.
    """
    return ToolProtocol(
        name=tool["name"],
        description=tool.get("description", ""),
        input_schema=_schema(tool.get("parameters", {})),
        output_schema=_schema(tool["response"]) if "response" in tool else None,
    )


def _schema(part: JsonObject) -> dict[str, Any]:
    """Convert a schema with Python's type names to JSON Schema.

    An unknown type becomes a schema without a type, which accepts any value.
    """
    kind = _TYPES.get(part.get("type", ""), part.get("type"))
    schema: dict[str, Any] = {"type": kind} if kind in _PLAIN else {}
    if isinstance(properties := part.get("properties"), Mapping):
        schema["properties"] = {name: _schema(inner) for name, inner in properties.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(inner := part.get(key), Mapping):
            schema[key] = _schema(inner)
    return schema | {
        key: part[key] for key in ("required", "enum") if isinstance(part.get(key), list)
    }


def service_tools() -> Toolbox:
    """Return the tools of ToolFlow's services, built from their OpenAPI documents.

    No service runs, so the tools cannot be called.
    """
    with TemporaryDirectory() as folder:
        sources = []
        for name in NAMES:
            service = find_service(name)
            about: dict[str, Any] = {
                "info": service.info,
                "schemas": service.schemas,
                "server": "http://localhost",
            }
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(document(service.operations, **about)), encoding="utf-8")
            sources.append(f"{name}={path}")
        return load_tools(*sources)


def bfcl_tools(data: Path) -> dict[str, Toolbox]:
    """Return the functions of BFCL's executable classes as tools, keyed by the module of the class.

    The tools cannot be called.
    """
    documents = json.loads((data / "bfcl" / "func_docs.json").read_text(encoding="utf-8"))
    found = {}
    for module in CLASSES.values():
        protocols = map(protocol_of, documents[module])
        found[module] = Toolbox([Tool(protocol, dict, source=module) for protocol in protocols])
    return found
