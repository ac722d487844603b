"""Stacked bars that show how the answers of each run ended: right, or in which class of failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from atc.core.pages.markup import Markup, escape
from toolflow_bench.metrics import Row
from toolflow_bench.report.parts import FIGURES, abbreviated
from toolflow_bench.report.runs import ReportedRun

CLASSES: Mapping[str, tuple[str, str]] = {
    "right": ("Right", ""),
    "retrieval": ("Retrieval", "a needed tool was neither offered to the model nor called"),
    "program": (
        "Program",
        "no program passed the check, or the last one raised or called a tool wrongly",
    ),
    "misread": (
        "Misread",
        "the last program read what is not in a response, or the response had left its schema",
    ),
    "tool": (
        "Tool",
        "a tool failed and the last program did not get over it, or a write's outcome is unknown",
    ),
    "unknown_write": (
        "Unknown write",
        "the run paused at a write whose outcome is unknown, and all else that it wrote is right",
    ),
    "limit": ("Limit", "time, calls, tokens or another cap ended the run before an answer"),
    "wrong_answer": (
        "Wrong answer",
        "an answer was given, or a state left, and it is not the right one",
    ),
    "no_answer": ("No answer", "the last program ended well and said nothing"),
    "other": ("Other", "not classed"),
}
"""Name and explanation of each way in which an answer can end, in the order of the pipeline."""

_NAMES_WIDTH = 230.0
_BAR_WIDTH = 640.0
"""Width of a bar. The run's name is left of it, `_NAMES_WIDTH` wide. Both are in SVG units."""


def outcome(row: Row) -> str:
    """Return how a graded answer ended, as a key of `CLASSES` such as `right` or `misread`."""
    if row.correct:
        return "right"
    return row.failure if row.failure in CLASSES else "other"


def failures(runs: Sequence[ReportedRun]) -> Markup:
    """Render one bar for each run, which shows how its answers ended.

    A legend and a table with the same numbers follow.
    """
    counts = [_count_outcomes(run) for run in runs]
    total = sum(counts, Counter[str]())
    present = {key: about for key, about in CLASSES.items() if total[key]}
    bars = [
        (run, abbreviated(run.name), count, list(_segments(count)))
        for run, count in zip(runs, counts, strict=True)
    ]
    return escape(FIGURES.failures(bars, present))


def _count_outcomes(run: ReportedRun) -> Counter[str]:
    return Counter(outcome(row) for row in run.rows if row.graded)


def _segments(count: Counter[str]) -> Iterator[tuple[str, int, float, float]]:
    """Yield the segments of a bar: class of outcome, number of answers, left end and width."""
    left = _NAMES_WIDTH
    for key in CLASSES:
        if number := count[key]:
            width = _BAR_WIDTH * number / count.total()
            yield key, number, left, width
            left += width
