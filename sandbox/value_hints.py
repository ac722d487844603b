"""Checks what a program's process says about the origin of a value in a failing expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.toolbox import Toolbox
from sandbox.frames import fingerprint
from sandbox.trace import ToolCall, ValueHint


def confirm_hint(hint: ValueHint, calls: Sequence[ToolCall], tools: Toolbox) -> ValueHint | None:
    """Check a hint that the program's process sent, and return it if it is true, else None.

    A hint says that a part of a failing expression had the value at a path in a response. It is
    true if the recorded response has the same value at this path. The returned hint has the path in
    the full response, because a program may get only a part of the response. `calls` are those of
    the execution.
    """
    if hint.call >= len(calls) or calls[hint.call].outcome != "done":
        return None
    made = calls[hint.call]
    tool = tools[made.tool]
    value = tool.unwrap(made.result)
    path = hint.path if value is made.result else (tool.wrapper or "", *hint.path)
    for step in hint.path:
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return replace(hint, path=path) if fingerprint(value) == hint.mark else None
