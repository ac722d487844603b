"""Metrics of a benchmark run. `docs/reference/metrics.md` explains how each is counted.

Outages and crashes are failures on our own side. They are counted separately and are left out of
all other metrics. Intervals are 95% percentile bootstrap intervals over recipes (2,000 seeded
resamples), that is, tasks that were made from one recipe are drawn together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from statistics import fmean
from typing import Any, Literal, get_args

from protocols.schema import Json, JsonObject
from toolflow_bench.resampling import Estimate, estimate, recipe_of

FailureClass = Literal[
    "",
    "retrieval",
    "program",
    "misread",
    "tool",
    "unknown_write",
    "limit",
    "wrong_answer",
    "no_answer",
]
"""The reason why a question was not solved; see `failure_class`.

Empty if the question was solved, or was not graded.
"""

CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)[1:]
"""All failure classes, in the order in which the steps of the pipeline can fail."""

_Ranges = Sequence[tuple[str, int, int | None]]
"""Ranges of numbers: a label, the smallest number, and the largest or None for no upper limit."""
_DIFFICULTY = (("easy", 1, 9), ("medium", 10, 16), ("hard", 17, 25), ("very hard", 26, None))
_CALLS = (("1-2", 1, 2), ("3-4", 3, 4), ("5-6", 5, 6), ("7+", 7, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The result of one question, which is one line in the file of a benchmark run."""

    id: str
    question: str
    expected: Any
    needs: int
    """Number of tool calls that the shortest program needs."""
    answer: str | None = None
    correct: bool = False
    reason: str = ""
    status: str = "failed"
    """How the run ended.

    `solved` (it gave an answer, right or wrong), `failed`, `paused`, `outage` (an AtcError) or
    `crash` (a bug in atc).
    """
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    """The part of `input_tokens` that came from the model's cache and was not read again."""
    output_tokens: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    model_seconds: float = 0.0
    repairs: int = 0
    run: str | None = None
    """Path of the stored run, or None if the run was not stored."""
    error: str | None = None
    """Message of the outage or crash, or None."""
    repeat: int = 0
    """Number of the repeat, from 0. Each repeat of a question has its own row."""
    seed: int = 0
    split: str = ""
    services: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    """Tools that the gold program calls, in order, with repetitions.

    Empty if there is no gold path.
    """
    depth: int = 0
    """Number of calls in the longest chain of the gold program's data flow; 0 if unknown."""
    candidates: tuple[str, ...] = ()
    """Tools that were available for the question."""
    tools: tuple[str, ...] = ()
    """Those of the candidates that the prompt offered to the model."""
    programs: tuple[str, ...] = ()
    """Source of the program of each attempt, in order."""
    made: tuple[JsonObject, ...] = ()
    """Calls of all attempts in order, without responses.

    Keys: attempt (0-based), tool, arguments, line, outcome, status, error, seconds, reused (the
    call was not sent again, because the run had recorded the response to an equal call before).
    """
    findings: tuple[JsonObject, ...] = ()
    """What the static check found before a program ran.

    Keys: attempt, code, message, line, tool, certain, mended (it was fixed automatically and the
    program ran).
    """
    faults: tuple[JsonObject, ...] = ()
    """The fault that ended each attempt.

    Keys: attempt, kind, message, tool, path, line, evidence.
    """
    notes: tuple[str, ...] = ()
    """Ways in which the run deviated from its settings, see `Solution.notes`."""
    limit: str | None = None
    """The budget that ended the run, such as `max_seconds = 60`, or None."""
    state: Json = None
    """Records that the run wrote, grouped by service and collection.

    None if neither the task nor the run writes.
    """
    path: float | None = None
    precision: float | None = None
    cp: bool | None = None
    repeated_writes: int = 0
    orphaned_writes: int = 0
    cost: float | None = None
    """Price of the model calls in USD, or None if the model has no known price."""
    failure: str = ""
    """Failure class of a row that was graded wrong, else empty; see `failure_class`."""

    @property
    def graded(self) -> bool:
        """True if this row is a result of the model and not an outage or crash."""
        return self.status not in ("outage", "crash")

    @property
    def key(self) -> tuple[str, int]:
        """The question's id and the repeat, which together identify the row in its file."""
        return self.id, self.repeat

    @property
    def difficulty(self) -> int:
        """The depth multiplied by the number of distinct gold tools; 0 if the depth is unknown."""
        return self.depth * len(set(self.gold))

    @property
    def own_seconds(self) -> float:
        """Wall time of one question in seconds, without the time that the model took."""
        return max(0.0, self.seconds - self.model_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The number of graded results (rows) in a group, and the number of solved ones among them."""

    solved: int
    graded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The metrics of a run. `docs/reference/metrics.md` explains how each is counted."""

    questions: int
    """Number of distinct questions. With repeats, each has several rows."""
    graded: int
    solved: int
    share: float | None
    interval: tuple[float, float] | None
    """95% interval of `share`, or None if no question was graded."""
    outages: int
    crashes: int
    repeats: int = 1
    by_calls: Mapping[str, Share] = field(default_factory=dict)
    by_service: Mapping[str, Share] = field(default_factory=dict)
    """Shares of the rows of each service.

    A task that uses several services is counted under all their names, joined by `+`.
    """
    by_split: Mapping[str, Share] = field(default_factory=dict)
    by_difficulty: Mapping[str, Share] = field(default_factory=dict)
    """Shares of the rows in each range of `Row.difficulty`."""
    pass_k: Mapping[int, Estimate] = field(default_factory=dict)
    """Maps k to the share of tasks that are solved k times out of k; empty without repeats."""
    success: Estimate | None = None
    path: Estimate | None = None
    precision: Estimate | None = None
    cp: Estimate | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    repairs: int = 0
    repeated_writes: int = 0
    orphaned_writes: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds_total: float = 0.0
    model_seconds_total: float = 0.0
    own_seconds_total: float = 0.0
    cost: float | None = None
    """Price of all graded rows in USD, or None if the price of a row is unknown."""
    unpriced: int = 0

    @property
    def ungraded(self) -> int:
        """Number of questions without a grade, because of an outage or a crash."""
        return self.outages + self.crashes


def summarize(rows: Sequence[Row], *, seed: int = 0) -> Summary:
    """Return the metrics of a benchmark run.

    `rows` has the results of the run, one for each question and repeat.
    """
    graded = [row for row in rows if row.graded]
    success = mean_of_tasks(graded, lambda row: row.correct, seed=seed)
    unpriced = sum(row.cost is None for row in graded)
    statuses = Counter(row.status for row in rows)

    def mean(metric: str) -> Any:
        return mean_of_tasks(graded, lambda row: getattr(row, metric), seed=seed)

    def total(metric: str) -> Any:
        return sum(getattr(row, metric) for row in graded)

    return Summary(
        questions=len({row.id for row in rows}),
        graded=len(graded),
        solved=total("correct"),
        share=success.mean if success else None,
        interval=(success.low, success.high) if success else None,
        outages=statuses["outage"],
        crashes=statuses["crash"],
        repeats=max((row.repeat + 1 for row in rows), default=1),
        by_calls=_shares_by_range(graded, "needs", _CALLS),
        by_difficulty=_without_empty(_shares_by_range(graded, "difficulty", _DIFFICULTY)),
        pass_k=_pass_k(graded, seed=seed),
        by_service=_shares(graded, lambda row: "+".join(sorted(row.services))),
        by_split=_shares(graded, lambda row: row.split),
        success=success,
        **{metric: mean(metric) for metric in ("path", "precision", "cp")},
        failures=_failures(graded),
        **{metric: total(metric) for metric in _TOTALS},
        **{f"{metric}_total": total(metric) for metric in _TIMES},
        cost=None if unpriced else float(total("cost")),
        unpriced=unpriced,
    )


def _without_empty(shares: Mapping[str, Share]) -> dict[str, Share]:
    return {name: share for name, share in shares.items() if share.graded}


def _failures(graded: Sequence[Row]) -> dict[str, int]:
    counts = Counter(row.failure for row in graded if row.failure)
    return {name: counts[name] for name in CLASSES if name in counts}


_TOTALS = (
    "calls",
    "repairs",
    "repeated_writes",
    "orphaned_writes",
    "model_calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
)
_TIMES = ("seconds", "model_seconds", "own_seconds")


def mean_of_tasks(
    rows: Iterable[Row], value: Callable[[Row], float | None], *, seed: int = 0
) -> Estimate | None:
    """Return the mean of `value` over tasks, with a bootstrap interval over recipes.

    Rows for which `value` returns None are left out.
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        if (one := value(row)) is not None:
            found.setdefault(row.id, []).append(float(one))
    return estimate(
        [fmean(values) for values in found.values()], seed=seed, groups=list(map(recipe_of, found))
    )


def _pass_k(rows: Sequence[Row], *, seed: int) -> dict[int, Estimate]:
    """Return pass^k for each k up to the number of repeats; empty without repeats.

    If c of n repeats were right, then k of them, drawn without replacement, are all right with
    probability C(c, k) / C(n, k).
    """
    verdicts: dict[str, list[bool]] = {}
    for row in rows:
        verdicts.setdefault(row.id, []).append(row.correct)
    found = {}
    for k in range(1, max(map(len, verdicts.values()), default=1) + 1):
        enough = {task: some for task, some in verdicts.items() if len(some) >= k}
        values = [comb(sum(some), k) / comb(len(some), k) for some in enough.values()]
        if (one := estimate(values, seed=seed, groups=list(map(recipe_of, enough)))) is not None:
            found[k] = one
    return found if len(found) > 1 else {}


def _share(rows: Sequence[Row]) -> Share:
    return Share(solved=sum(row.correct for row in rows), graded=len(rows))


def _rows_in_range(rows: Sequence[Row], name: str, least: int, most: int | None) -> list[Row]:
    return [
        row
        for row in rows
        if getattr(row, name) >= least and (most is None or getattr(row, name) <= most)
    ]


def _shares(rows: Sequence[Row], group: Callable[[Row], str]) -> dict[str, Share]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if name := group(row):
            groups.setdefault(name, []).append(row)
    return {name: _share(some) for name, some in sorted(groups.items())}


def _shares_by_range(rows: Sequence[Row], name: str, ranges: _Ranges) -> dict[str, Share]:
    return {label: _share(_rows_in_range(rows, name, least, most)) for label, least, most in ranges}


_FAULTS: Mapping[FailureClass, Sequence[str]] = {
    "program": ("syntax", "policy", "unknown_tool", "bad_arguments", "error"),
    "misread": ("misread_result", "empty_result", "drift"),
    "tool": ("tool_failed", "unknown_outcome"),
    "unknown_write": (),
    "limit": ("limit",),
    "no_answer": ("no_answer",),
}
"""The kinds of fault (`atc.core.types.FaultKind`) that belong to each failure class."""


def failure_class(row: Row, *, only_unknown_write: bool = False) -> FailureClass:
    """Return the failure class of a row that was graded wrong: the first of these that applies.

    `only_unknown_write` is True if the run stopped at a write whose outcome is unknown, and all
    other records are right.

    `unknown_write`
        The run is paused at a write of unknown outcome, and all else that it wrote is right.
    `retrieval`
        A gold tool was neither offered in the prompt nor called.
    `wrong_answer`
        The answer, or the state that the run left, is wrong.
    `limit`
        A limit on time, calls, tokens or the like ended the run before it gave an answer.
    `misread`
        The last program misread a response (a missing key, a wrong shape or type, an empty
        result), at run time or according to the static check; or the response violated its schema.
    `tool`
        A tool failed (5xx, 429, no response) and the last program did not recover, or the outcome
        of a write is unknown.
    `program`
        The last program failed the check, called a tool with bad arguments or an unknown tool,
        or raised.
    `no_answer`
        The last program ended without an error and printed nothing.
    """
    if row.correct or not row.graded:
        return ""
    if only_unknown_write:
        return "unknown_write"
    called = {call["tool"] for call in row.made}
    if set(row.gold) - set(row.tools) - called:
        return "retrieval"
    if row.answer is not None:
        return "wrong_answer"
    if row.limit is not None:
        return "limit"
    if (
        row.status == "paused"
    ):  # all writes are allowed here, so the run stopped at an unknown outcome
        return "tool"
    if not row.faults:
        return "no_answer"
    return next(
        (name for name, kinds in _FAULTS.items() if row.faults[-1]["kind"] in kinds), "program"
    )
