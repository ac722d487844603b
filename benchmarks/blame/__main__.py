"""Inject faults into gold programs and services, and measure if attribution blames the right call.

Attribution is the step of atc that finds the call which caused a failure. A gold program is the
known correct program of a task. The true location of each injected fault is known. No model is
used. The counts are: `none`: the fault had no effect. `wrong`: the answer or the written state is
wrong, and there was no warning. `doubted`: there was a warning about the answer. `shown`: the
static check found something, the run failed, or it gave no answer. `right` counts the shown faults
for which attribution blamed the right call *and* path. A finding of the static check precedes any
call, so for such a finding the tool, the path and the line must be right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click

from atc.core.program import Program
from atc.core.types import Fault
from atc.pipeline.attribute import attribute
from atc.pipeline.check import check
from atc.pipeline.doubts import doubts
from benchmarks.blame.gold import NoObservation, Truth, observe
from benchmarks.blame.mutants import MUTANT_KINDS, Mutant, mutants, pick
from benchmarks.blame.service_faults import BROKEN_KINDS, LATENCY_MS, BreakingTools, draw_broken
from benchmarks.runner import share_with_interval, suite, track_progress
from protocols.client import Invoker, InvokeSettings
from protocols.python_source import parse_python
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import Pins, Trace
from toolflow_bench.checks.gold import CLOCK, LIMITS, run_program
from toolflow_bench.grade import grade
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

KINDS = (*MUTANT_KINDS, *BROKEN_KINDS)


Row = dict[str, Any]
"""The result of one fault.

