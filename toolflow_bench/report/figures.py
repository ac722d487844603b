"""Tables of metrics: all runs, differences from the first run, and success by group of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from atc.core.pages.formats import dollars, mean, percent, points, seconds
from atc.core.pages.markup import Markup, escape
from toolflow_bench.compare import Comparison
from toolflow_bench.metrics import Share
from toolflow_bench.report.parts import FIGURES
from toolflow_bench.report.runs import ReportedRun
from toolflow_bench.resampling import Estimate

Spell = Callable[[float | None], str]

_SHARES = {"Success": "success", "Path": "path", "Precision": "precision", "CP": "cp"}
_MEANS: Mapping[str, tuple[str, Spell]] = {
    "Calls": ("calls", mean),
    "Model calls": ("model_calls", mean),
    "Repairs": ("repairs", mean),
    "Tokens in": ("input_tokens", mean),
    "Tokens out": ("output_tokens", mean),
    "Time": ("seconds_total", seconds),
    "Own time": ("own_seconds_total", seconds),
    "Cost": ("cost", dollars),
}
_TOTALS = {
    "Repeated writes": "repeated_writes",
    "Orphaned writes": "orphaned_writes",
    "Outages": "ungraded",
}
"""Column heads of the table of runs, each with the field of `Summary` that the column shows."""
_DIFFERENCES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "success": ("Success", points),
    "path": ("Path", points),
    "precision": ("Precision", points),
    "cp": ("CP", points),
    "calls": ("Calls", lambda value: _signed(value, mean)),
    "tokens": ("Tokens", lambda value: _signed(value, mean)),
    "seconds": ("Time", lambda value: _signed(value, lambda size: f"{mean(size)} s")),
    "cost": ("Cost", lambda value: _signed(value, lambda size: dollars(size, digits=2))),
}
_GROUPS = {
    "By service": "by_service",
    "By calls needed": "by_calls",
    "By difficulty": "by_difficulty",
    "By split": "by_split",
}


def figures(runs: Sequence[ReportedRun]) -> Markup:
    """Render the table of metrics, with one row for each benchmark run.

    If the runs differ in a column of shares, the highest share is bold.
    """
    summaries = [run.summary for run in runs]
    best = {head: _best(list(map(attrgetter(key), summaries))) for head, key in _SHARES.items()}
    unpriced = [run.letter for run in runs if 0 < run.summary.unpriced < run.summary.graded]
    return escape(FIGURES.figures(runs, _SHARES, _MEANS, _TOTALS, best, unpriced))


def differences(runs: Sequence[ReportedRun], compared: Sequence[Comparison]) -> Markup:
    """Render a table of how the metrics of each later run differ from those of the first run.

    The metrics are computed over the tasks that both runs have graded.
    """
    known = {key for one in compared for key in one.differences}
    shown = {key: about for key, about in _DIFFERENCES.items() if key in known}
    return escape(
        FIGURES.differences(runs[0].letter, list(zip(runs[1:], compared, strict=True)), shown)
    )


def breakdown(runs: Sequence[ReportedRun]) -> Markup:
    """Render the share of solved tasks by service, number of needed calls, difficulty and split."""
    kept: list[tuple[str, str, list[str]]] = []
    for title, key in _GROUPS.items():
        names = _graded_groups(runs, key)
        # A single split, or a single service without a name, adds nothing to the table above.
        if len(names) > 1 or (names and key != "by_split" and names != [""]):
            kept.append((title, key, names))
    # Spaces allow a line break in `flights + places`; `7+` stays as it is.
    heads = [
        n if n.endswith("+") else " + ".join(n.split("+")) for _, _, names in kept for n in names
    ]
    return escape(
        FIGURES.breakdown(runs, kept, heads, [(title, len(names)) for title, _, names in kept])
    )


def _graded_groups(runs: Sequence[ReportedRun], key: str) -> list[str]:
    """Return the groups of tasks in which at least one run has a graded answer.

    The groups are in the order in which they occur. `key` is the field of `Summary` that has the
    groups, such as `by_service`.
    """
    shares: list[Mapping[str, Share]] = [getattr(run.summary, key) for run in runs]
    names = dict.fromkeys(name for by_name in shares for name in by_name)
    graded = {name for by_name in shares for name, share in by_name.items() if share.graded}
    return [name for name in names if name in graded]


def _best(found: Sequence[Estimate | None]) -> str | None:
    """Return the highest of the shares, formatted as it is shown in a table.

    Return None if all shares look alike in this format, so that none of them is highlighted.
    """
    known = [one.mean for one in found if one is not None]
    return percent(max(known)) if len(set(map(percent, known))) > 1 else None


def _signed(value: float, spell: Spell) -> str:
    shown = spell(abs(value))
    return shown if value == 0 else f"{'+' if value > 0 else '−'}{shown}"
