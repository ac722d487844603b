"""An MCP server → protocols. What it says of its tools is data; what it promises is not believed by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.mcp import Servers
from protocols.protocol import Annotations, McpBinding, ToolProtocol
from protocols.schema import compiles


def read_mcp(text: str, servers: Servers, *, name: str = "", trusted: bool = False) -> tuple[str, list[ToolProtocol]]:
    """The server's name and the tools of the MCP server that `text` spells (`mcp:COMMAND ARGS`, `mcp:https://…`).

    `trusted`: what the server says of its tools' effects is believed, as it also is where the settings say so.

    Raises:
        SourceUnavailable: it has no tools, or see `Servers.open`.
        InvalidProtocol: a tool has no name.
    """
    known_as, server, tools = servers.open(text, name=name)
    if not tools:
        raise SourceUnavailable(f"the MCP server {known_as!r} ({text}) has no tools.")
    return known_as, [_protocol(tool, known_as, trusted=trusted or server.trusted) for tool in tools]


def believed(hints: Json, *, trusted: bool) -> Annotations:
    """What a tool is taken to do. MCP says that hints are untrusted, and a name proves nothing.

    A hint that asks for more care is always heeded, one that asks for less (it only reads) only of a trusted server.
    """
    said = Annotations.of(hints if isinstance(hints, Mapping) else {})
    if trusted and said.read_only and not said.destructive:
        return Annotations(read_only=True)
    return replace(said, read_only=False) if trusted else Annotations(read_only=False).heeding(said)


def _protocol(tool: JsonObject, server: str, *, trusted: bool) -> ToolProtocol:
    if not (name := str(tool.get("name", ""))):
        raise InvalidProtocol(f"the MCP server {server!r}", "one of its tools has no name.")
    given = tool.get("inputSchema")
    properties = given.get("properties") if isinstance(given, Mapping) else None
    # Of a schema that is none as a whole, those of the arguments that are.
    parts = (
        {str(key): _usable(part) or {} for key, part in properties.items()} if isinstance(properties, Mapping) else {}
    )
    return ToolProtocol(
        name=name,
        title=str(tool.get("title") or (tool.get("annotations") or {}).get("title") or ""),
        description=str(tool.get("description") or "").strip(),
        input_schema={"type": "object", "properties": {}, **(_usable(given) or {"properties": parts})},
        output_schema=_usable(tool.get("outputSchema")),
        annotations=believed(tool.get("annotations"), trusted=trusted),
        binding=McpBinding(server=server, tool=name),
        collection=server,
    )


def _usable(schema: Json) -> dict[str, Any] | None:
    """A schema that stands for itself, whatever dialect and address it claims; `None` where it is none."""
    if not isinstance(schema, Mapping):
        return None
    own = {key: part for key, part in schema.items() if key not in ("$schema", "$id")}
    return own if compiles(own) else None
