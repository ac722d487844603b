"""Success against what it takes: one point a run, its 95% interval upright, drawn as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from toolflow_bench.report.formats import interval, percent, short
from toolflow_bench.report.labels import Box, place
from toolflow_bench.report.markup import Html, join, tag
from toolflow_bench.report.runs import Run
from toolflow_bench.report.scale import Scale, fit

WIDTH, HEIGHT = 560.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 544.0, 16.0, 312.0
RADIUS = 9.0
_LONGEST_NAME = 30  # letters; the table of runs has the whole name


class Point(NamedTuple):
    """A run in the drawing: where its marker stands and where its value is."""

    run: Run
    x: float
    y: float
    value_x: float
    low: float
    high: float


def scatter(
    runs: Sequence[Run],
    value: Callable[[Run], float | None],
    *,
    title: str,
    axis: str,
    spell: Callable[[float], str] = short,
) -> Html:
    """A figure with a point for each run that has a success and a `value`; the others are named below it."""
    known = [(run, found) for run in runs if run.summary.success is not None and (found := value(run)) is not None]
    absent = [run.letter for run in runs if run not in [one for one, _ in known]]
    if not known:
        empty = tag("p", f"Nothing to draw: no run has both a graded answer and {axis.lower()}.", class_="note")
        return tag("figure", tag("figcaption", title), empty)
    if all(found == 0 for _, found in known):
        return tag(
            "figure", tag("figcaption", title), tag("p", f"Nothing to draw: {spell(0)} for every run.", class_="note")
        )
    across = fit([found for _, found in known], LEFT + RADIUS + 4, RIGHT - RADIUS - 4)
    upward = _upward(max(run.summary.success.high for run, _ in known if run.summary.success is not None))
    points = _apart([_point(run, across(found), upward) for run, found in known])
    drawing = tag(
        "svg",
        tag("title", f"{title}, with 95% intervals"),
        _grid(across, upward, axis, spell),
        *(_whisker(point) for point in points),
        *_names(points),
        *(_mark(point, value, spell) for point in points),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        class_="plot",
    )
    notes = []
    if across.logarithmic:
        notes.append("Logarithmic axis.")
    if any(abs(point.x - point.value_x) > 1 for point in points):
        notes.append("Points that would cover each other stand side by side; a thin line leads to the value.")
    if absent:
        notes.append(f"Not shown, for want of a figure: {', '.join(absent)}.")
    said = tag("p", " ".join(notes), class_="note") if notes else Html()
    return tag("figure", tag("figcaption", title), tag("div", drawing, class_="wide"), said)


def _point(run: Run, x: float, upward: Scale) -> Point:
    found = run.summary.success
    assert found is not None
    return Point(run, x, upward(found.mean), x, upward(found.low), upward(found.high))


def _upward(highest: float) -> Scale:
    """From 0 to the next round share that holds every interval."""
    ceiling = next(share for share in (0.2, 0.4, 0.6, 0.8, 1.0) if share >= min(highest, 1.0))
    return Scale(BOTTOM, TOP + RADIUS, 0.0, ceiling)


def _apart(points: Sequence[Point]) -> list[Point]:
    """The points with markers moved sideways where they would cover another."""
    moved: list[Point] = []
    for point in points:
        steps = sorted(range(-24, 25), key=lambda step: (abs(step), -step))
        spots = [point.x + step * RADIUS for step in steps]
        inside = [x for x in spots if LEFT + RADIUS <= x <= RIGHT - RADIUS]
        free = [x for x in inside if all(not _near(x, point.y, other) for other in moved)]
        moved.append(point._replace(x=free[0] if free else point.x))
    return moved


def _near(x: float, y: float, other: Point) -> bool:
    return (x - other.x) ** 2 + (y - other.y) ** 2 < (2 * RADIUS) ** 2


def _grid(across: Scale, upward: Scale, axis: str, spell: Callable[[float], str]) -> Html:
    lines = []
    for share in upward.ticks():
        y = upward(share)
        lines.append(tag("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="axis" if share == 0 else "grid"))
        lines.append(tag("text", f"{100 * share:.0f}%", x=LEFT - 8, y=y + 4, text_anchor="end", class_="tick"))
    for value in across.ticks():
        x = across(value)
        lines.append(tag("line", x1=x, x2=x, y1=BOTTOM, y2=BOTTOM + 5, class_="axis"))
        lines.append(tag("text", spell(value), x=x, y=BOTTOM + 19, text_anchor="middle", class_="tick"))
    lines.append(tag("text", axis, x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle", class_="title"))
    return join(lines)


def _whisker(point: Point) -> Html:
    strokes = f"M{point.x:g} {point.low:g}V{point.high:g}m-4 0h8M{point.x - 4:g} {point.low:g}h8"
    parts = [tag("path", d=strokes, class_=f"whisker run-{point.run.number}")]
    if abs(point.x - point.value_x) > 1:
        parts.append(tag("path", d=f"M{point.x:g} {point.y:g}H{point.value_x:g}", class_="leader"))
        parts.append(tag("circle", cx=point.value_x, cy=point.y, r=2, class_=f"solid run-{point.run.number}"))
    return join(parts)


def _names(points: Sequence[Point]) -> list[Html]:
    """The names, where there is room for them; the letter in the marker remains for the others."""
    names = [
        point.run.name if len(point.run.name) <= _LONGEST_NAME else f"{point.run.name[: _LONGEST_NAME - 1]}…"
        for point in points
    ]
    whiskers = [Box(point.x - 5, point.high, point.x + 5, point.low) for point in points]
    frame = Box(LEFT + 2, 0, WIDTH, BOTTOM)
    boxes = place([(point.x, point.y) for point in points], names, radius=RADIUS, frame=frame, taken=whiskers)
    drawn = []
    for point, name, box in zip(points, names, boxes, strict=True):
        if box is None:
            continue
        middle = (box.top + box.bottom) / 2
        if abs(middle - point.y) > 2 * RADIUS:
            near = min(max(point.x, box.left), box.right)
            drawn.append(tag("path", d=f"M{point.x:g} {point.y:g}L{near:g} {middle:g}", class_="leader"))
        # Narrower letters than reckoned with leave room: it is left on the side away from the marker.
        left_side = box.right <= point.x
        x, anchor = (box.right, "end") if left_side else (box.left, "start")
        drawn.append(tag("text", name, y=middle + 4, x=x, text_anchor=anchor, class_="name"))
    return drawn


def _mark(point: Point, value: Callable[[Run], float | None], spell: Callable[[float], str]) -> Html:
    run, found = point.run, point.run.summary.success
    assert found is not None
    what = f"{run.label}: {percent(found.mean)} ({interval((found.low, found.high))}) at {spell(value(run) or 0.0)}"
    return tag(
        "g",
        tag("title", what),
        tag("circle", cx=point.x, cy=point.y, r=RADIUS, class_=f"marker run-{run.number}"),
        tag("text", run.letter, x=point.x, y=point.y + 4, text_anchor="middle", class_="letter"),
    )
