"""The worlds of one run: the states behind tools of a factory, and behind sessions."""

from __future__ import annotations

from dataclasses import replace

from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.worlds import World


def open_worlds(toolbox: Toolbox) -> Toolbox:
    """Return the toolbox for one run. Tools of a factory have a world of their own in each run.

    All tools of a factory share one world. The session of another source has one place for all
    runs, so that a run knows if it begins where another one ended.
    """
    worlds: dict[object, World] = {}

    def settle(tool: Tool) -> Tool:
        if tool.world is not None:
            tool.world.begin_run()
        if tool.world is not None or (tool.fresh is None and tool.effect != "session"):
            return tool
        name = repr(tool.source or tool.alias)
        key = tool.fresh or (tool.source, tool.place)
        return replace(tool, world=worlds.setdefault(key, World(name, tool.fresh)))

    return toolbox.map(settle)


def worlds_of(toolbox: Toolbox) -> list[World]:
    """Return the worlds of the tools, each once."""
    return list({tool.world: None for tool in toolbox.values() if tool.world is not None})
