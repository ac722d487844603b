"""Plots of success against cost, against tokens and against the depth of tasks.

The first two have one point for each run, with a vertical bar for the 95% interval. The third has
one line for each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from atc.core.pages.formats import interval, percent, short
from atc.core.pages.markup import Markup, escape
from toolflow_bench.report.parts import ENVIRONMENT
from toolflow_bench.report.runs import ReportedRun
from toolflow_bench.resampling import Estimate

LEFT = 48.0
RIGHT = 544.0
TOP = 16.0
BOTTOM = 312.0
RADIUS = 9.0
DEPTHS = ((1, 2), (3, 4), (5, 6), (7, 8), (9, None))
"""Ranges of a task's depth, which is the number of calls in the longest chain of its data flow."""
_DECADES = 30.0
"""An axis is logarithmic if the ratio of the largest to the smallest value is at least this."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of a plot, from `start` to `end` in SVG units.

    `floor` and `ceiling` are the values at its ends. On a linear axis `floor` is 0. On a
    logarithmic axis, values below `floor`, such as 0, are drawn at the start.
    """

    start: float
    end: float
    floor: float
    ceiling: float
    logarithmic: bool = False

    @classmethod
    def for_values(cls, values: Sequence[float], start: float, end: float) -> Scale:
        """Return an axis for values that are not negative.

        It begins at zero, or is logarithmic if the values differ by a factor of at least
        `_DECADES`.
        """
        positive = [value for value in values if value > 0]
        if not positive:
            return cls(start, end, 0.0, 1.0)
        least = min(positive)
        most = max(positive)
        if most / least >= _DECADES:
            floor = 10.0 ** math.floor(math.log10(least))
            ceiling = 10.0 ** math.ceil(math.log10(most))
            return cls(start, end, floor, ceiling, logarithmic=True)
        step = _step(most * 1.02)
        return cls(start, end, 0.0, step * math.ceil(most * 1.02 / step))

    def __call__(self, value: float) -> float:
        """Return the position of `value` on the axis, in SVG units."""
        if self.logarithmic:
            share = math.log(max(value, self.floor) / self.floor) / math.log(
                self.ceiling / self.floor
            )
        else:
            share = (value - self.floor) / (self.ceiling - self.floor)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values for tick labels, in ascending order."""
        if self.logarithmic:
            first = round(math.log10(self.floor))
            last = round(math.log10(self.ceiling))
            return [10.0**power for power in range(first, last + 1)]
        step = _step(self.ceiling - self.floor)
        count = math.floor((self.ceiling - self.floor) / step + 1e-9)  # never beyond the end
        return [self.floor + step * index for index in range(count + 1)]


def _step(span: float) -> float:
    """Return a round distance between ticks, so that `span` has four to eight of them."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999)


class Point(NamedTuple):
    """A run in a plot: the position of its marker (`x`, `y`), and of its value (`value_x`, `y`)."""

    run: ReportedRun
    x: float
    y: float
    value_x: float
    low: float
    high: float
    tooltip: str

    @property
    def is_moved(self) -> bool:
        """True if the marker was moved away from its value, so that it covers no other marker."""
        return abs(self.x - self.value_x) > 1


def scatter(
    runs: Sequence[ReportedRun],
    value: Callable[[ReportedRun], float | None],
    *,
    title: str,
    axis: str,
    spell: Callable[[float], str] = short,
) -> Markup:
    """Render a plot of success against another value, with one point for each run.

    Runs of which success or the value is unknown have no point. They are named below the plot.
    """
    known = _known_values(runs, value)
    if not known:
        return escape(
            _PLOTS.empty(
                title, f"Nothing to draw: no run has both a graded answer and {axis.lower()}."
            )
        )
    if all(found == 0 for *_, found in known):
        return escape(_PLOTS.empty(title, f"Nothing to draw: {spell(0)} for every run."))
    across = Scale.for_values([found for *_, found in known], LEFT + RADIUS + 4, RIGHT - RADIUS - 4)
    upward = _upward(max(success.high for _, success, _ in known))
    points = []
    for run, success, found in known:
        range_ = f"{percent(success.mean)} ({interval((success.low, success.high))})"
        x = across(found)
        low = upward(success.low)
        high = upward(success.high)
        tooltip = f"{run.label}: {range_} at {spell(found)}"
        points.append(Point(run, x, upward(success.mean), x, low, high, tooltip))
    points = _spread_markers(points)
    notes = _list_notes(points, runs, logarithmic=across.logarithmic)
    ticks = [(across(tick), spell(tick)) for tick in across.ticks()]
    return escape(_PLOTS.scatter(title, points, ticks, upward, axis, notes))


