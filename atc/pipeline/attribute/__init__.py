"""Attribution: find the one `Fault` that explains why a program failed.

It uses the program's findings, trace and tools. The blamed call is the one that produced the value
with which the program failed; it is often not on the failing line. Attribution uses no model, no
clock and no network: the same arguments give the same fault.
"""

from __future__ import annotations

import re
from dataclasses import replace

from atc.core.json_paths import ResponseOrigin, find_origins
from atc.core.messages import format_tool_call
from atc.core.program import Program
from atc.core.types import Fact, Fault, Finding
from atc.pipeline.attribute.blame import AttributionTrace
from atc.pipeline.attribute.exceptions import from_exception, from_unfilled
from atc.pipeline.attribute.failed_calls import (
    REMEDY_NEEDED,
    find_failed_call,
    from_tool_error,
)
from atc.pipeline.attribute.findings import from_findings
from atc.pipeline.attribute.limits import from_limit, without_answer
from protocols.toolbox import Toolbox
from sandbox.calls import UNKNOWN_OUTCOME
from sandbox.lost_writes import CONFIRMED
from sandbox.trace import Failure, ToolCall, Trace

__all__ = ["ResponseOrigin", "attribute", "find_origins"]

_AWAITING = re.compile(
    r"'await' expression|can't be awaited|'(coroutine|Task|Future|_GatheringFuture)' object"
    r"|coroutine was expected|awaitable is required|event loop|takes awaitables"
)
"""Part of the message of an error that a program made with `asyncio` itself."""


def attribute(
    program: Program, findings: tuple[Finding, ...], trace: Trace | None, tools: Toolbox
) -> Fault | None:
    """Return the fault of a program, or None if it gave an answer.

    An answer is any printed text, or else the value of the last expression. A program that only
    looks at values, with `look`, needs none.
    """
    if findings:
        return from_findings(program, findings, tools)
    fault = None if trace is None else _attribute_run(program, trace, tools)
    if fault is None or trace is None:
        return fault
    blamed = next((call for call in trace.calls if call.index == fault.call), None)
    facts = () if blamed is None else _describe_origin(blamed)
    return replace(fault, evidence=(*facts, *fault.evidence))


def _describe_origin(call: ToolCall) -> list[Fact]:
    """Return facts about a blamed call that its arguments and its result do not show."""
    texts = []
    if call.within is not None:
        texts.append(f"The saved tool {call.within!r} made this call within itself.")
    if call.note == CONFIRMED:
        texts.append(f"{format_tool_call(call)} has the result None. {CONFIRMED}")
    return [Fact(kind="call", text=text, call=call.index) for text in texts]


def _attribute_run(program: Program, trace: Trace, tools: Toolbox) -> Fault | None:
    """Return the fault of a program that was executed, or None if it gave an answer.

    `trace` is the record of this execution: the tool calls, the output and the exception, if any.
    """
    failure = trace.failure
    is_output = bool(trace.stdout.strip() or trace.looked or trace.value is not None)
    if failure is None and is_output:
        return None
    if failure is not None and failure.kind in ("syntax", "policy", "paused"):
        return _attribute_stop(program, failure, trace)
    record = AttributionTrace(program, trace, tools)
    if failure is None:
        return without_answer(record)
    if failure.kind == "limit":
        return from_limit(program, failure, record)
    if (call := find_failed_call(failure, trace)) is not None:
        fault = from_tool_error(failure, call, record)
        own = fault.path if fault.call == call.index else None
        return (from_unfilled(failure, call, own, record) if own is not None else None) or fault
    if failure.type != "KeyError" and _AWAITING.search(failure.message) is not None:
        # What calls returned is not the cause.
        record = AttributionTrace(program, replace(trace, calls=()), tools)
    return from_exception(program, failure, record)


def _attribute_stop(program: Program, failure: Failure, trace: Trace) -> Fault:
    """Return the fault of a program that the sandbox refused or stopped before its end.

    The program did not compile, was refused by the sandbox's policy, or was paused until a person
    decides about one of its calls.
    """
    line = failure.line
    kind = "syntax" if failure.kind == "syntax" else "policy"
    call = next((c for c in trace.calls if c.index == failure.call), None)
    evidence = (
        [Fact(kind="line", text=f"Line {line} is `{program.line(line)}`.")]
        if program.line(line)
        else []
    )
    if failure.kind == "paused" and failure.type == UNKNOWN_OUTCOME and call is not None:
        kind = "unknown_outcome"
        evidence.insert(
            0, Fact(kind="call", text=f"The call was {format_tool_call(call)}.", call=call.index)
        )
        advice = "Find out with a read whether it took effect before calling it again."
        evidence.append(Fact(kind="advice", text=advice))
    head = f"line {line}: " if line is not None else ""
    message = head + (f"{failure.type}: " if failure.type else "") + failure.message
    if failure.type == REMEDY_NEEDED:
        kind = "tool_failed"
        message = head + failure.message
    tool = call.tool if call else None
    return Fault(
        kind=kind,  # type: ignore[arg-type]
        message=message,
        call=failure.call,
        tool=tool,
        line=line,
        evidence=tuple(evidence),
    )
