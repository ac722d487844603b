"""Pauses a run after a failure that only a person can correct.

The message of the pause says what the person must do (the remedy). Then the run can be resumed.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from atc.core.program import Program
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.trace import Failure, ToolCall, Trace


def pause_for_remedy(trace: Trace, program: Program, tools: Toolbox, journal: Journal) -> Trace:
    """Return the trace of `program` as paused if it failed in a way that only a person can correct.

    This is so if a failed call ended the program, and the call has a remedy. Examples are a refused
    or missing credential and a service that is down. The failure's message becomes the remedy. The
    trace is unchanged if the program caught the error and continued, even if it failed later.

    A 403 may also mean that the program asked for something that it is not allowed to have. So a
    403 pauses the run only if no call with the same credential has succeeded in this run.
    """
    failure = trace.failure
    if failure is None or failure.kind != "exception":
        return trace
    failed = [call for call in trace.calls if call.error is not None]
    uncaught = next((call for call in failed if call.index == failure.call), None)
    call = uncaught or _find_handled_call(failure, trace, program)
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


def _find_handled_call(failure: Failure, trace: Trace, program: Program) -> ToolCall | None:
    """Return the failed call after which an `except` handler ended the program, or None.

    The handler must have raised the failure itself. A mistake within the handler, such as a wrong
    key, is the program's own.
    """
    if not _is_raised(failure, program):
        return None
    for frame in reversed(failure.frames):
        body = _find_tried_statements(program, frame.line)
        if body is not None:
            lines = _executed_lines(body, program)
            failed = [call for call in trace.calls if call.error is not None]
            return next((call for call in reversed(failed) if call.line in lines), None)
    return None


def _is_raised(failure: Failure, program: Program) -> bool:
    """Return True if the program raised the exception by a `raise` statement, or exited."""
    if failure.type == "SystemExit":
        return True
    raised = failure.type.rpartition(".")[2]
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Raise) and failure.line in _lines(node):
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = "" if named is None else ast.unparse(named).rpartition(".")[2]
            is_variable = isinstance(node.exc, ast.Name) and raised != "NameError"
            if name == raised or is_variable:
                return True
    return False


def _find_tried_statements(program: Program, line: int) -> list[ast.stmt] | None:
    """Return the statements in the `try` whose `except` handler is executed at `line`, or None."""
    found = [
        (handler.lineno, node.body)
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Try | ast.TryStar)
        for handler in node.handlers
        if line in _lines(handler)
    ]
    return max(found, key=lambda one: one[0])[1] if found else None


def _executed_lines(body: list[ast.stmt], program: Program) -> set[int]:
    """Return the lines of these statements, and of the program's functions that they may call."""
    functions = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lines: set[int] = set()
    left: list[ast.stmt] = list(body)
    while left:
        statement = left.pop()
        lines.update(_lines(statement))
        names = {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(statement)}
        left += [function for function in functions if function.name in names]
        functions = [function for function in functions if function.name not in names]
    return lines


def _lines(node: ast.stmt | ast.ExceptHandler) -> range:
    """Return the numbers of the lines that a syntax node spans."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _has_worked(call: ToolCall, tools: Toolbox, journal: Journal) -> bool:
    """Return True if a call with one of the same credentials has succeeded in this run."""
    sent = set(tools[call.tool].credentials)
    done = {made.tool for made in journal.completed_calls() if made.tool in tools}
    return any(sent & set(tools[tool].credentials) for tool in done)
