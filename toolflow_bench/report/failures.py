"""How the graded answers of each run ended: right, or wrong in which way, as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow_bench.metrics import Row
from toolflow_bench.report.formats import counted
from toolflow_bench.report.markup import Html, join, tag
from toolflow_bench.report.runs import Run

CLASSES = (
    ("right", "Right", ""),
    ("retrieval", "Retrieval", "a needed tool was neither offered to the model nor called"),
    ("program", "Program", "no program passed the check, or the last one raised or called a tool wrongly"),
    ("misread", "Misread", "the last program read what is not in a response, or the response had left its schema"),
    ("tool", "Tool", "a tool failed and the last program did not get over it, or a write's outcome is unknown"),
    ("limit", "Limit", "time, calls, tokens or another cap ended the run before an answer"),
    ("wrong_answer", "Wrong answer", "an answer was given, or a state left, and it is not the right one"),
    ("no_answer", "No answer", "the last program ended well and said nothing"),
    ("other", "Other", "not classed"),
)
"""Class, its name and what it says, in the order of the pipeline."""

NAMES = {key: name for key, name, _ in CLASSES}

_NAMES_WIDTH, _BAR_WIDTH, _AFTER_WIDTH = 230.0, 640.0, 100.0
_ROW, _BAR = 34.0, 22.0
_LONGEST_NAME = 30


def outcome(row: Row) -> str:
    """The class of a graded answer."""
    return "right" if row.correct else row.failure if row.failure in NAMES else "other"


def outcomes(run: Run) -> dict[str, int]:
    """How many graded answers ended in each class; their sum is `run.summary.graded`."""
    found = dict.fromkeys((key for key, _, _ in CLASSES), 0)
    for row in run.rows:
        if row.graded:
            found[outcome(row)] += 1
    return found


def failures(runs: Sequence[Run]) -> Html:
    """The bars, their legend, and the same numbers as a table."""
    counts = [outcomes(run) for run in runs]
    present = [entry for entry in CLASSES if any(count[entry[0]] for count in counts)]
    height = _ROW * len(runs) + 4
    bars = tag(
        "svg",
        tag("title", "How the answers of each run ended"),
        *(_bar(run, count, index * _ROW + 4) for index, (run, count) in enumerate(zip(runs, counts, strict=True))),
        viewBox=f"0 0 {_NAMES_WIDTH + _BAR_WIDTH + _AFTER_WIDTH:g} {height:g}",
        class_="bars",
    )
    legend = tag(
        "ul", *(tag("li", _swatch(key), name, title=meaning or None) for key, name, meaning in present), class_="legend"
    )
    head = tag("tr", tag("th", "Run", scope="col"), *(tag("th", name, scope="col") for _, name, _ in present))
    rows = [
        tag("tr", tag("th", run.label, scope="row"), *(tag("td", f"{count[key]:,}") for key, _, _ in present))
        for run, count in zip(runs, counts, strict=True)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="figures")
    meanings = [part for _, name, meaning in present if meaning for part in (tag("dt", name), tag("dd", meaning))]
    more = tag(
        "details",
        tag("summary", "As a table, and what the classes mean"),
        tag("div", table, class_="wide"),
        tag("dl", *meanings) if meanings else Html(),
        class_="more",
    )
    return join([legend, tag("div", bars, class_="wide"), more])


def _swatch(key: str) -> Html:
    return tag(
        "svg",
        tag("rect", width=12, height=12, rx=2, class_=f"seg {key}"),
        viewBox="0 0 12 12",
        class_="swatch",
        aria_hidden="true",
    )


def _bar(run: Run, count: dict[str, int], top: float) -> Html:
    total = run.summary.graded
    name = run.name if len(run.name) <= _LONGEST_NAME else f"{run.name[: _LONGEST_NAME - 1]}…"
    middle = top + _BAR / 2
    parts = [
        tag("circle", cx=10, cy=middle, r=9, class_=f"marker run-{run.number}"),
        tag("text", run.letter, x=10, y=middle + 4, text_anchor="middle", class_="letter"),
        tag("text", name, x=26, y=middle + 4, class_="name"),
    ]
    if not total:
        parts.append(tag("text", "no graded answer", x=_NAMES_WIDTH, y=middle + 4, class_="tick"))
    left = _NAMES_WIDTH
    for key, spelt, _ in CLASSES:
        if count[key]:
            width = _BAR_WIDTH * count[key] / total
            parts.append(
                _segment(run, key, f"{spelt}: {counted(count[key], 'answer')}", count[key], (left, top, width))
            )
            left += width
    ungraded = run.summary.outages + run.summary.crashes
    if ungraded:
        after = f"+ {counted(ungraded, 'outage')}"
        parts.append(tag("text", after, x=_NAMES_WIDTH + _BAR_WIDTH + 8, y=middle + 4, class_="tick"))
    return tag("g", *parts)


def _segment(run: Run, key: str, said: str, count: int, place: tuple[float, float, float]) -> Html:
    left, top, width = place
    parts = [
        tag("title", f"{run.label}. {said}"),
        tag("rect", x=left, y=top, width=max(width - 1, 0.5), height=_BAR, class_=f"seg {key}"),
    ]
    if width >= 9 * len(str(count)) + 6:
        parts.append(
            tag("text", f"{count}", x=left + width / 2, y=top + _BAR / 2 + 4, text_anchor="middle", class_=f"on {key}")
        )
    wanted = "verdict=right" if key == "right" else f"failure={key}"
    return tag("a", *parts, href=f"#tasks&run={run.letter}&{wanted}", aria_label=f"{run.label}. {said}: show them")
