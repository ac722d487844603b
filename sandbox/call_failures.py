"""Failures of tool calls: those that pause the run, and unexpected exceptions of a tool."""

from __future__ import annotations

from protocols.errors import Outcome, ToolError
from protocols.tool import Tool
from sandbox.trace import Failure, Frame, ToolCall
from sandbox.wire import RunEnded


def pause_run(asked: ToolCall, type_: str, message: str, *, makes_calls: bool = False) -> RunEnded:
    """Return the exception that pauses a run because of a call."""
    at = (Frame(line=asked.line),)
    failure = Failure(kind="paused", type=type_, message=message, call=asked.index, frames=at)
    return RunEnded(failure, makes_calls=makes_calls)


def unexpected_error(tool: Tool, error: Exception) -> ToolError:
    """Return a `ToolError` for an unexpected exception that a tool raised.

    If the tool changes data, the outcome is `unknown`: the call may have taken effect.
    """
    outcome: Outcome = "unknown" if tool.protocol.writes else "refused"
    return ToolError(None, f"{type(error).__name__}: {error}", outcome=outcome)
