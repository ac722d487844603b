"""Success against what it takes, a point a run with its 95% interval upright, and against depth, a line a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atc.pages.formats import interval, percent, short
from atc.pages.markup import Html, join, tag
from toolflow_bench.report.runs import Run

WIDTH, HEIGHT = 560.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 544.0, 16.0, 312.0
RADIUS = 9.0
DEPTHS = ((1, 2), (3, 4), (5, 6), (7, 8), (9, None))
"""Calls in the longest chain of a task's data flow."""
_LONGEST_NAME = 30  # letters; the table of runs has the whole name
_DECADES = 30.0
"""From this ratio of the largest to the smallest value on, equal distances mean equal ratios."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `start` to `end` in the drawing's units.

    `floor` is 0 on a linear one; on a logarithmic one what is smaller, as 0 is, stands at the start.
    """

    start: float
    end: float
    floor: float
    ceiling: float
    logarithmic: bool = False

    @classmethod
    def fit(cls, values: Sequence[float], start: float, end: float) -> Scale:
        """One that holds `values`, none of them negative: from zero, or logarithmic where they differ too much."""
        positive = [value for value in values if value > 0]
        if not positive:
            return cls(start, end, 0.0, 1.0)
        least, most = min(positive), max(positive)
        if most / least >= _DECADES:
            floor, ceiling = 10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most))
            return cls(start, end, floor, ceiling, logarithmic=True)
        step = _step(most * 1.02)
        return cls(start, end, 0.0, step * math.ceil(most * 1.02 / step))

    def __call__(self, value: float) -> float:
        """Where `value` stands."""
        if self.logarithmic:
            share = math.log(max(value, self.floor) / self.floor) / math.log(self.ceiling / self.floor)
        else:
            share = (value - self.floor) / (self.ceiling - self.floor)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round values to label, from the smallest on."""
        if self.logarithmic:
            first, last = round(math.log10(self.floor)), round(math.log10(self.ceiling))
            return [10.0**power for power in range(first, last + 1)]
        step = _step(self.ceiling - self.floor)
        count = math.floor((self.ceiling - self.floor) / step + 1e-9)  # never beyond the end
        return [self.floor + step * index for index in range(count + 1)]


def _step(span: float) -> float:
    """The round distance of four to eight ticks over `span`."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999)


class Point(NamedTuple):
    """A run in the drawing: where its marker stands and where its value is."""

    run: Run
    x: float
    y: float
    value_x: float
    low: float
    high: float
    said: str


def scatter(
    runs: Sequence[Run],
    value: Callable[[Run], float | None],
    *,
    title: str,
    axis: str,
    spell: Callable[[float], str] = short,
) -> Html:
    """A figure with a point for each run that has a success and a `value`; the others are named below it."""
    known = [
        (run, success, found)
        for run in runs
        if (success := run.summary.success) is not None and (found := value(run)) is not None
    ]
    if not known:
        return _empty(title, f"Nothing to draw: no run has both a graded answer and {axis.lower()}.")
    if all(found == 0 for *_, found in known):
        return _empty(title, f"Nothing to draw: {spell(0)} for every run.")
    across = Scale.fit([found for *_, found in known], LEFT + RADIUS + 4, RIGHT - RADIUS - 4)
    upward = _upward(max(success.high for _, success, _ in known))
    points = []
    for run, success, found in known:
        range_ = f"{percent(success.mean)} ({interval((success.low, success.high))})"
        x, low, high = across(found), upward(success.low), upward(success.high)
        said = f"{run.label}: {range_} at {spell(found)}"
        points.append(Point(run, x, upward(success.mean), x, low, high, said))
    points = _apart(points)
    absent = [run.letter for run in runs if run.letter not in {one.letter for one, *_ in known}]
    notes = [
        *(["Logarithmic axis."] if across.logarithmic else []),
        *(
            ["Points that would cover each other stand side by side; a thin line leads to the value."]
            if any(abs(point.x - point.value_x) > 1 for point in points)
            else []
        ),
        *([f"Not shown, for want of a figure: {', '.join(absent)}."] if absent else []),
    ]
    ticks = [(across(tick), spell(tick)) for tick in across.ticks()]
    shapes = [*map(_whisker, points), *(_mark(one.run, one.x, one.y, one.said) for one in points)]
    return _figure(f"{title}, with 95% intervals", title, [_grid(ticks, upward, axis), *shapes], notes)


def legend(runs: Sequence[Run]) -> Html:
    """The runs by their letters, as the drawings mark them."""
    return tag("ul", *(tag("li", run.mark, " ", abbreviated(run.name)) for run in runs), class_="legend")


