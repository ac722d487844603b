"""Whether a run that was killed and resumed did what it should. Pure: from the services' logs and what they hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolflow_bench.final_state import Snapshot, difference
from toolflow_bench.kills.cases import BETWEEN, WriteKind
from toolflow_bench.kills.gate import Struck
from toolflow_bench.services.log import RequestRecord

Log = Mapping[str, Sequence[RequestRecord]]
"""The requests of each service, oldest first."""

Write = tuple[str, str]
"""An operation, and its arguments as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a run left behind: the services' logs and state, how the host says that it ended, and its answer."""

    log: Log
    state: Snapshot
    status: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong with a run, if anything is.

    `repeated` counts writes that changed the state beyond those of the gold program, `lost` those that never did
    although the run went on after them. `expected` is how it had to end: `paused` where the facts leave it open
    whether a write took effect that has neither key nor read; `either` where a service said that it was busy.
    `wrong` is the first law that was broken, in words.
    """

    repeated: int
    lost: int
    expected: str
    wrong: str | None


def judge(left: Left, gold: Left, struck: Sequence[Struck], kinds: Mapping[str, WriteKind]) -> Verdict:
    """Hold what a run left against what its program leaves undisturbed; `kinds` are those of the writing operations."""
    repeated = sum(_repeated(left.log, gold.log).values())
    lost = _lost(left, gold)
    expected = _expected(left.log, struck, kinds)
    return Verdict(
        repeated=repeated,
        lost=lost,
        expected=expected,
        wrong=_wrong(left, gold, expected=expected, repeated=repeated, lost=lost),
    )


def writes_of(records: Sequence[RequestRecord]) -> list[Write]:
    """The writes that took effect, in order."""
    return [(one.operation, json.dumps(one.arguments, sort_keys=True)) for one in records if one.wrote]


def _repeated(log: Log, gold: Log) -> Counter[Write]:
    """Writes beyond those of the gold program, which may itself make one several times."""
    found: Counter[Write] = Counter()
    for service, records in log.items():
        found += Counter(writes_of(records)) - Counter(writes_of(gold.get(service, ())))
    return found


def _lost(left: Left, gold: Left) -> int:
    """Writes of the gold program that are missing. Where the run is not over: missing before others that are there."""
    count = 0
    for service, records in gold.log.items():
        there, wanted = Counter(writes_of(left.log.get(service, ()))), writes_of(records)
        missing = []
        for number, write in enumerate(wanted):
            if there[write]:
                there[write] -= 1
            else:
                missing.append(number)
        done = len(wanted) - len(missing)
        count += len(missing) if left.status == "solved" else sum(number < done for number in missing)
    return count


def _expected(log: Log, struck: Sequence[Struck], kinds: Mapping[str, WriteKind]) -> str:
    """How the run must end, by what its host could know."""
    if any(one.moment in BETWEEN and one.writes and kinds[one.operation] == "neither" for one in struck):
        return "paused"
    bare = [one for records in log.values() for one in records if kinds.get(one.operation) == "neither"]
    if any(one.fault in ("500", "drop", "drop_after", "truncated") for one in bare):
        return "paused"
    return "either" if any(one.fault == "429" for one in bare) else "solved"


def _wrong(left: Left, gold: Left, *, expected: str, repeated: int, lost: int) -> str | None:
    if repeated:
        (operation, arguments), count = _repeated(left.log, gold.log).most_common(1)[0]
        return f"{operation} was done {count} times too often, with {arguments}"
    if lost:
        return f"{lost} writes were lost"
    if left.status not in ("solved", "paused"):
        return f"it ended {left.status}"
    if left.status == "paused" and expected == "solved":
        return "it paused although a key or a read told all outcomes"
    if left.status == "solved" and expected == "paused":
        return "it guessed the outcome of a write with neither key nor read"
    if left.status == "solved":
        if wrong := difference(left.state, gold.state):
            return wrong
        if (left.answer or "").strip() != (gold.answer or "").strip():
            return f"it answered {left.answer!r}, not {gold.answer!r}"
    return None
