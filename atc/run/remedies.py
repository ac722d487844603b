"""Pauses a run after a failure that only a person can put right: with the remedy, to be resumed."""

from __future__ import annotations

import ast
from dataclasses import replace

from atc.core.types import Program
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED, find_failed_call
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.trace import Failure, ToolCall, Trace


def pause_for_remedy(trace: Trace, program: Program, tools: Toolbox, journal: Journal) -> Trace:
    """Return a trace as paused if a call ended `program` that only a person can make succeed.

    Examples are a refused or missing credential and a service that is down. The message of the
    failure says what to do. The trace is unchanged if the program caught the error and went on.

    A 403 may also mean that the program asks for what it may not have. So it pauses the run only if
    no call with the same credential has succeeded in this run.
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
    """Return the remedies of calls without which the program has ended well, as sentences.

    Its answer counts, but the user should know what was missing. A 403 is left out, because a
    program may well have to find out what it is allowed to do.
    """
    if trace.failure is not None:
        return []
    remedies = [call.remedy for call in trace.calls if call.remedy and call.status != 403]
    return [f"the program went on without a call: {one}" for one in dict.fromkeys(remedies)]


def _find_grouped_call(failure: Failure, trace: Trace) -> ToolCall | None:
    """Return a call that failed in a `TaskGroup`, whose exception is a group, or None."""
    return _last_with_remedy(trace) if "ExceptionGroup" in failure.type else None


def _find_caught_call(failure: Failure, trace: Trace, program: Program) -> ToolCall | None:
    """Return the failed call whose error a handler turned into the failure, or None."""
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
