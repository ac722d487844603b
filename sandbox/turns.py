"""Turns: calls of one world are sent in the order in which the program made them."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from protocols.tool import Tool
from protocols.worlds import World


class Turns:
    """The calls of one execution that wait for their turn, by world. Thread-safe.

    A world is the state behind some tools, and each call may change it. So the calls of one world
    are sent in the order in which the program made them, even if it made them concurrently. Calls
    of tools without a world never wait.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        worlds = {tool.world for tool in tools.values() if tool.world is not None}
        for world in worlds:
            world.begin()
        self._waiting: dict[World, list[int]] = {world: [] for world in worlds}
        self._changed = threading.Condition()

    def take(self, tool: Tool, index: int) -> None:
        """Add the call with this index to the end of the queue of its world."""
        if tool.world is not None:
            with self._changed:
                self._waiting[tool.world].append(index)

    def wait(self, tool: Tool, index: int) -> None:
        """Wait until all earlier calls of the same world have an outcome, or this call has one."""
        if tool.world is not None:
            waiting = self._waiting[tool.world]
            with self._changed:
                self._changed.wait_for(lambda: index not in waiting or waiting[0] == index)

    def end(self, tool: Tool, index: int) -> None:
        """Record that a call has an outcome, so that the next call of its world can be sent."""
        if tool.world is not None:
            with self._changed:
                self._waiting[tool.world].remove(index)
                self._changed.notify_all()
