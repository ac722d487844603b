"""What a row keeps of a solution: programs, calls, findings and faults as plain JSON, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atc.models.prices import Price
from atc.types import Solution
from toolflow_bench import paths

Plain = dict[str, Any]


def taken(solution: Solution, price: Price | None) -> dict[str, Any]:
    """The fields of a row that say what the run did and took."""
    usage = solution.usage
    made = calls_of(solution)
    names = ("input_tokens", "cached_tokens", "output_tokens", "model_calls", "model_seconds")
    return {
        **{name: getattr(usage, name) for name in names},
        "calls": solution.calls,
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
    names = ("tool", "arguments", "line", "outcome", "status", "error", "seconds", "reused")
    return tuple(
        _picked(call, names, attempt=number) | {"arguments": dict(call.arguments), "seconds": round(call.seconds, 6)}
        for number, attempt in enumerate(solution.attempts)
        if attempt.trace is not None
        for call in attempt.trace.calls
    )


def findings_of(solution: Solution) -> tuple[Plain, ...]:
    """What the check found in every attempt, mended or not."""
    names = ("code", "message", "line", "tool", "certain")
    return tuple(
        _picked(finding, names, attempt=number) | {"mended": mended}
        for number, attempt in enumerate(solution.attempts)
        for mended, findings in ((True, attempt.mended), (False, attempt.findings))
        for finding in findings
    )


def faults_of(solution: Solution) -> tuple[Plain, ...]:
    """What stopped each attempt that gave no answer."""
    names = ("kind", "message", "tool", "path", "line")
    return tuple(
        _picked(fault, names, attempt=number) | {"evidence": [fact.text for fact in fault.evidence]}
        for number, attempt in enumerate(solution.attempts)
        if (fault := attempt.fault) is not None
    )


def _picked(thing: object, names: Sequence[str], *, attempt: int) -> Plain:
    return {"attempt": attempt, **{name: getattr(thing, name) for name in names}}
