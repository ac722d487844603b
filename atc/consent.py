"""Who may write: a gate before every tool that can change something."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from dataclasses import replace

from protocols.jsontypes import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.clock import waiting_on_person
from sandbox.errors import Paused

AskPerson = Callable[[Tool, JsonObject], bool]
"""Shows a write (arguments by original name) to a person and gives their decision."""


def gated(toolbox: Toolbox, *, allowed: Collection[str], ask_person: AskPerson | None) -> Toolbox:
    """The toolbox with a gate before each write.

    A write goes through when its alias or name is in `allowed` (or `all` is), or when `ask_person` says yes. Else it
    is not sent and the run pauses.
    """
    if "all" in allowed:
        return toolbox
    return toolbox.map(lambda tool: _gate(tool, allowed, ask_person) if tool.protocol.writes else tool)


def _gate(tool: Tool, allowed: Collection[str], ask_person: AskPerson | None) -> Tool:
    if tool.alias in allowed or tool.protocol.name in allowed:
        return tool

    def call(arguments: JsonObject) -> Json:
        if ask_person is not None:
            with waiting_on_person():  # a person may take longer than a program may run
                agreed = ask_person(tool, arguments)
            if agreed:
                return tool.call(arguments)
        raise Paused(
            f"{tool.alias} may change something and was not allowed; nothing was sent."
            f" Allow it with --allow-writes {shlex.quote(tool.alias)} (or 'all')."
        )

    return replace(tool, call=call)
