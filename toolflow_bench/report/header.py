"""The top of the report page: what was run, and the main result in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter

from atc.core.pages.formats import interval, percent
from atc.core.pages.markup import Markup, escape
from atc.core.pages.templates import format_json
from atc.core.text import count
from toolflow_bench.report.parts import FIGURES
from toolflow_bench.report.runs import ReportedRun, is_leaderboard

_SUITES = {"toolflow": "ToolFlow", "restbench": "RestBench"}


def title(runs: Sequence[ReportedRun]) -> str:
    """Return the title of the page, such as `ToolFlow: 3 runs`."""
    suites = " and ".join(
        dict.fromkeys(_SUITES.get(run.header.suite, run.header.suite) for run in runs)
    )
    return f"{suites}{' leaderboard' if is_leaderboard(runs) else ''}: {count(len(runs), 'run')}"


def header(runs: Sequence[ReportedRun], tasks: int) -> Markup:
    """Render the title, the main result, the properties of the runs, and notes.

    Properties that all runs share are shown separately from those in which runs differ.
    """
    described = [_describe_run(run) for run in runs]
    values = {key: list(map(itemgetter(key), described)) for key in described[0]}
    common = [key for key, each in values.items() if each[0] and len(set(each)) == 1]
    differing = [key for key, each in values.items() if key not in common and any(each)]
    parts = (
        title(runs),
        _sentence(runs, tasks),
        described,
        common,
        differing,
        _settings(runs),
        _list_caveats(runs),
    )
    return escape(FIGURES.header(runs, *parts))


def _describe_run(run: ReportedRun) -> Mapping[str, str]:
    settings = run.header.settings
    return {
        "Suite": run.header.suite,
        "Split": format_json(settings.get("split") or ""),
        "Model": run.header.model,
        "Strategy": format_json(settings.get("strategy") or ""),
        "Tasks": f"{run.summary.questions:,}",
        "Repeats": str(run.summary.repeats) if run.summary.repeats > 1 else "",
        "Seed": str(run.header.seed),
        "Written": run.written,
        "atc": run.header.version,
        "Questions": run.header.data[:16],
        "Rows": run.file,
    }


def _settings(runs: Sequence[ReportedRun]) -> list[tuple[str, str]]:
    """Return all settings but the split and the strategy, with their values.

    Settings in which the runs differ come first.
    """
    keys = dict.fromkeys(
        key for run in runs for key in run.header.settings if key not in ("split", "strategy")
    )
    same = []
    different = []
    for key in keys:
        values = [format_json(run.header.settings.get(key)) for run in runs]
        if len(set(values)) == 1:
            same.append((key, values[0]))
        else:
            told = (f"{run.letter} {value}" for run, value in zip(runs, values, strict=True))
            different.append((key, "; ".join(told)))
    return [*different, *same]


def _sentence(runs: Sequence[ReportedRun], tasks: int) -> str:
    graded = [(run, success) for run in runs if (success := run.summary.success) is not None]
    if not graded:
        return "No answer was graded." if tasks else "There are no rows yet."
    best, found = max(graded, key=lambda pair: pair[1].mean)
    share = f"{percent(found.mean)} (95% interval {interval((found.low, found.high))})"
    solved = f"{best.summary.solved:,} of {count(best.summary.graded, 'answer')}"
    if len(runs) == 1:
        return f"{best.name} got {solved} right: {share}."
    over = count(tasks, "task")
    level = [run.letter for run, success in graded if success.mean == found.mean]
    if len(level) > 1:
        return (
            f"Over {over}, {' and '.join(level)} have the highest success, {percent(found.mean)} "
            "each."
        )
    return f"Over {over}, {best.label} has the highest success: {solved}, {share}."


def _list_caveats(runs: Sequence[ReportedRun]) -> list[str]:
    notes = []
    if len({(run.header.suite, run.header.data) for run in runs}) > 1:
        notes.append(
            "These runs were asked different sets of questions, so their figures are not of the "
            "same tasks; "
            "differences are over the tasks that two runs share."
        )
    elif len({frozenset(map(attrgetter("id"), run.rows)) for run in runs}) > 1:
        notes.append(
            "Not every run has every task; differences are over the tasks that two runs share."
        )
    left = [
        f"{run.letter}{':' if is_leaderboard(runs) else ''} {number}"
        if len(runs) > 1
        else count(number, "answer")
        for run in runs
        if (number := run.summary.ungraded)
    ]
    if left:
        notes.append(
            f"Not graded, because our side failed: {', '.join(left)}. The same 'bench run' "
            "command asks them again."
        )
    return notes