def _list_notes(
    points: Sequence[Point], runs: Sequence[ReportedRun], *, logarithmic: bool
) -> list[str]:
    """Return the notes below a scatter plot, such as one that names the runs without a point."""
    drawn = {point.run.letter for point in points}
    absent = [run.letter for run in runs if run.letter not in drawn]
    notes = ["Logarithmic axis."] if logarithmic else []
    if any(point.is_moved for point in points):
        notes.append(
            "Points that would cover each other stand side by side; a thin line leads to the value."
        )
    if absent:
        notes.append(f"Not shown, for want of a figure: {', '.join(absent)}.")
    return notes


def _known_values(
    runs: Sequence[ReportedRun], value: Callable[[ReportedRun], float | None]
) -> list[tuple[ReportedRun, Estimate, float]]:
    """Return the runs for which success and another value are known, with both values."""
    known = []
    for run in runs:
        success = run.summary.success
        found = value(run)
        if success is not None and found is not None:
            known.append((run, success, found))
    return known


def by_depth(runs: Sequence[ReportedRun]) -> Markup:
    """Render one line for each run: the share of graded answers that are right, by task depth."""
    title = "Success against depth"
    axis = "Calls in the longest chain of a task"
    shares = {run.letter: _shares_by_depth(run) for run in runs}
    if not any(shares.values()):
        return escape(
            _PLOTS.empty(
                title, "Nothing to draw: no graded answer is of a task whose depth is known."
            )
        )
    step = (RIGHT - LEFT - 4 * RADIUS) / (len(DEPTHS) - 1)
    upward = _upward(max(share for of_run in shares.values() for _, share, _ in of_run))
    names = [f"{low} and more" if high is None else f"{low}–{high}" for low, high in DEPTHS]
    places = [LEFT + 2 * RADIUS + band * step for band in range(len(DEPTHS))]

    def point(run: ReportedRun, band: int, share: float, count: int) -> Point:
        x = places[band]
        y = upward(share)
        return Point(
            run, x, y, x, y, y, f"{run.label}: {percent(share)} of {count} at {names[band]}"
        )

    def line(run: ReportedRun) -> list[Point]:
        return [point(run, *share) for share in shares[run.letter]]

    drawn = [line(run) for run in runs if shares[run.letter]]
    ends = _spread_markers([points[-1] for points in drawn])
    ticks = list(zip(places, names, strict=True))
    return escape(_PLOTS.lines(title, drawn, ends, ticks, upward, axis))


def _shares_by_depth(run: ReportedRun) -> list[tuple[int, float, int]]:
    """Return the share of right answers in each range of depths that has answers.

    Each item is the index of the range, the share, and the number of answers.
    """
    shares = []
    for band, (low, high) in enumerate(DEPTHS):
        verdicts = [
            row.correct
            for row in run.rows
            if row.graded and low <= row.depth <= (high or row.depth)
        ]
        if verdicts:
            shares.append((band, sum(verdicts) / len(verdicts), len(verdicts)))
    return shares


def number(value: float) -> str:
    """Format a coordinate of the drawing with at most six digits."""
    return f"{value:.6g}"


def _upward(highest: float) -> Scale:
    """Return a vertical axis from 0 to the next multiple of 20% at or above `highest`."""
    ceiling = next(share for share in (0.2, 0.4, 0.6, 0.8, 1.0) if share >= min(highest, 1.0))
    return Scale(BOTTOM, TOP + RADIUS, 0.0, ceiling)


def _spread_markers(points: Sequence[Point]) -> list[Point]:
    """Return the points, with markers moved sideways so that none covers another."""
    moved: list[Point] = []
    for point in points:
        steps = sorted(range(-48, 49), key=lambda step: (abs(step), -step))
        spots = [
            x for step in steps if LEFT + RADIUS <= (x := point.x + step * RADIUS) <= RIGHT - RADIUS
        ]
        free = (x for x in spots if not _covers_any(x, point.y, moved))
        moved.append(point._replace(x=next(free, point.x)))
    return moved


def _covers_any(x: float, y: float, markers: Sequence[Point]) -> bool:
    return any(math.hypot(x - one.x, y - one.y) < 2 * RADIUS for one in markers)


ENVIRONMENT.filters["number"] = number
_PLOTS: Any = ENVIRONMENT.get_template("plots.html").module
