"""Put faults into gold programs and services, and see whether attribution blames the right call and path.

The truth is known, since each fault was put where it is. No model is asked. What the figures count:

`faults`: all that were put somewhere. `none`: those that changed nothing. `wrong`: the answer, or what the writes left,
is wrong, and nothing says so. `doubted`: a doubt about the answer says so. `shown`: the check found something, the run
failed, or it ended without an answer. Only of these does attribution speak: `right` are those with the right call
*and* the right path; of a finding, which comes before any call, the right tool, path and line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import click

from atc.attribute import attribute
from atc.check import check
from atc.doubt import doubts
from atc.types import Fault, Program
from benchmarks.blame.broken import BROKEN_KINDS, LATENCY_MS, Breaking, draw_broken
from benchmarks.blame.gold import NoObservation, Truth, observe
from benchmarks.blame.mutants import MUTANT_KINDS, Mutant, mutants, pick
from benchmarks.runner import rate, suite, tracked
from protocols.invoke import Invoker, InvokeSettings
from protocols.parsing import parse
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.effects import Effects
from sandbox.journal import Journal
from sandbox.trace import Pins, Trace
from toolflow_bench.checks.gold import CLOCK, LIMITS, run_program
from toolflow_bench.grade import grade
from toolflow_bench.suites import choose_tasks, services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

KINDS = (*MUTANT_KINDS, *BROKEN_KINDS)


Row = dict[str, Any]
"""One fault as JSON. `right` says whether attribution blames it, None where nothing shows it; `doubts` are those that
the gold run does not raise. `correct`: the answer and what the writes left are right."""


def judge(fault: Fault, trace: Trace, truths: Sequence[Truth]) -> bool:
    """A fault that a run's trace led to: it must name one of the true calls, and that truth's path."""
    blamed = next((call for call in trace.calls if call.index == fault.call), None)
    return any(truth.meets(blamed) and same_place(fault.path, truth.path) for truth in truths if blamed is not None)


def judge_finding(fault: Fault, truths: Sequence[Truth], lines: range) -> bool:
    """A fault that a finding led to: it must name tool, path and a line of the faulty statement or of the call."""
    line = fault.line or 0
    named = [truth for truth in truths if fault.tool == truth.tool]
    near = line in lines or any(truth.first_line <= line <= truth.last_line for truth in named)
    return near and any(same_place(fault.path, truth.path) for truth in named)


def same_place(blamed: str | None, true: str) -> bool:
    """Whether two paths are the same but for the indices of lists."""
    return re.sub(r"\[-?\d*\]", "[]", blamed or "") == re.sub(r"\[-?\d*\]", "[]", true)


@dataclass(frozen=True)
class Bench:
    """Measures tasks in one world; a row a fault."""

    world: World
    sandbox: Sandbox
    impatient: Toolbox

    def rows(self, task: Task, *, seed: int) -> Iterator[Row]:
        """The rows of one task, one of each kind of fault at most; none of a task that cannot be observed."""
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
            yield about | self._row(task, mutant.program, self._run(mutant.program), mutant.truths, usual)
        for broken in draw_broken(gold, seed=seed):
            breaking = Breaking(broken, gold, self.world, self.impatient)
            self.world.reset()
            effects = Effects(tools=tools, settle_seconds=0.0, wait=lambda _: None)
            journal = Journal(pins=Pins(seed=0, clock=CLOCK), effects=effects)
            trace = self.sandbox.run(task.program, breaking.toolbox, limits=LIMITS, journal=journal)
            about = {"id": f"{task.id}/{broken.kind}/{broken.call}", "kind": broken.kind}
            yield about | self._row(task, task.program, trace, breaking.truths(trace), usual)

    def _run(self, program: str) -> Trace:
        self.world.reset()
        return run_program(program, self.world.toolbox, self.sandbox)

    def _row(self, task: Task, program: str, trace: Trace, truths: Sequence[Truth], usual: Sequence[str]) -> Row:
        fault = attribute(Program(program), (), trace, self.world.toolbox)
        verdict = grade(trace.stdout.strip() or None, task, state=self.world.snapshot())
        return {
            "right": judge(fault, trace, truths) if fault is not None else None,
            "doubts": [doubt for doubt in self._doubts(task, program, trace) if doubt not in usual],
            "correct": trace.failure is None and verdict.correct,
        }

    def _doubts(self, task: Task, program: str, trace: Trace) -> tuple[str, ...]:
        answer = trace.stdout.strip()
        if trace.failure is not None or not answer:
            return ()
        return doubts(task.question, Program(program), trace, answer, self.world.toolbox)


def measure(tasks: Sequence[Task], *, seed: int = 0) -> Iterator[Row]:
    """A row for each fault, at most one of each kind for each task."""
    settings = InvokeSettings(timeout_seconds=LATENCY_MS / 4000, sleep=lambda _: None)
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(tasks)))
        invoker = stack.enter_context(Invoker(settings))
        sources = [f"{name}={served.document_url}" for name, served in world.services.items()]
        sandbox = stack.enter_context(closing(open_sandbox()))
        bench = Bench(world, sandbox, load_tools(*sources, invoker=invoker))
        for task in tracked("blaming", tasks, total=len(tasks)):
            yield from bench.rows(task, seed=seed)


def _statement(mutant: Mutant) -> range:
    """The lines of the innermost statement that the edit stands in."""
    nodes = [node for node in ast.walk(parse(mutant.program)) if isinstance(node, ast.stmt)]
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes]
    return max((span for span in spans if mutant.line in span), key=lambda span: (span.start, -span.stop))


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Counts, and the share of `right`; see the module's docstring."""
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
        "share": rate(sum(shown), len(shown)),
    }


@suite
@click.option("--sample", type=click.IntRange(1), default=120, show_default=True, help="Tasks, drawn by --seed.")
@click.option("--seed", default=0, show_default=True, help="What tasks and faults are drawn by.")
def main(sample: int, seed: int) -> dict[str, Any]:
    tasks = choose_tasks(sample=sample, seed=seed)
    rows = list(measure(tasks, seed=seed))
    own = {kind: figures(of) for kind in KINDS if (of := [row for row in rows if row["kind"] == kind])}
    missed = [row["id"] for row in rows if row["right"] is False]
    about = {"suite": "blame", "seed": seed, "tasks": len(tasks)}
    return about | {"kinds": {**own, "all": figures(rows)}, "missed": missed}


if __name__ == "__main__":
    main()
