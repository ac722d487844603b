"""The worlds of one run: the states behind tools of a factory, and behind sessions."""

from __future__ import annotations

from dataclasses import replace

from protocols.toolbox import Tool, Toolbox
from protocols.worlds import World


def open_worlds(toolbox: Toolbox) -> Toolbox:
    """Return the toolbox for one run. Its tools have worlds of their own, apart from other runs.

    All tools of a factory share one world, and so do all session tools of another source.
    """
    worlds: dict[object, World] = {}

    def settle(tool: Tool) -> Tool:
        if tool.fresh is None and tool.effect != "session":
            return tool
        name = repr(tool.source or tool.alias)
        key = tool.fresh or (tool.source, tool.place)
        return replace(tool, world=worlds.setdefault(key, World(name, tool.fresh)))

    return toolbox.map(settle)


def worlds_of(toolbox: Toolbox) -> list[World]:
    """Return the worlds of the tools, each once."""
    return list({tool.world: None for tool in toolbox.values() if tool.world is not None})