`right` is True if attribution blames the true location, False if another one, and None if nothing
was detected. `doubts` has the warnings that the run of the unchanged gold program does not have.
"""


def judge_fault(fault: Fault, trace: Trace, truths: Sequence[Truth]) -> bool:
    """Return True if the fault that attribution found names the right call and path.

    `truths` are the true locations of the injected fault; one of them must match.
    """
    blamed = next((call for call in trace.calls if call.index == fault.call), None)
    return any(
        truth.is_met_by(blamed) and is_same_place(fault.path, truth.path)
        for truth in truths
        if blamed is not None
    )


def judge_finding(fault: Fault, truths: Sequence[Truth], lines: range) -> bool:
    """Return True if a fault that the static check found names the right tool, path and line.

    A line is right if it is one of `lines` (the faulty statement) or a line of the true call.
    """
    line = fault.line or 0
    named = [truth for truth in truths if fault.tool == truth.tool]
    near = line in lines or any(truth.first_line <= line <= truth.last_line for truth in named)
    return near and any(is_same_place(fault.path, truth.path) for truth in named)


def is_same_place(blamed: str | None, true: str) -> bool:
    """Return True if two paths in responses are equal apart from list indices."""
    return re.sub(r"\[-?\d*\]", "[]", blamed or "") == re.sub(r"\[-?\d*\]", "[]", true)


@dataclass(frozen=True)
class BlameBench:
    """Runs tasks with injected faults in one `World` and yields a result for each fault."""

    world: World
    sandbox: Sandbox
    impatient: Toolbox

    def rows(self, task: Task, *, seed: int) -> Iterator[Row]:
        """Yield the results of one task, at most one for each kind of fault.

        There are no results if the gold program cannot be run in the way that traces its values.
        """
        tools = self.world.toolbox
        self.world.reset()
        try:
            gold = observe(task, tools)
        except NoObservation:
            return
        usual = self._doubts(task, task.program, self._run(task.program))
        for mutant in pick(mutants(gold, seed=seed), seed=seed):
            about = {"id": mutant.id, "kind": mutant.kind}
            findings = tuple(one for one in check(Program(mutant.program), tools) if one.certain)
            fault = attribute(Program(mutant.program), findings, None, tools) if findings else None
            if fault is not None:
                yield about | {"right": judge_finding(fault, mutant.truths, _statement(mutant))}
                continue
            yield about | self._row(
                task, mutant.program, self._run(mutant.program), mutant.truths, usual
            )
        for broken in draw_broken(gold, seed=seed):
            breaking = BreakingTools(broken, gold, self.world, self.impatient)
            self.world.reset()
            effects = WriteRecovery(tools=tools, settle_seconds=0.0, wait=lambda _: None)
            journal = Journal(pins=Pins(seed=0, clock=CLOCK), write_recovery=effects)
            trace = self.sandbox.run(task.program, breaking.toolbox, limits=LIMITS, journal=journal)
            about = {"id": f"{task.id}/{broken.kind}/{broken.call}", "kind": broken.kind}
            yield about | self._row(task, task.program, trace, breaking.truths(trace), usual)

    def _run(self, program: str) -> Trace:
        self.world.reset()
        return run_program(program, self.world.toolbox, self.sandbox)

    def _row(
        self, task: Task, program: str, trace: Trace, truths: Sequence[Truth], usual: Sequence[str]
    ) -> Row:
        fault = attribute(Program(program), (), trace, self.world.toolbox)
        verdict = grade(trace.stdout.strip() or None, task, state=self.world.snapshot())
        return {
            "right": judge_fault(fault, trace, truths) if fault is not None else None,
            "doubts": [doubt for doubt in self._doubts(task, program, trace) if doubt not in usual],
            "correct": trace.failure is None and verdict.correct,
        }

    def _doubts(self, task: Task, program: str, trace: Trace) -> tuple[str, ...]:
        answer = trace.stdout.strip()
        if trace.failure is not None or not answer:
            return ()
        return doubts(task.question, Program(program), trace, answer, self.world.toolbox)


def measure(tasks: Sequence[Task], *, seed: int = 0) -> Iterator[Row]:
    """Yield the result of each injected fault, at most one of each kind for each task."""
    settings = InvokeSettings(timeout_seconds=LATENCY_MS / 4000, sleep=lambda _: None)
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks)))
        invoker = stack.enter_context(Invoker(settings))
        sources = [f"{name}={served.document_url}" for name, served in world.services.items()]
        sandbox = stack.enter_context(closing(open_sandbox()))
        bench = BlameBench(world, sandbox, load_tools(*sources, invoker=invoker))
        for task in track_progress("blaming", tasks, total=len(tasks)):
            yield from bench.rows(task, seed=seed)


def _statement(mutant: Mutant) -> range:
    """Return the range of lines of the innermost statement that a mutant's edit changes."""
    nodes = [node for node in ast.walk(parse_python(mutant.program)) if isinstance(node, ast.stmt)]
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]
    return max(
        (span for span in spans if mutant.line in span), key=lambda span: (span.start, -span.stop)
    )


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    shown = [row["right"] for row in rows if row["right"] is not None]
    silent = [row for row in rows if row["right"] is None]
    untold = [row["correct"] for row in silent if not row["doubts"]]
    return {
        "faults": len(rows),
        "none": sum(untold),
        "wrong": len(untold) - sum(untold),
        "doubted": len(silent) - len(untold),
        "shown": len(shown),
        "right": sum(shown),
        "share": share_with_interval(sum(shown), len(shown)),
    }


@suite
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=120,
    show_default=True,
    help="Tasks, drawn by --seed.",
)
@click.option("--seed", default=0, show_default=True, help="What tasks and faults are drawn by.")
def main(sample: int, seed: int) -> dict[str, Any]:
    tasks = choose_tasks(sample=sample, seed=seed)
    rows = list(measure(tasks, seed=seed))
    own = {}
    for kind in KINDS:
        if of_kind := [row for row in rows if row["kind"] == kind]:
            own[kind] = figures(of_kind)
    missed = [row["id"] for row in rows if row["right"] is False]
    about = {"suite": "blame", "seed": seed, "tasks": len(tasks)}
    return about | {"kinds": {**own, "all": figures(rows)}, "missed": missed}


if __name__ == "__main__":
    main()
