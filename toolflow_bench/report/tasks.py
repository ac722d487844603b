"""The list of tasks on the report page.

Each task is a line with a column for each run. A line can be expanded to show the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from atc.core.pages.markup import Markup, escape
from toolflow_bench.metrics import Row
from toolflow_bench.report import answers
from toolflow_bench.report.answers import chip
from toolflow_bench.report.failures import CLASSES, outcome
from toolflow_bench.report.parts import ENVIRONMENT
from toolflow_bench.report.runs import ReportedRun, ReportedTask

_VERDICTS = {name: name for name in ("right", "wrong", "mixed", "outage")} | {
    "mixed": "right in some repeats"
}


def drilldown(runs: Sequence[ReportedRun], found: Sequence[ReportedTask]) -> Markup:
    """Render the list of tasks with its column heads and filters.

    The filters are hidden if the browser runs no JavaScript.
    """
    letters = [run.letter for run in runs]
    lines = [(task, _chips(task, letters), _failures(task)) for task in found]
    return escape(_TASKS.drilldown(runs, lines, _selects(runs, found)))


def _chips(task: ReportedTask, letters: Sequence[str]) -> dict[str, tuple[str, str]]:
    return {letter: chip(task.rows.get(letter, [])) for letter in letters}


def _failures(task: ReportedTask) -> str:
    """Return the failure class of each wrong answer to a task, preceded by the letter of the run.

    For example, `A:program B:limit`.
    """
    wrong = [
        f"{letter}:{outcome(row)}"
        for letter, rows in task.rows.items()
        for row in rows
        if _is_wrong(row)
    ]
    return " ".join(dict.fromkeys(wrong))


def _is_wrong(row: Row) -> bool:
    return row.graded and not row.correct


def _path(gold: Sequence[str]) -> str:
    """Return a gold path as text, such as `search_films ×2 → get_film`."""
    times = [(tool, len(list(same))) for tool, same in groupby(gold)]
    return " → ".join(f"{tool} ×{count}" if count > 1 else tool for tool, count in times)


def _selects(
    runs: Sequence[ReportedRun], found: Sequence[ReportedTask]
) -> Mapping[str, dict[str, str]]:
    """Return the filters of the list of tasks, keyed by name.

    Each filter is a select box. It maps the values that can be chosen to their labels.
    """
    services = sorted({service for task in found for service in task.services})
    failures = {outcome(row) for run in runs for row in run.rows if _is_wrong(row)}
    several = len(runs) > 1
    return {
        "run": {"": "any run", **{run.letter: run.label for run in runs}} if several else {},
        "verdict": {
            "": "any verdict",
            **_VERDICTS,
            **({"differ": "runs differ"} if several else {}),
        },
        "failure": {
            "": "any failure",
            **{key: name for key, (name, _) in CLASSES.items() if key in failures},
        },
        "service": {"": "any service", **{name: name for name in services}},
    }


_FILTERS = (
    answers.cut,
    answers.verdict,
    answers.describe_usage,
    answers.findings,
    answers.lines_at_fault,
    answers.describe_place,
    answers.count_sent_calls,
    answers.call_number,
    answers.format_arguments,
)
ENVIRONMENT.filters |= {one.__name__: one for one in _FILTERS} | {"path": _path, "outcome": outcome}
ENVIRONMENT.globals |= {
    "marks": answers.MARKS,
    "classes": CLASSES,
    "most_calls": answers.MOST_CALLS,
}
_TASKS: Any = ENVIRONMENT.get_template("tasks.html").module
