"""How a tool is told of in a list."""

from __future__ import annotations

from typing import Any

from protocols.toolbox import Tool


def line_of(tool: Tool) -> dict[str, Any]:
    """A tool as an object of a list in JSON."""
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


def summary(tool: Tool) -> str:
    """What a tool does, on one line."""
    text = tool.protocol.description or tool.protocol.title
    return " ".join(text.partition("\n\n")[0].split())
