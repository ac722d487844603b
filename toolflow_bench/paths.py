"""Metrics that compare the calls of a run with the gold path, and counts of wrong writes.

A call is a mapping from a row's `made`: `tool`, `arguments`, `outcome`, `attempt`, `reused`. A call
was *sent* unless it was refused before it left (`not_run`) or answered by the journal (`reused`).
The *issued* calls are those that were sent or answered by the journal, over all attempts, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sandbox.journal import canonical_call

Call = Mapping[str, Any]


def sent_calls(made: Iterable[Call]) -> list[Call]:
    """Return the calls that reached a tool, or may have."""
    return [call for call in made if not call["reused"] and call["outcome"] != "not_run"]


def issued_tools(made: Iterable[Call]) -> list[str]:
    """Return the tool of each issued call, in order."""
    return [call["tool"] for call in made if call["outcome"] != "not_run"]


def path_rate(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Return Path %: the share of the *distinct* gold tools that the run called.

    The number of calls to a tool does not matter. Return None if there is no gold path.
    """
    wanted = set(gold)
    return len(wanted & set(issued_tools(made))) / len(wanted) if wanted else None


def precision(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Return Precision %: the share of sent calls whose tool is a gold tool; 0 if none was sent.

    Return None if there is no gold path.
    """
    calls = sent_calls(made)
    if not gold:
        return None
    return sum(call["tool"] in gold for call in calls) / len(calls) if calls else 0.0


def correct_path(gold: Sequence[str], made: Iterable[Call]) -> bool | None:
    """Return True if the gold path is a subsequence of the issued calls (CP, correct path).

    Consecutive calls of one tool count as one call in both, so that the length of a loop does not
    matter. Return None if there is no gold path.
    """
    if not gold:
        return None
    left = iter(_collapse_repeats(issued_tools(made)))
    # `in` advances the iterator to behind the match, so each call can match only once.
    return all(wanted in left for wanted in _collapse_repeats(gold))


def repeated_writes(made: Iterable[Call], writing: frozenset[str]) -> int:
    """Count writes sent again with the same arguments although the first one may have acted."""
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
    """Count writes of attempts before number `last` that may have acted and that `last` did not
    issue.
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
