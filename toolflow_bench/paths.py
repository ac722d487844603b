"""How the calls of a run compare with the gold path, and what its writes did twice or left behind.

A call is a mapping as a row's `made` holds it: `tool`, `arguments`, `outcome`, `attempt`, `reused`. A call was *sent*
unless it was refused before it left (`not_run`) or answered by the journal (`reused`). The *issued* calls are those
sent and those that the journal answered: what the programs of all attempts asked for, in that order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sandbox.journal import canonical_call

Call = Mapping[str, Any]


def sent_calls(made: Iterable[Call]) -> list[Call]:
    """The calls that reached a tool, or may have."""
    return [call for call in made if not call["reused"] and call["outcome"] != "not_run"]


def issued_tools(made: Iterable[Call]) -> list[str]:
    """The tools that the programs called with arguments that fit, in order, those answered by the journal included."""
    return [call["tool"] for call in made if call["outcome"] != "not_run"]


def path_rate(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Path %: the share of the *distinct* gold tools that the run called; how often does not matter. None: no gold."""
    wanted = set(gold)
    return len(wanted & set(issued_tools(made))) / len(wanted) if wanted else None


def precision(gold: Sequence[str], made: Iterable[Call]) -> float | None:
    """Precision %: the share of the calls sent, each counted, whose tool is a gold tool; 0 where none was sent."""
    calls = sent_calls(made)
    if not gold:
        return None
    return sum(call["tool"] in gold for call in calls) / len(calls) if calls else 0.0


def correct_path(gold: Sequence[str], made: Iterable[Call]) -> bool | None:
    """CP: whether the gold path occurs, in order, among the issued calls; other calls may stand between.

    Consecutive calls of one tool count as one call, in gold as in the run: a loop has no length.
    """
    if not gold:
        return None
    left = iter(_collapse_repeats(issued_tools(made)))
    return all(any(tool == wanted for tool in left) for wanted in _collapse_repeats(gold))


def repeated_writes(made: Iterable[Call], writing: frozenset[str]) -> int:
    """Writes sent again with the same arguments after one that took effect, or of which nobody knows."""
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
    """Writes of attempts before number `last` that took effect, or may have, and that this one did not issue."""
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
