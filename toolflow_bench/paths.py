"""Metrics that compare the calls of a run with the gold path, and counts of wrong writes.

A call is one of the mappings in `Row.made`, with the keys `tool`, `arguments`, `outcome`, `attempt`
and `reused`. Calls of a program are *issued* unless the host refuses them (the outcome `not_run`).
Issued calls are *sent* unless the response to an equal earlier call, which the run has recorded, is
used instead (`reused`). Calls of all attempts count, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sandbox.journal import canonical_call

Call = Mapping[str, Any]


def sent_calls(made: Iterable[Call]) -> list[Call]:
    """Return those calls of a run that reached a tool, or may have reached it."""
    return [call for call in made if not call["reused"] and call["outcome"] != "not_run"]


def issued_tools(made: Iterable[Call]) -> list[str]:
    """Return the names of the tools that the program called, in order, without refused calls."""
    return [call["tool"] for call in made if call["outcome"] != "not_run"]


def path_rate(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Return Path %, the share of the *distinct* gold tools that the run called.

    It does not matter how often a tool was called. Return None if there is no gold path.
    """
    wanted = set(gold)
    return len(wanted & set(issued_tools(made))) / len(wanted) if wanted else None


def precision(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Return Precision %, the share of the sent calls whose tool is a gold tool.

    Return 0 if no call was sent, and None if there is no gold path.
    """
    calls = sent_calls(made)
    if not gold:
        return None
    return sum(call["tool"] in gold for call in calls) / len(calls) if calls else 0.0


def correct_path(gold: Sequence[str], made: Iterable[Call]) -> bool | None:
    """Return True if the gold path is a subsequence of the issued calls (CP, correct path).

    Consecutive calls of one tool count as one call in both sequences, so that the length of a loop
    does not matter. Return None if there is no gold path.
    """
    if not gold:
        return None
    left = iter(_collapse_repeats(issued_tools(made)))
    # `in` advances the iterator to behind the match, so each call can match only once.
    return all(wanted in left for wanted in _collapse_repeats(gold))


def repeated_writes(made: Iterable[Call], writing: frozenset[str]) -> int:
    """Count the writes that were sent again with the same arguments.

    A write counts only if an earlier write with the same tool and arguments was carried out, or may
    have been. `writing` are the tools that write.
    """
    effective: set[str] = set()
    repeated = 0
    for call in sent_calls(made):
        if call["tool"] not in writing:
            continue
        key = canonical_call(call["tool"], call["arguments"])
        repeated += key in effective
        if _may_have_acted(call):
            effective.add(key)
    return repeated


def orphaned_writes(made: Sequence[Call], writing: frozenset[str], *, last: int) -> int:
    """Count the writes of earlier attempts that attempt `last` did not issue (they are orphaned).

    A write counts only if it was carried out or may have been. `writing` are the tools that write.
    """
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for call in made:
        if call["tool"] in writing:
            key = canonical_call(call["tool"], call["arguments"])
            if call["attempt"] >= last:
                after[key] += 1
            elif not call["reused"] and _may_have_acted(call):
                before[key] += 1
    return (before - after).total()


def _may_have_acted(call: Call) -> bool:
    return call["outcome"] in ("done", "unknown")


def _collapse_repeats(tools: Iterable[str]) -> list[str]:
    return [tool for tool, _ in groupby(tools)]
