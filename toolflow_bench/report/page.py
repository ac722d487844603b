"""The page as a whole: one file, nothing fetched, and a policy under which no other script or style can act."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from toolflow_bench.compare import Comparison, compare
from toolflow_bench.report.breakdown import breakdown
from toolflow_bench.report.comparison import comparison, differences
from toolflow_bench.report.drilldown import drilldown
from toolflow_bench.report.failures import failures
from toolflow_bench.report.formats import dollars
from toolflow_bench.report.header import header, title
from toolflow_bench.report.markup import Html, join, tag, text
from toolflow_bench.report.runs import Run, tasks
from toolflow_bench.report.scatter import scatter

GENERATOR = "atc bench report"
"""By this a page is known as ours."""


def compared(runs: Sequence[Run]) -> list[Comparison]:
    """Each run after the first against the first."""
    return [compare(runs[0].rows, run.rows) for run in runs[1:]]


def render(runs: Sequence[Run], against_first: Sequence[Comparison]) -> str:
    """The page of `runs`; `against_first` is `compared(runs)`."""
    found = tasks(runs)
    body = [header(runs, len(found)), _contents(runs)]
    body.append(_section("figures", "Figures", comparison(runs)))
    if len(runs) > 1:
        body.append(_section("differences", f"Differences from {runs[0].label}", differences(runs, against_first)))
    plots = [
        scatter(runs, lambda run: run.cost, title="Success against cost", axis="US dollars a task", spell=dollars),
        scatter(runs, lambda run: run.tokens, title="Success against tokens", axis="Tokens a task, read and written"),
    ]
    body.append(_section("plots", "What success takes", tag("div", *plots, class_="plots")))
    body.append(_section("failures", "How the answers ended", failures(runs)))
    body.append(_section("groups", "Success by group", breakdown(runs)))
    body.append(_section("tasks", "Tasks", drilldown(runs, found) if found else tag("p", "There are no rows yet.")))
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        generator=text(f"{GENERATOR} {runs[0].header.version}"),
        title=text(title(runs)),
        style=style,
        script=script,
        body=join(body, "\n"),
    )


def document(runs: Sequence[Run], against_first: Sequence[Comparison]) -> dict[str, Any]:
    """The figures of the page for machines."""
    return {
        "runs": [
            {
                "letter": run.letter,
                "name": run.name,
                "file": run.file,
                "suite": run.header.suite,
                "model": run.header.model,
                "seed": run.header.seed,
                "data": run.header.data,
                "version": run.header.version,
                "settings": dict(run.header.settings),
                "figures": run.summary.as_json(),
            }
            for run in runs
        ],
        "differences": [
            {"from": runs[0].letter, "to": run.letter} | one.as_json()
            for run, one in zip(runs[1:], against_first, strict=True)
        ],
    }


def _contents(runs: Sequence[Run]) -> Html:
    links = [
        ("figures", "Figures"),
        ("differences", "Differences"),
        ("plots", "Cost and tokens"),
        ("failures", "Failures"),
        ("groups", "Groups"),
        ("tasks", "Tasks"),
    ]
    kept = [(anchor, name) for anchor, name in links if anchor != "differences" or len(runs) > 1]
    return tag("nav", *(tag("a", name, href=f"#{anchor}") for anchor, name in kept), aria_label="Sections")


def _section(anchor: str, heading: str, content: Html) -> Html:
    return tag("section", tag("h2", heading), content, id=anchor)


def _asset(name: str) -> str:
    return (files("toolflow_bench.report") / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
