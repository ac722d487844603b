"""Comparison of two benchmark runs: paired differences with intervals, and McNemar's test.

Only tasks that both runs share are compared: id, question and expected answer must be equal, and
both runs must have a graded row for the task. The value of a task is its mean over repeats. A
difference is the second run's value minus the first's. Its interval is a 95% percentile bootstrap
interval over the recipes from which the shared tasks were made. Pairing removes the difficulty of a
task from the comparison.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean

from toolflow_bench.metrics import Row
from toolflow_bench.resampling import Estimate, estimate, recipe_of

_METRICS: Mapping[str, Callable[[Row], float | None]] = {
    "success": lambda row: float(row.correct),
    "path": lambda row: row.path,
    "precision": lambda row: row.precision,
    "cp": lambda row: None if row.cp is None else float(row.cp),
    "calls": lambda row: row.calls,
    "tokens": lambda row: row.input_tokens + row.output_tokens,
    "seconds": lambda row: row.seconds,
    "cost": lambda row: row.cost,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Differences of a second run (b) from a first run (a) on the `shared` tasks that both have.

    `differences` has the metrics for which both runs have a value. `both`, `only_a`, `only_b` and
    `neither` count the tasks by who solved them: both runs, only one of them, or neither. With
    repeats, a run has solved a task if more than half of its answers are right. `p` is the
    two-sided p-value of McNemar's exact test, or None if no task was solved by one run alone.
    """

    shared: int
    differences: Mapping[str, Estimate]
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float | None


def compare(run_a: Sequence[Row], run_b: Sequence[Row], *, seed: int = 0) -> Comparison:
    """Compare two benchmark runs on the tasks for which both have graded answers.

    Differences are those of `run_b` from `run_a`.
    """
    tasks_a = _tasks(run_a)
    tasks_b = _tasks(run_b)
    shared = sorted(tasks_a.keys() & tasks_b.keys())
    differences: dict[str, Estimate] = {}
    for name, metric in _METRICS.items():
        pairs = [(_value(tasks_a[task], metric), _value(tasks_b[task], metric)) for task in shared]
        known = {
            task: b - a
            for task, (a, b) in zip(shared, pairs, strict=True)
            if a is not None and b is not None
        }
        recipes = [recipe_of(tasks_a[task][0].id) for task in known]
        found = estimate(list(known.values()), seed=seed, groups=recipes)
        if found is not None:
            differences[name] = found
    solved = [(_is_solved(tasks_a[task]), _is_solved(tasks_b[task])) for task in shared]
    only_a = solved.count((True, False))
    only_b = solved.count((False, True))
    return Comparison(
        shared=len(shared),
        differences=differences,
        both=solved.count((True, True)),
        only_a=only_a,
        only_b=only_b,
        neither=solved.count((False, False)),
        p=_mcnemar(only_a, only_b),
    )


def _tasks(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Group the graded rows (results) of a run by task.

    A task whose question or expected answer changed is another task.
    """
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        if row.graded:
            name = json.dumps([row.id, row.question, row.expected], sort_keys=True, default=repr)
            tasks.setdefault(name, []).append(row)
    return tasks


def _value(rows: Sequence[Row], metric: Callable[[Row], float | None]) -> float | None:
    values = [value for row in rows if (value := metric(row)) is not None]
    return fmean(values) if values else None


def _is_solved(rows: Sequence[Row]) -> bool:
    return fmean(row.correct for row in rows) > 0.5


def _mcnemar(only_a: int, only_b: int) -> float | None:
    count = only_a + only_b
    if not count:
        return None
    tail = sum(comb(count, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2.0 * float(tail) / 2.0**count)
