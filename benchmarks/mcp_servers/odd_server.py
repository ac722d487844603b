"""An MCP server over stdio whose tools, schemas and results are odd, in the standard library alone.

Each odd thing was seen in the reports of users of MCP clients.
"""

import json
import sys
from typing import Any

TEXT = {"type": "string"}


def _named(schema: Any, **more: Any) -> dict[str, Any]:
    """Return the schema of an object whose property `name` has the given schema."""
    return {"type": "object", "properties": {"name": schema}, **more}


NAMED = _named(TEXT, required=["name"])
BY_ID = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}
TUPLE = {"type": "array", "items": [TEXT, {"type": "integer"}], "additionalItems": False}
NODE = _named(TEXT) | {"properties": {"name": TEXT, "next": {"$ref": "#/$defs/Node"}}}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
SCHEMAS: dict[str, Any] = {
    "any_of_root": {"anyOf": [NAMED, BY_ID]},
    "one_of_root": {"oneOf": [NAMED, BY_ID]},
    "all_of_root": {"allOf": [NAMED, {"properties": {"id": TEXT}}]},
    "not_root": {"not": {"required": ["nothing"]}},
    "empty_root": {},
    "null_root": None,
    "true_root": True,
    "reference_root": {"$ref": "#/definitions/In", "definitions": {"In": NAMED}},
    "nullable_root": {**NAMED, "type": ["object", "null"]},
    "text_root": TEXT,
    "recursive": {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
    "draft_07_tuple": _named(TUPLE),
    "draft_04_bounds": {**_named({"minimum": 0, "exclusiveMinimum": True}), "$schema": DRAFT_4},
    "draft_03_required": _named({"type": "string", "required": True}),
    "dangling": _named({"$ref": "#/definitions/gone"}),
    "remote": _named({"$ref": "https://schemas.example/name.json"}),
    "broken_pattern": _named({"type": "string", "pattern": "(["}),
    "repeated_enum": _named({"enum": ["a", "a"]}),
    "unknown_type": _named({"type": "any"}),
    "missing_property": {"type": "object", "required": ["name"]},
    "name with spaces": NAMED,
}
"""Input schemas, keyed by the name of their tool. Each tool gives back its arguments."""
HEADED = [{"type": "text", "text": "# Title"}]
LINK = {"type": "resource_link", "uri": "a:b", "name": "b"}
RESULTS: dict[str, Any] = {
    "no_content": {"structuredContent": {"total": 36}},
    "null_content": {"content": None, "structuredContent": {"total": 36}},
    "text_for_content": {"content": "all well"},
    "object_for_content": {"content": {"total": 36}},
    "unknown_block": {"content": [{"type": "json", "json": {"doi": "10.1/x"}}]},
    "block_without_type": {"content": [{"text": "all well"}]},
    "text_beside_structure": {"content": HEADED, "structuredContent": {"path": "a.md"}},
    "list_as_structure": {"structuredContent": [1, 2]},
    "number_as_structure": {"structuredContent": 3, "content": []},
    "null_as_structure": {"structuredContent": None, "content": [{"type": "text", "text": "3.10"}]},
    "error_as_text": {"isError": "false", "content": [{"type": "text", "text": "all well"}]},
    "own_fields": {"total": 36},
    "resource_link": {"content": [LINK]},
}
"""Results, keyed by the name of the tool that gives them."""
NO_TOOLS: list[Any] = [7, {"title": "no name"}, {"name": ""}, {"name": "no_content"}]
"""Entries that are no tools, or have the name of another tool. They are left out by name."""
EXPECTED = {
    "no_content": {"total": 36},
    "null_content": {"total": 36},
    "text_for_content": "all well",
    "object_for_content": {"total": 36},
    "unknown_block": {"doi": "10.1/x"},
    "block_without_type": "all well",
    "text_beside_structure": {"structured": {"path": "a.md"}, "text": "# Title"},
    "list_as_structure": [1, 2],
    "number_as_structure": 3,
    "null_as_structure": "3.10",
    "error_as_text": "all well",
    "own_fields": {"total": 36},
    "resource_link": LINK,
}
"""What a program should get from the tools in `RESULTS`."""


def tools() -> list[Any]:
    """Return the list of tools."""
    found: list[Any] = [{"name": name, "inputSchema": SCHEMAS[name]} for name in SCHEMAS]
    found.append({"name": "no_schema"})
    found.append({"name": "list_output", "inputSchema": {}, "outputSchema": {"type": "array"}})
    found += [{"name": name, "inputSchema": {"type": "object"}} for name in RESULTS]
    return [*found, *NO_TOOLS]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": None}}
    if method == "tools/list":
        return {"tools": tools()}
    given = json.dumps(params.get("arguments") or {})
    echoed: dict[str, Any] = {"content": [{"type": "text", "text": given}]}
    found: dict[str, Any] = RESULTS.get(params["name"], echoed)
    return found


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        method = message["method"]
        if method in ("initialize", "tools/list", "tools/call"):
            reply = {"result": answer(method, message.get("params") or {})}
        else:
            reply = {"error": {"code": -32601, "message": f"no method {method}"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
