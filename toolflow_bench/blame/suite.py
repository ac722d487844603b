"""The suite `blame`: gold programs with one fault each, run on the real services, and attribution held to the truth."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from atc.attribute import attribute
from atc.doubt import doubts
from atc.types import Program
from protocols.invoke import Invoker, InvokeSettings
from protocols.parsing import parse
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.effects import Effects
from sandbox.journal import Journal
from sandbox.trace import Pins, Trace
from toolflow_bench.blame.broken import BROKEN_KINDS, LATENCY_MS, Breaking, Broken, draw_broken
from toolflow_bench.blame.figures import KINDS
from toolflow_bench.blame.judge import judge_finding, judge_run
from toolflow_bench.blame.row import Row, Told
from toolflow_bench.checks.gold import CLOCK, LIMITS, run_program
from toolflow_bench.grade import grade
from toolflow_bench.mutants import (
    MUTANT_KINDS,
    Gold,
    Mutant,
    MutantRun,
    NoObservation,
    Truth,
    mutants,
    observe,
    pick,
    run_mutant,
)
from toolflow_bench.suites.toolflow import services_of
from toolflow_bench.task import Task
from toolflow_bench.world import World

OnTask = Callable[[Task, int, int], None]
"""Told of each task that is through, with how many of how many are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure: at most `most` faults of each kind for each task, drawn by `seed`."""

    tasks: Sequence[Task]
    seed: int = 0
    most: int = 1
    kinds: Sequence[str] = KINDS


def measure(plan: Plan, *, folder: Path | None = None, on_task: OnTask | None = None) -> Iterator[Row]:
    """A row for each fault, task after task. `folder` is the cache folder of the data.

    Raises:
        SourceUnavailable, SandboxUnavailable: services or sandbox cannot be had here; nothing was learned.
    """
    with ExitStack() as stack:
        world = stack.enter_context(World(services_of(plan.tasks), folder=folder))
        sandbox = stack.enter_context(closing(open_sandbox("zygote,docker")))
        bench = _Bench(world, sandbox, _impatient(world, stack))
        for number, task in enumerate(plan.tasks, start=1):
            yield from bench.rows(task, plan)
            if on_task is not None:
                on_task(task, number, len(plan.tasks))


def _impatient(world: World, stack: ExitStack) -> Toolbox:
    """The world's tools with a short time-out, which do not wait between retries."""
    settings = InvokeSettings(timeout_seconds=LATENCY_MS / 4000, sleep=lambda _: None)
    invoker = stack.enter_context(Invoker(settings))
    sources = [f"{name}={served.document_url}" for name, served in world.services.items()]
    return load_tools(*sources, invoker=invoker)


@dataclass(frozen=True)
class _Bench:
    world: World
    sandbox: Sandbox
    impatient: Toolbox

    def rows(self, task: Task, plan: Plan) -> Iterator[Row]:
        """The rows of one task."""
        self.world.reset()
        try:
            gold = observe(task, self.world.toolbox, self.sandbox)
        except NoObservation:
            return
        self.world.reset()
        usual = self._doubts(task, task.program, run_program(task.program, self.world.toolbox, self.sandbox))
        own = [kind for kind in MUTANT_KINDS if kind in plan.kinds]
        for mutant in pick(mutants(gold, seed=plan.seed, kinds=own), seed=plan.seed, most=plan.most):
            yield self._of_mutant(mutant, usual)
        yield from self._broken(gold, plan, usual)

    def _broken(self, gold: Gold, plan: Plan, usual: Sequence[str]) -> Iterator[Row]:
        kinds = [kind for kind in BROKEN_KINDS if kind in plan.kinds]
        for number in range(plan.most):
            drawn = draw_broken(gold, seed=plan.seed + 1_000_003 * number, kinds=kinds)
            for broken in drawn:
                yield self._of_broken(broken, usual)

    def _of_mutant(self, mutant: Mutant, usual: Sequence[str]) -> Row:
        run = run_mutant(mutant, self.world, self.sandbox)
        program, truths = Program(mutant.program), (mutant.truth, *mutant.also)
        found = None
        if run.findings:
            fault = attribute(program, run.findings, None, self.world.toolbox)
            assert fault is not None
            verdict = judge_finding(fault, truths, lines=_statement(mutant))
            found = Told(fault=fault, verdict=verdict)
        return self._row(run, mutant, truths, found, usual)

    def _row(
        self, run: MutantRun, mutant: Mutant, truths: Sequence[Truth], found: Told | None, usual: Sequence[str]
    ) -> Row:
        program = Program(mutant.program)
        fault = attribute(program, (), run.trace, self.world.toolbox)
        told = Told(fault=fault, verdict=judge_run(fault, run.trace, truths)) if fault is not None else None
        return Row(
            id=mutant.id,
            task=mutant.task.id,
            kind=mutant.kind,
            variant=mutant.variant,
            line=mutant.line,
            before=mutant.before,
            after=mutant.after,
            truths=tuple(truths),
            found=found,
            run=told,
            doubts=self._new_doubts(mutant.task, mutant.program, run.trace, usual),
            correct=run.correct,
        )

    def _of_broken(self, broken: Broken, usual: Sequence[str]) -> Row:
        task, breaking = broken.task, Breaking(broken, self.world, self.impatient)
        self.world.reset()
        effects = Effects(tools=self.world.toolbox, settle_seconds=0.0, wait=lambda _: None)
        journal = Journal(pins=Pins(seed=0, clock=CLOCK), effects=effects)
        trace = self.sandbox.run(task.program, breaking.toolbox, limits=LIMITS, journal=journal)
        state = self.world.snapshot()
        truths = breaking.truths(trace)
        fault = attribute(Program(task.program), (), trace, self.world.toolbox)
        told = Told(fault=fault, verdict=judge_run(fault, trace, truths)) if fault is not None else None
        verdict = grade(trace.stdout.strip() or None, task, state=state)
        return Row(
            id=broken.id,
            task=task.id,
            kind=broken.kind,
            variant=" ".join(breaking.changes[:1]) or broken.operation,
            line=broken.line,
            truths=truths,
            run=told,
            doubts=self._new_doubts(task, task.program, trace, usual),
            correct=trace.failure is None and verdict.correct,
        )

    def _new_doubts(self, task: Task, program: str, trace: Trace, usual: Sequence[str]) -> tuple[str, ...]:
        """What speaks against the answer of a run that speaks not against the gold run's too."""
        return tuple(doubt for doubt in self._doubts(task, program, trace) if doubt not in usual)

    def _doubts(self, task: Task, program: str, trace: Trace) -> tuple[str, ...]:
        answer = trace.stdout.strip()
        if trace.failure is not None or not answer:
            return ()
        return doubts(task.question, Program(program), trace, answer, self.world.toolbox)


def _statement(mutant: Mutant) -> range:
    """The lines of the statement that the edit stands in."""
    nodes = [node for node in ast.walk(parse(mutant.program)) if isinstance(node, ast.stmt)]
    around = [node for node in nodes if node.lineno <= mutant.line <= (node.end_lineno or node.lineno)]
    if not around:
        return range(mutant.line, mutant.line + 1)
    innermost = max(around, key=lambda node: (node.lineno, -(node.end_lineno or node.lineno)))
    return range(innermost.lineno, (innermost.end_lineno or innermost.lineno) + 1)
