"""Every task on a line of its own, with a column for each run; opened it shows the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from atc.pages.formats import counted
from atc.pages.markup import Html, join, tag
from toolflow_bench.metrics import Row
from toolflow_bench.report.answers import Budget, answer, bytes_of, chips, level, spelt, wanted
from toolflow_bench.report.failures import CLASSES, outcome
from toolflow_bench.report.runs import Run, Task

_LONGEST_ON_A_LINE = 240
_LONGEST_QUESTION, _LONGEST_EXPECTED, _LONGEST_PATH = 6_000, 4_000, 2_000  # bytes
_VERDICTS = {
    "": "any verdict",
    "right": "right",
    "wrong": "wrong",
    "mixed": "right in some repeats",
    "outage": "outage",
}


def drilldown(runs: Sequence[Run], found: Sequence[Task]) -> Html:
    """The filter (shown by the script, which it needs), the head and the tasks."""
    rows = [row for task in found for of_run in task.rows.values() for row in of_run]
    most = level([*map(wanted, rows), *map(_wanted, found)])
    head = tag(
        "div",
        tag("span", "Task"),
        tag("span", "Question"),
        tag("span", "Calls", class_="needs", title="calls that the gold program makes"),
        tag("span", *(run.mark for run in runs), class_="chips"),
        class_="line head",
        aria_hidden="true",
    )
    listed = [_task(number, task, runs, most) for number, task in enumerate(found, 1)]
    return join([_filter(runs, found), head, tag("div", *listed, id="list")])


def _task(number: int, task: Task, runs: Sequence[Run], most: int) -> Html:
    verdicts = {run.letter: chips(task.rows.get(run.letter, [])) for run in runs}
    rows = [(letter, row) for letter, of_run in task.rows.items() for row in of_run if _is_wrong(row)]
    flat = " ".join(task.question.split())
    line = tag(
        "summary",
        tag("span", task.id, class_="id", title=task.id),
        tag(
            "span",
            flat if len(flat) <= _LONGEST_ON_A_LINE else f"{flat[: _LONGEST_ON_A_LINE - 1]}…",
            class_="question",
        ),
        tag("span", f"{task.needs:,}", class_="needs"),
        tag("span", *(_chip(run, *verdicts[run.letter]) for run in runs), class_="chips"),
        class_="line",
    )
    answers = [
        answer(run, row, Budget(most), repeats=len(of_run))
        for run in runs
        if (of_run := task.rows.get(run.letter, []))
        for row in of_run
    ]
    opened = tag("div", _about(number, task, Budget(most)), tag("div", *answers, class_="answers"), class_="opened")
    return tag(
        "details",
        line,
        opened,
        id=f"task-{number}",
        class_="task",
        data_verdicts=" ".join(f"{letter}:{found}" for letter, (found, _) in verdicts.items()),
        data_failures=" ".join(dict.fromkeys(f"{letter}:{outcome(row)}" for letter, row in rows)) or None,
        data_services="+".join(task.services) or None,
    )


def _is_wrong(row: Row) -> bool:
    return row.graded and not row.correct


def _wanted(task: Task) -> int:
    return bytes_of(task.question) + bytes_of(spelt(task.expected)) + sum(map(bytes_of, task.gold))


def _about(number: int, task: Task, budget: Budget) -> Html:
    """What was asked and is wanted, whole."""
    entries = [
        tag("dt", "Question"),
        tag("dd", budget.cut(task.question, _LONGEST_QUESTION)),
        tag("dt", "Expected"),
        tag("dd", budget.cut(spelt(task.expected), _LONGEST_EXPECTED), class_="said"),
    ]
    if task.gold:
        times = [(tool, len(list(same))) for tool, same in groupby(task.gold)]
        path = " → ".join(f"{tool} ×{count}" if count > 1 else tool for tool, count in times)
        entries += [tag("dt", "Gold calls"), tag("dd", budget.cut(path, _LONGEST_PATH), class_="said")]
    where = [
        *filter(None, (task.split, ", ".join(task.services))),
        tag("a", "link to this task", href=f"#task-{number}"),
        tag("a", "back to the figures", href="#top"),
    ]
    return join([tag("dl", *entries), tag("p", *(tag("span", part) for part in where), class_="took")])


def _chip(run: Run, found: str, mark: str) -> Html:
    spoken = tag("span", f"{run.letter}: {found}", class_="sr")
    shown = tag("span", mark, aria_hidden="true")
    return tag("span", spoken, shown, class_=f"chip {found}", title=f"{run.label}: {found}")


def _filter(runs: Sequence[Run], found: Sequence[Task]) -> Html:
    services = sorted({service for task in found for service in task.services})
    failures = {outcome(row) for run in runs for row in run.rows if _is_wrong(row)}
    several = len(runs) > 1
    selects: Mapping[str, dict[str, str]] = {
        "run": {"": "any run", **{run.letter: run.label for run in runs}} if several else {},
        "verdict": {**_VERDICTS, **({"differ": "runs differ"} if several else {})},
        "failure": {"": "any failure", **{key: name for key, (name, _) in CLASSES.items() if key in failures}},
        "service": {"": "any service", **{name: name for name in services}},
    }
    search = {"type": "search", "id": "search", "placeholder": "Search questions, answers, programs, calls …"}
    controls = [
        tag("input", **search, aria_label="Search the tasks"),
        *(
            tag(
                "select",
                *(tag("option", shown, value=value) for value, shown in options.items()),
                id=name,
                aria_label=name.capitalize(),
            )
            for name, options in selects.items()
            if len(options) > 1
        ),
        tag("button", "Reset", type="reset"),
        tag("output", counted(len(found), "task"), id="shown", aria_live="polite"),
    ]
    return tag("form", *controls, id="filter", hidden=True, autocomplete="off")
