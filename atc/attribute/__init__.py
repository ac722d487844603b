"""Attribution: from a program, its findings, its trace and its tools to one `Fault`, by facts alone.

The call that is blamed produced what the program stumbled over; it is often not the one on the failing line. No model,
no clock and no network is asked: the same arguments give the same fault.
"""

from __future__ import annotations

from dataclasses import replace

from atc.attribute.blame import Record
from atc.attribute.endings import from_limit, without_answer
from atc.attribute.facts import invocation
from atc.attribute.findings import from_findings
from atc.attribute.misread import from_exception, from_unfilled
from atc.attribute.paths import Origin, origins
from atc.attribute.refused import from_tool_error
from atc.types import Fact, Fault, FaultKind, Finding, Program
from protocols.toolbox import Toolbox
from sandbox.calls import UNKNOWN_OUTCOME
from sandbox.trace import Failure, ToolCall, Trace

__all__ = ["Origin", "attribute", "origins"]


def attribute(program: Program, findings: tuple[Finding, ...], trace: Trace | None, tools: Toolbox) -> Fault | None:
    """What went wrong, or None when the program finished with an answer: it printed something, or has a value."""
    if findings:
        return from_findings(program, findings, tools)
    fault = None if trace is None else _executed(program, trace, tools)
    made = [call.within for call in trace.calls if fault is not None and call.index == fault.call] if trace else []
    if fault is None or not made or made[0] is None:
        return fault
    within = Fact(kind="call", text=f"The saved tool {made[0]!r} made this call within itself.", call=fault.call)
    return replace(fault, evidence=(within, *fault.evidence))


def _executed(program: Program, trace: Trace, tools: Toolbox) -> Fault | None:
    failure = trace.failure
    if failure is None and (trace.stdout.strip() or trace.value is not None):
        return None
    if failure is not None and failure.kind in ("syntax", "policy", "paused"):
        return _stopped(program, failure, trace)
    record = Record(program.source, trace, tools)
    if failure is None:
        return without_answer(record)
    if failure.kind == "limit":
        return from_limit(program, failure, record)
    if (call := _failed_call(failure, trace)) is not None:
        fault = from_tool_error(failure, call, record)
        own = fault.kind == "bad_arguments" and fault.call == call.index and fault.path is not None
        return (from_unfilled(failure, call, fault.path or "", record) if own else None) or fault
    return from_exception(program, failure, record)


def _stopped(program: Program, failure: Failure, trace: Trace) -> Fault:
    """A program that never ran, or was not allowed to go on."""
    line = failure.line
    head = f"line {line}: " if line is not None else ""
    call = next((c for c in trace.calls if c.index == failure.call), None)
    evidence = [Fact(kind="line", text=f"Line {line} is `{program.line(line)}`.")] if program.line(line) else []
    kind: FaultKind = "syntax" if failure.kind == "syntax" else "policy"
    if failure.kind == "paused" and failure.type == UNKNOWN_OUTCOME:
        kind = "unknown_outcome"
        if call is not None:
            evidence.insert(0, Fact(kind="call", text=f"The call was {invocation(call)}.", call=call.index))
        told = "Find out with a read whether it took effect before calling it again."
        evidence.append(Fact(kind="advice", text=told))
    return Fault(
        kind=kind,
        message=f"{head}{failure.type}: {failure.message}" if failure.type else f"{head}{failure.message}",
        call=failure.call,
        tool=call.tool if call else None,
        line=line,
        evidence=tuple(evidence),
    )


def _failed_call(failure: Failure, trace: Trace) -> ToolCall | None:
    """The failed call that an exception is about."""
    if failure.call is not None:
        known = next((call for call in trace.calls if call.index == failure.call), None)
        if known is not None and known.error is not None:
            return known
    if failure.type.rpartition(".")[2] != "ToolError":
        return None
    failed = [call for call in trace.calls if call.error is not None]
    on_line = [call for call in failed if any(frame.line == call.line for frame in failure.frames)]
    return next(reversed(on_line or failed), None)
