"""Benchmark of the doubts about answers: how often right and wrong answers are doubted.

The right answers are those of ToolFlow's gold programs and of `ordinary.jsonl`, which has programs
as a strong model writes them, among them one for each question of the suite `flights`. The wrong
answers are those of two files. Each program of `planted.jsonl` was written for another task, with a
mistake that a strong model might make: a condition is dropped (a), only the first page is read (b),
a unit is wrong (c), another value is printed (d), the wrong end or field is taken (e), a filter
never matches (f). `weak.jsonl` has mistakes of weak models: an object is tested that always has
keys (a), a value is computed and another is printed (b), a date, name or number of the task is left
out (c), a filter is guessed (d), a step that the task asks for is missing (e), one hour is read for
all (f).

The rules for doubts were written with the programs of the set `dev` in view, and those of `test`
were not used before the rules were complete. Wrong programs that are corrected automatically, so
that their answer changes, and those that the check stops are counted separately. The exit status is
1 if more than one right answer in a hundred is doubted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import click

from atc.core.program import Program
from atc.core.types import Attempt
from benchmarks.runner import scripted_agent, suite
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.grade import grade
from toolflow_bench.suites import services_of
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

PLANTED = Path(__file__).with_name("planted.jsonl")
ORDINARY = Path(__file__).with_name("ordinary.jsonl")
WEAK = Path(__file__).with_name("weak.jsonl")
_MOST_FALSE = 0.01
"""Maximum share of right answers that may be doubted."""
_OTHER_TOOLS = 15
"""Number of tools of the same services that are described beside those that a program calls."""


class _Program(NamedTuple):
    """A program for a task, given as a question with the tools to describe.

    `kind` is the letter of its mistake, or "" if it is right. `group` is its set, `dev` or `test`.
    `task` is the task of ToolFlow, or None for another question.
    """

    question: str
    source: str
    tools: Sequence[str]
    kind: str = ""
    group: str = ""
    task: Task | None = None


@suite
@click.option("--tasks", "count", default=None, type=int, help="The first N gold programs only.")
def main(count: int | None) -> dict[str, Any]:
    tasks = load_tasks()
    by_id = {task.id: task for task in tasks}
    with closing(open_sandbox("zygote")) as sandbox, World(services_of(tasks)) as world:
        gold = [_of_task(task, task.program) for task in tasks[:count]]
        ordinary = [_of_question(row, world.toolbox) for row in _read(ORDINARY)]
        right = [*gold, *ordinary]
        false = [
            f"{program.question}: {doubt}"
            for program, attempt in _attempts(right, world, sandbox)
            for doubt in attempt.doubts
        ]
        planted = [
            _of_task(by_id[row["task"]], row["program"], row["kind"], row["set"])
            for row in _read(PLANTED)
        ]
        weak = [_of_question(row, world.toolbox) for row in _read(WEAK)]
        return {
            "suite": "doubts",
            "passed": len(false) <= _MOST_FALSE * len(right),
            "right_programs": {"gold": len(gold), "ordinary": len(ordinary)},
            "false_doubts": false,
            "planted": _report(planted, world, sandbox),
            "weak": _report(weak, world, sandbox),
        }


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _of_task(task: Task, source: str, kind: str = "", group: str = "") -> _Program:
    return _Program(task.question, source, task.candidates, kind, group, task)


def _of_question(row: Mapping[str, Any], toolbox: Toolbox) -> _Program:
    """Return the program of a row, with the tools that it calls and some of the same services."""
    source: str = row["program"]
    called = [name for name in Program(source).names if name in toolbox]
    services = {toolbox[name].source for name in called}
    others = [name for name, tool in toolbox.items() if tool.source in services]
    names = dict.fromkeys([*called, *others[:_OTHER_TOOLS]])
    return _Program(row["question"], source, list(names), row.get("kind", ""), row["set"])


def _attempts(
    programs: Sequence[_Program], world: World, sandbox: Sandbox
) -> Iterator[tuple[_Program, Attempt]]:
    """Run each program in a fresh world, and yield it with its first attempt."""
    for program in programs:
        world.reset()
        tools = world.toolbox.only(program.tools)
        agent = scripted_agent(tools, sandbox, program.source, ask_person=lambda _: True)
        yield program, agent.run(program.question, seed=0).attempts[0]


def _report(programs: Sequence[_Program], world: World, sandbox: Sandbox) -> dict[str, Any]:
    """Return how many wrong programs of each set and kind were doubted, corrected or missed."""
    found = Counter(
        (program.group, program.kind, _judge(program, attempt))
        for program, attempt in _attempts(programs, world, sandbox)
    )
    groups = dict.fromkeys(program.group for program in programs)
    return {group: _count_by_kind(found, group) for group in groups}


def _judge(program: _Program, attempt: Attempt) -> str:
    """Return `doubted`, `corrected`, `stopped` or `missed` for a wrong program."""
    if attempt.doubts:
        return "doubted"
    if attempt.fault is not None:
        return "stopped"
    if program.task is None:
        return "corrected" if attempt.mended else "missed"
    return "corrected" if grade(attempt.answer, program.task).correct else "missed"


def _count_by_kind(found: Counter[tuple[str, str, str]], group: str) -> dict[str, Any]:
    """Count the outcomes of the programs of one set, in all and for each kind."""
    kinds = sorted({kind for one, kind, _ in found if one == group})
    outcomes = ("doubted", "corrected", "stopped", "missed")
    totals = Counter(dict.fromkeys(outcomes, 0))
    by_kind: dict[str, dict[str, int]] = {}
    for kind in kinds:
        by_kind[kind] = {outcome: found[group, kind, outcome] for outcome in outcomes}
        totals.update(by_kind[kind])
    return {**totals, "by_kind": by_kind}


if __name__ == "__main__":
    main()
