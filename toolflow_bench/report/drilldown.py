"""Every task on a line of its own, with a column for each run; opened it shows the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolflow_bench.report.comparison import marker
from toolflow_bench.report.cutting import Budget, bytes_of, level
from toolflow_bench.report.detail import answer, chips, spelt, wanted
from toolflow_bench.report.failures import CLASSES, outcome
from toolflow_bench.report.formats import counted
from toolflow_bench.report.markup import Html, join, tag
from toolflow_bench.report.runs import Run, Task

_LONGEST_ON_A_LINE = 240
_LONGEST_QUESTION, _LONGEST_EXPECTED, _LONGEST_PATH = 6_000, 4_000, 2_000  # bytes
_VERDICTS = (
    ("", "any verdict"),
    ("right", "right"),
    ("wrong", "wrong"),
    ("mixed", "right in some repeats"),
    ("outage", "outage"),
)


def drilldown(runs: Sequence[Run], found: Sequence[Task]) -> Html:
    """The filter (shown by the script, which it needs), the head and the tasks."""
    by_letter = {run.letter: run for run in runs}
    rows = [row for task in found for of_run in task.rows.values() for row in of_run]
    most = level([*(wanted(row) for row in rows), *(_wanted(task) for task in found)])
    head = tag(
        "div",
        tag("span", "Task"),
        tag("span", "Question"),
        tag("span", "Calls", class_="needs", title="calls that the gold program makes"),
        tag("span", *(marker(run) for run in runs), class_="chips"),
        class_="line head",
        aria_hidden="true",
    )
    listed = [_task(number, task, by_letter, most) for number, task in enumerate(found, 1)]
    return join([_filter(runs, found), head, tag("div", *listed, id="list")])


def _task(number: int, task: Task, runs: Mapping[str, Run], most: int) -> Html:
    verdicts = {letter: chips(task.rows.get(letter, [])) for letter in runs}
    classes = [
        f"{letter}:{outcome(row)}"
        for letter, rows in task.rows.items()
        for row in rows
        if row.graded and not row.correct
    ]
    line = tag(
        "summary",
        tag("span", task.id, class_="id", title=task.id),
        tag("span", _one_line(task.question), class_="question"),
        tag("span", f"{task.needs:,}", class_="needs"),
        tag("span", *(_chip(runs[letter], *verdict) for letter, verdict in verdicts.items()), class_="chips"),
        class_="line",
    )
    return tag(
        "details",
        line,
        tag(
            "div",
            _about(number, task, Budget(most)),
            tag("div", *_answers(task, runs, most), class_="answers"),
            class_="opened",
        ),
        id=f"task-{number}",
        class_="task",
        data_verdicts=" ".join(f"{letter}:{found}" for letter, (found, _) in verdicts.items()),
        data_failures=" ".join(dict.fromkeys(classes)) or None,
        data_services="+".join(task.services) or None,
    )


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
        steps = [f"{tool} ×{times}" if times > 1 else tool for tool, times in _runs_of(task.gold)]
        entries += [tag("dt", "Gold calls"), tag("dd", budget.cut(" → ".join(steps), _LONGEST_PATH), class_="said")]
    where = [part for part in (task.split, ", ".join(task.services)) if part]
    links = [
        *where,
        tag("a", "link to this task", href=f"#task-{number}"),
        tag("a", "back to the figures", href="#top"),
    ]
    return join([tag("dl", *entries), tag("p", *(tag("span", part) for part in links), class_="took")])


def _answers(task: Task, runs: Mapping[str, Run], most: int) -> list[Html]:
    return [
        answer(run, row, Budget(most), repeats=len(task.rows[letter]))
        for letter, run in runs.items()
        for row in task.rows.get(letter, [])
    ]


def _runs_of(tools: Sequence[str]) -> list[tuple[str, int]]:
    """Tools in order, neighbours that are the same counted."""
    found: list[tuple[str, int]] = []
    for tool in tools:
        if found and found[-1][0] == tool:
            found[-1] = (tool, found[-1][1] + 1)
        else:
            found.append((tool, 1))
    return found


def _chip(run: Run, found: str, mark: str) -> Html:
    spoken = tag("span", f"{run.letter}: {found}", class_="sr")
    return tag(
        "span", spoken, tag("span", mark, aria_hidden="true"), class_=f"chip {found}", title=f"{run.label}: {found}"
    )


def _one_line(question: str) -> str:
    flat = " ".join(question.split())
    return flat if len(flat) <= _LONGEST_ON_A_LINE else f"{flat[: _LONGEST_ON_A_LINE - 1]}…"


def _filter(runs: Sequence[Run], found: Sequence[Task]) -> Html:
    services = sorted({service for task in found for service in task.services})
    failures = {outcome(row) for run in runs for row in run.rows if row.graded and not row.correct}
    controls = [
        tag(
            "input",
            type="search",
            id="search",
            placeholder="Search questions, answers, programs, calls …",
            aria_label="Search the tasks",
        ),
        _select("run", [("", "any run"), *((run.letter, run.label) for run in runs)], "Run")
        if len(runs) > 1
        else Html(),
        _select("verdict", [*_VERDICTS, *([("differ", "runs differ")] if len(runs) > 1 else [])], "Verdict"),
        _select(
            "failure", [("", "any failure"), *((key, name) for key, name, _ in CLASSES if key in failures)], "Failure"
        )
        if failures
        else Html(),
        _select("service", [("", "any service"), *((name, name) for name in services)], "Service")
        if services
        else Html(),
        tag("button", "Reset", type="reset"),
        tag("output", counted(len(found), "task"), id="shown", aria_live="polite"),
    ]
    return tag("form", *controls, id="filter", hidden=True, autocomplete="off")


def _select(name: str, options: Sequence[tuple[str, str]], label: str) -> Html:
    return tag("select", *(tag("option", shown, value=value) for value, shown in options), id=name, aria_label=label)
