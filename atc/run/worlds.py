"""The worlds of one run. A world is the state behind the tools of a factory, or a session."""

from __future__ import annotations

from dataclasses import replace

from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.worlds import World


def open_worlds(toolbox: Toolbox) -> Toolbox:
    """Return the toolbox for one run, in which each tool with a state has its world.

    The tools of a factory share one world, which is new in each run. The session tools of any other
    source have one world for all runs, because their session continues from run to run.
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
