"""What a row keeps of a solution: programs, calls, findings and faults as plain JSON, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atc.models.prices import Price
from atc.types import Attempt, Finding, Solution
from sandbox.trace import ToolCall
from toolflow_bench import paths

Plain = dict[str, Any]


def taken(solution: Solution, price: Price | None) -> dict[str, Any]:
    """The fields of a row that say what the run did and took."""
    usage = solution.usage
    made = calls_of(solution)
    return {
        "calls": solution.calls,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "model_calls": usage.model_calls,
        "model_seconds": usage.model_seconds,
        "tool_seconds": sum(call["seconds"] for call in paths.sent(made)),
        "repairs": solution.repairs,
        "attempts": len(solution.attempts),
        "run": solution.run,
        "tools": solution.tools,
        "programs": tuple(attempt.program.source for attempt in solution.attempts),
        "made": made,
        "findings": findings_of(solution),
        "faults": faults_of(solution),
        "limit": solution.limit,
        "cost": price.of(usage.input_tokens, usage.output_tokens) if price is not None else None,
    }


def compared(gold: Sequence[str], solution: Solution, writing: frozenset[str]) -> dict[str, Any]:
    """The fields of a row that compare the run's calls with the gold path."""
    made = calls_of(solution)
    return {
        "path": paths.path_rate(gold, made),
        "precision": paths.precision(gold, made),
        "path_counted": paths.path_counted(gold, made),
        "precision_counted": paths.precision_counted(gold, made),
        "cp": paths.correct_path(gold, made),
        "repeated_writes": paths.repeated_writes(made, writing),
        "orphaned_writes": paths.orphaned_writes(made, writing, last=len(solution.attempts) - 1),
    }


def calls_of(solution: Solution) -> tuple[Plain, ...]:
    """Every call of every attempt, in order, without its response."""
    return tuple(
        _call(number, call)
        for number, attempt in enumerate(solution.attempts)
        if attempt.trace is not None
        for call in attempt.trace.calls
    )


def findings_of(solution: Solution) -> tuple[Plain, ...]:
    """What the check found in every attempt, mended or not."""
    return tuple(
        _finding(number, finding, mended=mended)
        for number, attempt in enumerate(solution.attempts)
        for mended, findings in ((True, attempt.mended), (False, attempt.findings))
        for finding in findings
    )


def faults_of(solution: Solution) -> tuple[Plain, ...]:
    """What stopped each attempt that gave no answer."""
    return tuple(
        {"attempt": number, **_fault(attempt)}
        for number, attempt in enumerate(solution.attempts)
        if attempt.fault is not None
    )


def _call(attempt: int, call: ToolCall) -> Plain:
    return {
        "attempt": attempt,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "line": call.line,
        "outcome": call.outcome,
        "status": call.status,
        "error": call.error,
        "seconds": round(call.seconds, 6),
        "reused": call.reused,
    }


def _finding(attempt: int, finding: Finding, *, mended: bool) -> Plain:
    return {
        "attempt": attempt,
        "code": finding.code,
        "message": finding.message,
        "line": finding.line,
        "tool": finding.tool,
        "certain": finding.certain,
        "mended": mended,
    }


def _fault(attempt: Attempt) -> Plain:
    fault = attempt.fault
    assert fault is not None
    return {
        "kind": fault.kind,
        "message": fault.message,
        "tool": fault.tool,
        "path": fault.path,
        "line": fault.line,
        "evidence": [fact.text for fact in fault.evidence],
    }
