"""The top of a page: what was run, and in a sentence what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from protocols.jsontypes import Json
from toolflow_bench.report.comparison import marker
from toolflow_bench.report.formats import counted, interval, percent
from toolflow_bench.report.markup import Html, tag
from toolflow_bench.report.runs import Run

_SUITES = {"toolflow": "ToolFlow", "restbench": "RestBench"}
_TOLD = ("Suite", "Split", "Model", "Strategy", "Tasks", "Repeats", "Seed", "Written", "atc", "Questions", "Rows")


def title(runs: Sequence[Run]) -> str:
    """`ToolFlow: 3 runs`."""
    suites = list(dict.fromkeys(_SUITES.get(run.header.suite, run.header.suite) for run in runs))
    return f"{' and '.join(suites)}: {counted(len(runs), 'run')}"


def header(runs: Sequence[Run], tasks: int) -> Html:
    """Title, the sentence, what all runs have in common, what they differ in, and what to beware of."""
    told = [_told(run) for run in runs]
    common = [key for key in _TOLD if all(one[key] == told[0][key] for one in told) and told[0][key]]
    differing = [key for key in _TOLD if key not in common and any(one[key] for one in told)]
    facts = [tag("div", tag("dt", key), tag("dd", told[0][key])) for key in common]
    parts = [
        tag("p", "atc bench report", class_="kicker"),
        tag("h1", title(runs)),
        tag("p", _sentence(runs, tasks), class_="lede"),
        tag("dl", *facts, class_="facts") if facts else Html(),
        _table(runs, told, differing) if len(runs) > 1 else Html(),
        _settings(runs),
        *(tag("p", note, class_="beware") for note in _beware(runs)),
    ]
    return tag("header", *parts, id="top")


def _told(run: Run) -> dict[str, str]:
    settings = run.header.settings
    return {
        "Suite": run.header.suite,
        "Split": _spelt(settings.get("split") or ""),
        "Model": run.header.model,
        "Strategy": _spelt(settings.get("strategy") or ""),
        "Tasks": f"{run.summary.questions:,}",
        "Repeats": str(run.summary.repeats) if run.summary.repeats > 1 else "",
        "Seed": str(run.header.seed),
        "Written": run.written,
        "atc": run.header.version,
        "Questions": run.header.data[:16],
        "Rows": run.file,
    }


def _table(runs: Sequence[Run], told: Sequence[Mapping[str, str]], keys: Sequence[str]) -> Html:
    heads = [tag("th", key, scope="col") for key in ("Run", *keys)]
    rows = [
        tag("tr", tag("th", marker(run), scope="row"), *(tag("td", one[key]) for key in keys))
        for run, one in zip(runs, told, strict=True)
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="told")
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label="What was run")


def _settings(runs: Sequence[Run]) -> Html:
    """Everything else that was set, those first that differ."""
    keys = dict.fromkeys(key for run in runs for key in run.header.settings if key not in ("split", "strategy"))
    if not keys:
        return Html()
    values = {key: [_spelt(run.header.settings.get(key)) for run in runs] for key in keys}
    entries = []
    for key in sorted(keys, key=lambda key: len(set(values[key])) == 1):
        same = len(set(values[key])) == 1
        shown = (
            values[key][0]
            if same
            else "; ".join(f"{run.letter} {value}" for run, value in zip(runs, values[key], strict=True))
        )
        entries += [tag("dt", key), tag("dd", shown)]
    return tag("details", tag("summary", "All settings"), tag("dl", *entries), class_="more")


def _sentence(runs: Sequence[Run], tasks: int) -> str:
    graded = [run for run in runs if run.summary.success is not None]
    if not graded:
        return "No answer was graded." if tasks else "There are no rows yet."
    best = max(graded, key=lambda run: run.summary.success.mean if run.summary.success else 0.0)
    assert best.summary.success is not None
    found = best.summary.success
    share = f"{percent(found.mean)} (95% interval {interval((found.low, found.high))})"
    solved = f"{best.summary.solved:,} of {counted(best.summary.graded, 'answer')}"
    if len(runs) == 1:
        return f"{best.name} got {solved} right: {share}."
    over = counted(tasks, "task")
    level = [run.letter for run in graded if run.summary.success and run.summary.success.mean == found.mean]
    if len(level) > 1:
        return f"Over {over}, {' and '.join(level)} have the highest success, {percent(found.mean)} each."
    return f"Over {over}, {best.label} has the highest success: {solved}, {share}."


def _beware(runs: Sequence[Run]) -> list[str]:
    notes = []
    if len({(run.header.suite, run.header.data) for run in runs}) > 1:
        notes.append(
            "These runs were asked different sets of questions, so their figures are not of the same tasks; "
            "differences are over the tasks that two runs share."
        )
    elif len({tuple(sorted({row.id for row in run.rows})) for run in runs}) > 1:
        notes.append("Not every run has every task; differences are over the tasks that two runs share.")
    left = [
        f"{run.letter} {number}" if len(runs) > 1 else counted(number, "answer")
        for run in runs
        if (number := run.summary.outages + run.summary.crashes)
    ]
    if left:
        notes.append(
            f"Not graded, because our side failed: {', '.join(left)}. The same 'bench run' command asks them again."
        )
    empty = [run.letter for run in runs if not run.rows]
    if empty and len(runs) > 1:
        notes.append(f"No rows yet in {', '.join(empty)}.")
    return notes


def _spelt(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
