"""What a notebook shows of a run that has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable

from atc.core.messages import format_tool_call
from atc.core.solution_block import ShownRun
from atc.core.text import clipped, count
from atc.core.types import Solution
from protocols.schema import shape

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
    remarks = [("doubt", doubt) for doubt in solution.doubts]
    if solution.status in ("failed", "paused") and solution.problem is not None:
        fault = last.fault if last is not None else None
        remarks.append((solution.status if fault is None else "fault", solution.problem))
        facts_shown = () if fault is None else fault.evidence
        remarks += [("", one.text) for one in facts_shown if one.text[:-1] not in solution.problem]
    remarks += [("note", note) for note in solution.notes]
    calls = []
    for call in last.calls if last is not None else ():
        came = call.error if call.error is not None else shape(call.result, depth=1)
        took = "from the journal" if call.reused else f"{call.seconds * 1000:.0f} ms"
        text = redact(f"{format_tool_call(call, most=sys.maxsize)} → {came}")
        calls.append(f"{clipped(text, _LONGEST_CALL)} · {took}")
    return ShownRun(
        facts=f"{facts} · run {solution.run_id}" if solution.run_id else facts,
        program="" if last is None else redact(last.program.source),
        calls=calls,
        remarks=[(label, redact(text)) for label, text in remarks],
    )
