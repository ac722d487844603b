"""Descriptions of tools: as text for people, and as objects in lists of JSON."""

from __future__ import annotations

from typing import Any

from protocols.protocol import format_binding
from protocols.render import FULL, stubs
from protocols.tool import Tool
from protocols.toolbox import Toolbox


def tool_document(tool: Tool) -> dict[str, Any]:
    """Return a tool as a JSON object for a list, such as that of `atc tools list --json`."""
    return {
        "alias": tool.alias,
        "name": tool.protocol.name,
        "source": tool.source,
        "writes": tool.protocol.writes,
        "title": tool.protocol.title,
        "description": tool.protocol.description,
        "arguments": list(tool.arguments),
        "required": sorted(tool.required),
    }


def describe_tool(tool: Tool) -> str:
    """Return the first paragraph of a tool's description, on one line."""
    text = tool.protocol.description or tool.protocol.title
    return " ".join(text.partition("\n\n")[0].split())


def effect(tool: Tool) -> str:
    """Return the effect of a tool: `writes` if the tool may change something, else `reads`."""
    return "writes" if tool.protocol.writes else "reads"


def format_tool(tool: Tool, toolbox: Toolbox) -> str:
    """Return a text about a tool for people.

    It contains the tool's stub, how the tool is called, its errors, and which tools return the ids
    that its arguments need.
    """
    protocol = tool.protocol
    how = format_binding(protocol.binding) or "no binding, so it cannot be called"
    lines = [stubs(toolbox.only([tool.alias]), detail=FULL), ""]
    lines.append(f"# {effect(tool)}; {how}; from {tool.source or 'an unnamed source'}")
    errors = {error.status: " ".join(error.description.split()) for error in protocol.errors}
    lines += [f"# {status}: {meaning}".removesuffix(": ") for status, meaning in errors.items()]
    aliases = {(one.source, one.protocol.name): one.alias for one in toolbox.values()}
    for link in protocol.links:
        producer = aliases.get((tool.source, link.tool), link.tool)
        lines.append(f"# {link.argument}: from {producer} at {link.path} ({link.support})")
    return "\n".join(lines)
