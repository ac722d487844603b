"""Renders the complete report page, computes its numbers as JSON, and checks the output path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atc.core.pages.document import build_page as page
from atc.core.pages.formats import dollars
from atc.core.pages.markup import escape
from toolflow_bench.compare import Comparison, compare
from toolflow_bench.report.failures import failures
from toolflow_bench.report.figures import breakdown, differences, figures
from toolflow_bench.report.header import header, title
from toolflow_bench.report.parts import FIGURES
from toolflow_bench.report.plots import by_depth, scatter
from toolflow_bench.report.runs import InvalidReport, ReportedRun, is_leaderboard, tasks
from toolflow_bench.report.tasks import drilldown

GENERATOR = "atc bench report"
"""Name of the generator in the page's HTML, by which a report is recognized."""

_HEAD = 4096  # bytes at the start of a page, which name its generator


def compared(runs: Sequence[ReportedRun]) -> list[Comparison]:
    """Return the comparison of each later run with the first run.

    For a leaderboard (a report of many runs), return an empty list.
    """
    return [] if is_leaderboard(runs) else [compare(runs[0].rows, run.rows) for run in runs[1:]]


def render(runs: Sequence[ReportedRun], against_first: Sequence[Comparison]) -> str:
    """Render the report page. `against_first` are the comparisons that `compared` returned.

    A leaderboard (a report of many runs) has neither differences nor a list of tasks.
    """
    found = tasks(runs)
    cost = scatter(
        runs,
        lambda run: run.cost,
        title="Success against cost",
        axis="US dollars a task",
        spell=dollars,
    )
    axis = "Tokens a task, read and written"
    tokens = scatter(runs, lambda run: run.tokens, title="Success against tokens", axis=axis)
    plots = escape(FIGURES.plots(runs, [cost, tokens, by_depth(runs)]))
    sections = [("figures", "Figures", "Figures", figures(runs))]
    if against_first:
        told = differences(runs, against_first)
        sections.append(("differences", "Differences", f"Differences from {runs[0].label}", told))
    sections.append(("plots", "Cost, tokens and depth", "What success takes", plots))
    if not is_leaderboard(runs):
        sections.append(("failures", "Failures", "How the answers ended", failures(runs)))
    sections.append(("groups", "Groups", "Success by group", breakdown(runs)))
    if not is_leaderboard(runs):
        each = drilldown(runs, found) if found else FIGURES.nothing()
        sections.append(("tasks", "Tasks", "Tasks", each))
    body = header(runs, len(found)) + FIGURES.sections(sections)
    return page(
        escape(body),
        title=title(runs),
        made_by=GENERATOR,
        package="toolflow_bench.report",
        skip="tasks",
    )


def document(runs: Sequence[ReportedRun], against_first: Sequence[Comparison]) -> dict[str, Any]:
    """Return the metrics that the page shows as a JSON object."""
    told = []
    for run in runs:
        about: dict[str, Any] = {"letter": run.letter, "name": run.name, "file": run.file}
        about |= {
            name: getattr(run.header, name)
            for name in ("suite", "model", "seed", "data", "version")
        }
        told.append(about | {"settings": dict(run.header.settings), "figures": asdict(run.summary)})
    others = zip(runs[1:], against_first, strict=False)
    against = [{"from": runs[0].letter, "to": run.letter} | asdict(one) for run, one in others]
    return {"runs": told, "differences": against}


def check_target(path: Path) -> None:
    """Check that a report may be written to `path`. Only an earlier report may be overwritten.

    Raises:
        InvalidReport: the path names something else.
    """
    ours = f'name="generator" content="{GENERATOR} '.encode()
    if path.exists() and not (path.is_file() and ours in path.read_bytes()[:_HEAD]):
        raise InvalidReport(
            f"{str(path)!r} is there and is no report of ours; give another -o, or remove it."
        )
