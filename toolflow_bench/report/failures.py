"""How the graded answers of each run ended: right, or wrong in which way, as stacked bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from atc.pages.formats import counted
from atc.pages.markup import Html, join, little, table, tag, terms
from toolflow_bench.metrics import Row
from toolflow_bench.report.plots import abbreviated
from toolflow_bench.report.runs import Run

CLASSES: Mapping[str, tuple[str, str]] = {
    "right": ("Right", ""),
    "retrieval": ("Retrieval", "a needed tool was neither offered to the model nor called"),
    "program": ("Program", "no program passed the check, or the last one raised or called a tool wrongly"),
    "misread": ("Misread", "the last program read what is not in a response, or the response had left its schema"),
    "tool": ("Tool", "a tool failed and the last program did not get over it, or a write's outcome is unknown"),
    "limit": ("Limit", "time, calls, tokens or another cap ended the run before an answer"),
    "wrong_answer": ("Wrong answer", "an answer was given, or a state left, and it is not the right one"),
    "no_answer": ("No answer", "the last program ended well and said nothing"),
    "other": ("Other", "not classed"),
}
"""Class → its name and what it says, in the order of the pipeline."""

_NAMES_WIDTH, _BAR_WIDTH, _AFTER_WIDTH = 230.0, 640.0, 100.0
_ROW, _BAR = 34.0, 22.0


def outcome(row: Row) -> str:
    """The class of a graded answer."""
    return "right" if row.correct else row.failure if row.failure in CLASSES else "other"


def failures(runs: Sequence[Run]) -> Html:
    """The bars, their legend, and the same numbers as a table."""
    counts = [Counter(outcome(row) for row in run.rows if row.graded) for run in runs]
    present = {key: about for key, about in CLASSES.items() if any(count[key] for count in counts)}
    bars = tag(
        "svg",
        tag("title", "How the answers of each run ended"),
        *(_bar(run, count, index * _ROW + 4) for index, (run, count) in enumerate(zip(runs, counts, strict=True))),
        viewBox=f"0 0 {_NAMES_WIDTH + _BAR_WIDTH + _AFTER_WIDTH:g} {_ROW * len(runs) + 4:g}",
        class_="bars",
    )
    legend = [
        tag("li", little(12, 12, _swatch(key), class_="swatch"), name, title=meaning or None)
        for key, (name, meaning) in present.items()
    ]
    rows = [
        [tag("th", run.label, scope="row"), *(tag("td", f"{count[key]:,}") for key in present)]
        for run, count in zip(runs, counts, strict=True)
    ]
    numbers = table("How the answers of each run ended", ["Run", *(name for name, _ in present.values())], rows)
    meanings = terms((name, meaning) for name, meaning in present.values() if meaning)
    more = tag("details", tag("summary", "As a table, and what the classes mean"), numbers, meanings, class_="more")
    return join([tag("ul", *legend, class_="legend"), tag("div", bars, class_="wide"), more])


def _swatch(key: str) -> Html:
    return tag("rect", width=12, height=12, rx=2, class_=f"seg {key}")


def _bar(run: Run, count: Mapping[str, int], top: float) -> Html:
    total, line = run.summary.graded, top + _BAR / 2 + 4
    parts = [
        tag("circle", cx=10, cy=line - 4, r=9, class_=f"marker run-{run.colour}"),
        tag("text", run.letter, x=10, y=line, text_anchor="middle", class_="letter"),
        tag("text", abbreviated(run.name), x=26, y=line, class_="name"),
    ]
    if not total:
        parts.append(tag("text", "no graded answer", x=_NAMES_WIDTH, y=line, class_="tick"))
    left = _NAMES_WIDTH
    for key, (name, _) in CLASSES.items():
        if number := count[key]:
            width = _BAR_WIDTH * number / total
            said = f"{run.label}. {name}: {counted(number, 'answer')}"
            segment = [tag("title", said)]
            segment.append(tag("rect", x=left, y=top, width=max(width - 1, 0.5), height=_BAR, class_=f"seg {key}"))
            if width >= 9 * len(str(number)) + 6:
                number_ = tag("text", f"{number}", x=left + width / 2, y=line, text_anchor="middle", class_=f"on {key}")
                segment.append(number_)
            wanted = "verdict=right" if key == "right" else f"failure={key}"
            shown = {"href": f"#tasks&run={run.letter}&{wanted}", "aria_label": f"{said}: show them"}
            parts.append(tag("a", *segment, **shown))
            left += width
    if run.summary.ungraded:
        after = f"+ {counted(run.summary.ungraded, 'outage')}"
        parts.append(tag("text", after, x=_NAMES_WIDTH + _BAR_WIDTH + 8, y=line, class_="tick"))
    return tag("g", *parts)
