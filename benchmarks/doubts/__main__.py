"""Benchmark of the doubts about answers: how often right and wrong answers are doubted.

The right answers are those of ToolFlow's gold programs. The wrong answers are those of the programs
in `planted.jsonl`. Each of these was written for another task, with a mistake that a strong model
might make: a condition is dropped (a), only the first page is read (b), a unit is wrong (c),
another value is printed (d), the wrong end or field is taken (e), a filter never matches (f). The
rules for doubts were written with the programs of the set `dev` in view, and those of `test` were
not used before the rules were complete. Wrong programs that are corrected automatically, so that
their answer is right, are counted separately. The exit status is 1 if a right answer is doubted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import click

from atc.core.types import Attempt
from benchmarks.runner import scripted_agent, suite
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.grade import grade
from toolflow_bench.suites import services_of
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World

PLANTED = Path(__file__).with_name("planted.jsonl")


class _Program(NamedTuple):
    """A program for a task.

    `kind` is the letter of its mistake, or "" if it is right. `group` is its set, `dev` or `test`.
    """

    task: Task
    source: str
    kind: str = ""
    group: str = ""


@suite
@click.option("--tasks", "count", default=None, type=int, help="The first N gold programs only.")
def main(count: int | None) -> dict[str, Any]:
    tasks = load_tasks()
    by_id = {task.id: task for task in tasks}
    rows = [json.loads(line) for line in PLANTED.read_text(encoding="utf-8").splitlines()]
    planted = [
        _Program(by_id[row["task"]], row["program"], row["kind"], row["set"]) for row in rows
    ]
    right = [_Program(task, task.program) for task in tasks[:count]]
    with closing(open_sandbox("zygote")) as sandbox, World(services_of(tasks)) as world:
        false = [
            f"{program.task.id}: {doubt}"
            for program, attempt in _attempts(right, world, sandbox)
            for doubt in attempt.doubts
        ]
        found = Counter(
            (program.group, program.kind, _judge(program.task, attempt))
            for program, attempt in _attempts(planted, world, sandbox)
        )
    groups = dict.fromkeys(row["set"] for row in rows)
    report = {group: _count_by_kind(found, group) for group in groups}
    return {
        "suite": "doubts",
        "passed": not false,
        "right_programs": len(right),
        "false_doubts": false,
        "planted": report,
    }


def _attempts(
    programs: Sequence[_Program], world: World, sandbox: Sandbox
) -> Iterator[tuple[_Program, Attempt]]:
    """Run each program in a fresh world, and yield it with its first attempt."""
    for program in programs:
        world.reset()
        tools = world.toolbox.only(program.task.candidates)
        agent = scripted_agent(tools, sandbox, program.source, ask_person=lambda _: True)
        yield program, agent.run(program.task.question, seed=0).attempts[0]


def _judge(task: Task, attempt: Attempt) -> str:
    """Return `doubted`, `corrected` or `missed` for a planted program."""
    if attempt.doubts:
        return "doubted"
    return "corrected" if grade(attempt.answer, task).correct else "missed"


def _count_by_kind(found: Counter[tuple[str, str, str]], group: str) -> dict[str, Any]:
    """Count the doubted, corrected and missed programs of one set, in all and for each kind."""
    kinds = sorted({kind for one, kind, _ in found if one == group})
    outcomes = ("doubted", "corrected", "missed")
    totals = Counter(dict.fromkeys(outcomes, 0))
    by_kind: dict[str, dict[str, int]] = {}
    for kind in kinds:
        by_kind[kind] = {outcome: found[group, kind, outcome] for outcome in outcomes}
        totals.update(by_kind[kind])
    return {**totals, "by_kind": by_kind}


if __name__ == "__main__":
    main()
