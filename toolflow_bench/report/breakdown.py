"""Success by service, by the number of calls that a task needs, by difficulty, and by split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolflow_bench.metrics import Share
from toolflow_bench.report.comparison import marker
from toolflow_bench.report.formats import MISSING, percent
from toolflow_bench.report.markup import Html, tag
from toolflow_bench.report.runs import Run


def breakdown(runs: Sequence[Run]) -> Html:
    """A table of shares, a row each run; empty where no run has a graded answer."""
    groups = [
        ("By service", [run.summary.by_service for run in runs]),
        ("By calls needed", [run.summary.by_calls for run in runs]),
        ("By difficulty", [run.summary.by_difficulty for run in runs]),
        ("By split", [run.summary.by_split for run in runs]),
    ]
    kept = [(title, shares, names) for title, shares in groups if (names := _names(shares)) and _telling(title, names)]
    if not kept:
        return tag("p", "No answer was graded.", class_="note")
    titles = tag(
        "tr",
        tag("td"),
        *(tag("th", title, colspan=len(names), scope="colgroup") for title, _, names in kept),
        class_="groups",
    )
    heads = tag(
        "tr",
        tag("th", "Run", scope="col"),
        *(tag("th", _spaced(name), scope="col") for _, _, names in kept for name in names),
    )
    rows = []
    for index, run in enumerate(runs):
        cells = [_cell(shares[index].get(name), run) for _, shares, names in kept for name in names]
        name = tag("span", marker(run), tag("span", run.name, class_="name"), class_="run")
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    table = tag(
        "table",
        tag("caption", "Success by group", class_="sr"),
        tag("thead", titles, heads),
        tag("tbody", *rows),
        class_="figures",
    )
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Success by group")


def _spaced(name: str) -> str:
    """`flights + places`, which a line may break; `7+` as it is."""
    return " + ".join(name.split("+")) if not name.endswith("+") else name


def _telling(title: str, names: Sequence[str]) -> bool:
    """One split, or one service that has no name, says nothing that is not said above."""
    return len(names) > 1 if title == "By split" else names != [""]


def _names(shares: Sequence[Mapping[str, Share]]) -> list[str]:
    return [
        name
        for name in dict.fromkeys(key for one in shares for key in one)
        if any(name in one and one[name].graded for one in shares)
    ]


def _cell(share: Share | None, run: Run) -> Html:
    if share is None or not share.graded:
        return tag("td", MISSING)
    solved = share.solved / share.graded
    bar = tag(
        "svg",
        tag("rect", x=0, y=0, width=100, height=5, class_="rail"),
        tag("rect", x=0, y=0, width=100 * solved, height=5, class_=f"solid run-{run.number}"),
        viewBox="0 0 100 5",
        class_="meter",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return tag("td", percent(solved), tag("small", f"{share.solved} of {share.graded}"), bar)
