"""Pauses a run after a failure that only a person can correct.

The message of the pause says what the person must do (the remedy). Then the run can be resumed.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from atc.core.types import Program
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED, find_failed_call
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.trace import Failure, ToolCall, Trace


def pause_for_remedy(trace: Trace, program: Program, tools: Toolbox, journal: Journal) -> Trace:
    """Return the trace of `program` as paused if it failed in a way that only a person can correct.

    This is so if a failed call ended the program, and the call has a remedy. Examples are a refused
    or missing credential and a service that is down. The failure's message becomes the remedy. The
    trace is unchanged if the program caught the error and continued.

    A 403 may also mean that the program asked for something that it is not allowed to have. So a
    403 pauses the run only if no call with the same credential has succeeded in this run.
    """
    failure = trace.failure
    if failure is None or failure.kind != "exception":
        return trace
    uncaught = find_failed_call(failure, trace) or _find_grouped_call(failure, trace)
    call = uncaught or _find_caught_call(failure, trace, program)
    if call is None or call.remedy is None:
        return trace
    if call.status == 403 and (uncaught is None or _has_worked(call, tools, journal)):
        return trace
    pause = Failure(
        kind="paused",
        type=REMEDY_NEEDED,
        message=call.remedy,
        frames=failure.frames,
        call=call.index,
    )
    return replace(trace, failure=pause)


def skipped_remedies(trace: Trace) -> list[str]:
    """Return sentences with the remedies of failed calls, if the program succeeded without them.

    The answer of the program counts, but the user should know what was missing. A 403 is left out,
    because a program may have to find out what it is allowed to do.
    """
    if trace.failure is not None:
        return []
    remedies = [call.remedy for call in trace.calls if call.remedy and call.status != 403]
    return [f"the program went on without a call: {one}" for one in dict.fromkeys(remedies)]


def _find_grouped_call(failure: Failure, trace: Trace) -> ToolCall | None:
    """Return a failed call that has a remedy if the failure is an `ExceptionGroup`, or None.

    An `asyncio.TaskGroup` raises an `ExceptionGroup` if a call in one of its tasks fails.
    """
    return _last_with_remedy(trace) if "ExceptionGroup" in failure.type else None


def _find_caught_call(failure: Failure, trace: Trace, program: Program) -> ToolCall | None:
    """Return a failed call that has a remedy if an `except` handler raised the failure, or None."""
    handlers = [node for node in ast.walk(program.tree) if isinstance(node, ast.ExceptHandler)]
    line = failure.line or 0
    is_handled = any(node.lineno <= line <= (node.end_lineno or 0) for node in handlers)
    return _last_with_remedy(trace) if is_handled else None


def _last_with_remedy(trace: Trace) -> ToolCall | None:
    return next((call for call in reversed(trace.calls) if call.remedy is not None), None)


def _has_worked(call: ToolCall, tools: Toolbox, journal: Journal) -> bool:
    """Return True if a call with one of the same credentials has succeeded in this run."""
    sent = set(tools[call.tool].credentials)
    done = {made.tool for made in journal.completed_calls() if made.tool in tools}
    return any(sent & set(tools[tool].credentials) for tool in done)
