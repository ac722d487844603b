"""The parts of a run that a notebook shows when the run has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable

from atc.core.messages import format_tool_call
from atc.core.solution_block import ShownRun
from atc.core.text import clipped, count
from atc.core.types import Solution
from protocols.schema import shape
from sandbox.trace import ToolCall

_LONGEST_CALL = 300
"""Maximum number of characters of a call."""


def describe_solution(solution: Solution, redact: Callable[[str], str]) -> ShownRun:
    """Return what the block of a solution shows, with secrets replaced by `redact`.

    They are the last program with its calls, and what speaks against the answer.
    """
    last = solution.attempts[-1] if solution.attempts else None
    seconds = f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model)"
    steps = f"{count(solution.call_count, 'call')}, {count(solution.repairs, 'repair')}"
    facts = f"{seconds}, {steps}, {solution.usage.tokens} tokens"
    return ShownRun(
        facts=f"{facts} · run {solution.run_id}" if solution.run_id else facts,
        program="" if last is None else redact(last.program.source),
        calls=[_describe_call(call, redact) for call in last.calls] if last is not None else [],
        remarks=[(label, redact(text)) for label, text in _list_remarks(solution)],
    )


def _describe_call(call: ToolCall, redact: Callable[[str], str]) -> str:
    """Return a call with the shape of its result, or its error, and how long it took."""
    came = call.error if call.error is not None else shape(call.result, depth=1)
    took = "from the journal" if call.reused else f"{call.seconds * 1000:.0f} ms"
    text = redact(f"{format_tool_call(call, most=sys.maxsize)} → {came}")
    return f"{clipped(text, _LONGEST_CALL)} · {took}"


def _list_remarks(solution: Solution) -> list[tuple[str, str]]:
    """Return the doubts, the reason of a failure and the notes of a run, each with a label."""
    remarks = [("doubt", doubt) for doubt in solution.doubts]
    if solution.status in ("failed", "paused") and solution.problem is not None:
        fault = solution.attempts[-1].fault if solution.attempts else None
        remarks.append((solution.status if fault is None else "fault", solution.problem))
        facts = () if fault is None else fault.evidence
        remarks += [("", one.text) for one in facts if one.text[:-1] not in solution.problem]
    return [*remarks, *(("note", note) for note in solution.notes)]