def by_depth(runs: Sequence[Run]) -> Html:
    """A figure with a line for each run: the share of its graded answers that are right, by the depth of the task."""
    title, axis = "Success against depth", "Calls in the longest chain of a task"
    shares = {
        run.letter: [
            (band, sum(row.correct for row in some) / len(some), len(some))
            for band, (low, high) in enumerate(DEPTHS)
            if (some := [one for one in run.rows if one.graded and low <= one.depth <= (high or one.depth)])
        ]
        for run in runs
    }
    if not any(shares.values()):
        return _empty(title, "Nothing to draw: no graded answer is of a task whose depth is known.")
    step = (RIGHT - LEFT - 4 * RADIUS) / (len(DEPTHS) - 1)
    upward = _upward(max(share for of_run in shares.values() for _, share, _ in of_run))
    names = [f"{low} and more" if high is None else f"{low}–{high}" for low, high in DEPTHS]
    shapes, marks, ends = [], [], list[Point]()
    for run in (run for run in runs if shares[run.letter]):
        spots = [(LEFT + 2 * RADIUS + band * step, upward(share)) for band, share, _ in shares[run.letter]]
        shapes.append(
            tag("path", d="M" + "L".join(f"{x:g} {y:g}" for x, y in spots), class_=f"whisker run-{run.colour}")
        )
        told = [f"{run.label}: {percent(share)} of {n} at {names[band]}" for band, share, n in shares[run.letter]]
        for (x, y), said in zip(spots[:-1], told, strict=False):
            dot = tag("circle", cx=x, cy=y, r=3.5, class_=f"solid run-{run.colour}")
            marks.append(tag("g", tag("title", said), dot))
        x, y = spots[-1]
        ends.append(Point(run, x, y, x, y, y, told[-1]))
    ends = _apart(ends)
    marks += [_mark(end.run, end.x, end.y, end.said) for end in ends]
    grid = _grid([(LEFT + 2 * RADIUS + n * step, name) for n, name in enumerate(names)], upward, axis)
    return _figure(title, title, [grid, *shapes, *marks], [])


def _empty(title: str, note: str) -> Html:
    return tag("figure", tag("figcaption", title), tag("p", note, class_="note"))


def _figure(said: str, title: str, shapes: Sequence[Html], notes: Sequence[str]) -> Html:
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    drawing = tag("svg", tag("title", said), *shapes, viewBox=box, role="img", class_="plot")
    note = tag("p", " ".join(notes), class_="note") if notes else Html()
    return tag("figure", tag("figcaption", title), tag("div", drawing, class_="wide"), note)


def _upward(highest: float) -> Scale:
    """From 0 to the next round share that holds every interval."""
    ceiling = next(share for share in (0.2, 0.4, 0.6, 0.8, 1.0) if share >= min(highest, 1.0))
    return Scale(BOTTOM, TOP + RADIUS, 0.0, ceiling)


def _apart(points: Sequence[Point]) -> list[Point]:
    """The points with markers moved sideways where they would cover another."""
    moved: list[Point] = []
    for point in points:
        steps = sorted(range(-48, 49), key=lambda step: (abs(step), -step))
        spots = [x for step in steps if LEFT + RADIUS <= (x := point.x + step * RADIUS) <= RIGHT - RADIUS]
        near = [one for one in moved if abs(one.y - point.y) < 2 * RADIUS]
        free = (x for x in spots if all(math.hypot(x - one.x, point.y - one.y) >= 2 * RADIUS for one in near))
        moved.append(point._replace(x=next(free, point.x)))
    return moved


def _grid(ticks: Sequence[tuple[float, str]], upward: Scale, axis: str) -> Html:
    lines = []
    for share in upward.ticks():
        y = upward(share)
        lines.append(tag("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="axis" if share == 0 else "grid"))
        lines.append(tag("text", f"{100 * share:.0f}%", x=LEFT - 8, y=y + 4, text_anchor="end", class_="tick"))
    for x, name in ticks:
        lines.append(tag("line", x1=x, x2=x, y1=BOTTOM, y2=BOTTOM + 5, class_="axis"))
        lines.append(tag("text", name, x=x, y=BOTTOM + 19, text_anchor="middle", class_="tick"))
    lines.append(tag("text", axis, x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle", class_="title"))
    return join(lines)


def _whisker(point: Point) -> Html:
    strokes = f"M{point.x:g} {point.low:g}V{point.high:g}m-4 0h8M{point.x - 4:g} {point.low:g}h8"
    parts = [tag("path", d=strokes, class_=f"whisker run-{point.run.colour}")]
    if abs(point.x - point.value_x) > 1:
        parts.append(tag("path", d=f"M{point.x:g} {point.y:g}H{point.value_x:g}", class_="leader"))
        parts.append(tag("circle", cx=point.value_x, cy=point.y, r=2, class_=f"solid run-{point.run.colour}"))
    return join(parts)


def abbreviated(name: str) -> str:
    """A run's name, short enough for a drawing."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _mark(run: Run, x: float, y: float, said: str) -> Html:
    circle = tag("circle", cx=x, cy=y, r=RADIUS, class_=f"marker run-{run.colour}")
    letter = tag("text", run.letter, x=x, y=y + 4, text_anchor="middle", class_="letter")
    return tag("g", tag("title", said), circle, letter)
