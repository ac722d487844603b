"""The parts of a gateway's reply about a run: its calls, its faults, and what a person must
decide.
"""

from __future__ import annotations

from typing import TypeAlias

from atc.core.messages import format_tool_call
from atc.core.types import Attempt, Fault, Finding, Program, Solution, parse_answer
from protocols.schema import Json, shape
from sandbox.base import CallDeclined
from sandbox.trace import ToolCall

GatewayReply: TypeAlias = dict[str, Json]


def answer_of(attempt: Attempt) -> Json:
    """Return what was printed, parsed if it is JSON or a Python literal; else the value of the last
    expression.
    """
    assert attempt.trace is not None
    printed = attempt.trace.stdout.strip()
    return parse_answer(printed) if printed else attempt.trace.value


def call_line(call: ToolCall) -> str:
    """Return a call on one line: `get_film(film_id=7) → {title: string} · 12 ms`."""
    came = shape(call.result) if call.error is None else f"{call.outcome}: {call.error[:200]}"
    took = "reused" if call.reused else f"{call.seconds * 1000:.0f} ms"
    within = f"{call.within}: " if call.within else ""
    return f"line {call.line}: {within}{format_tool_call(call, most=80)} → {came[:300]} · {took}"


def describe_finding(finding: Finding, program: Program) -> GatewayReply:
    """Return a finding together with the line of the program that it is about."""
    found: dict[str, Json] = {
        "line": finding.line,
        "code": program.line(finding.line),
        "problem": finding.message,
    }
    if finding.suggestion and finding.suggestion not in finding.message:
        found["suggestion"] = finding.suggestion
    return found


def describe_fault(fault: Fault) -> GatewayReply:
    """Return a fault with the blamed call and the evidence."""
    more = {
        "line": fault.line,
        "blamed_call": fault.tool,
        "evidence": [fact.text for fact in fault.evidence] or None,
    }
    told = {name: value for name, value in more.items() if value is not None}
    return {"kind": fault.kind, "problem": fault.message, **told}


def is_declined(solution: Solution) -> bool:
    """Return True if the run stopped because a person said no."""
    last = solution.attempts[-1]
    failure = last.trace.failure if last.trace is not None else None
    return last.paused and failure is not None and failure.type == CallDeclined.__name__


def next_step(solution: Solution, handle: str) -> str:
    """Return what a person must decide, and what the client does after that.

    It names no command, since the client could run it.
    """
    last = solution.attempts[-1]
    failure = last.trace.failure if last.trace is not None else None
    if failure is None:
        return (
            "Writes of earlier programs of this run stand that this one does not make: undo them in a program that"
            " continues it, or a person lets them stand."
        )
    return f"{failure.message.rstrip('.')}. When a person has decided, call resume_run(run={handle!r})."
