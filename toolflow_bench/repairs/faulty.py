"""Faulty first programs: mutants of gold programs whose fault shows, drawn by seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sandbox.base import Sandbox
from toolflow_bench.mutants import (
    MUTANT_KINDS,
    Gold,
    Mutant,
    MutantKind,
    NoObservation,
    mutants,
    observe,
    pick,
    run_mutant,
)
from toolflow_bench.task import Task
from toolflow_bench.world import World

_TRIED = 60
"""Tasks in a row without a fault of a kind that shows, after which no more of that kind is looked for."""

OnDrawn = Callable[[Mutant, int], None]
"""Told of each mutant as it is found, with how many there are."""


def faulty_programs(
    tasks: Sequence[Task],
    world: World,
    sandbox: Sandbox,
    *,
    count: int,
    seed: int = 0,
    on_drawn: OnDrawn | None = None,
) -> tuple[Mutant, ...]:
    """Up to `count` mutants that fail when they run: the kinds in turn, each from the next task in an order by seed.

    A smaller count gives the first of a larger one's; no task is taken twice. A fault shows where the program ends in
    an exception, or without an answer: one that only makes the answer wrong tells no model anything.
    """
    found: list[Mutant] = []
    for mutant in _in_turn(tasks, world, sandbox, seed=seed):
        if len(found) == count:
            break
        found.append(mutant)
        if on_drawn is not None:
            on_drawn(mutant, len(found))
    return tuple(found)


def _in_turn(tasks: Sequence[Task], world: World, sandbox: Sandbox, *, seed: int) -> Iterator[Mutant]:
    order = list(tasks)
    random.Random(f"{seed} repair").shuffle(order)  # noqa: S311 - must repeat
    lab = _Lab(world, sandbox, seed)
    used: set[str] = set()
    queues = {kind: iter(order) for kind in MUTANT_KINDS}
    while queues:
        for kind in list(queues):
            mutant = _next(lab, kind, queues[kind], used)
            if mutant is None:
                del queues[kind]
            else:
                used.add(mutant.task.id)
                yield mutant


def _next(lab: _Lab, kind: MutantKind, tasks: Iterator[Task], used: set[str]) -> Mutant | None:
    tried = 0
    for task in tasks:
        if task.id in used:
            continue
        found = lab.visible(task, kind)
        if found is not None:
            return found
        tried += 1
        if tried == _TRIED:
            return None
    return None


@dataclass
class _Lab:
    """Gold runs, each made once, and the mutants of them that fail."""

    world: World
    sandbox: Sandbox
    seed: int
    _gold: dict[str, Gold | None] = field(default_factory=dict)

    def visible(self, task: Task, kind: MutantKind) -> Mutant | None:
        """A mutant of this kind that fails in sight; None where there is none among those drawn."""
        gold = self._observed(task)
        drawn = pick(mutants(gold, seed=self.seed, kinds=(kind,)), seed=self.seed) if gold is not None else ()
        return next((mutant for mutant in drawn if self._shows(mutant)), None)

    def _shows(self, mutant: Mutant) -> bool:
        trace = run_mutant(mutant, self.world, self.sandbox).trace
        if trace.failure is not None:
            return trace.failure.kind == "exception"
        return not trace.stdout.strip() and trace.value is None

    def _observed(self, task: Task) -> Gold | None:
        if task.id not in self._gold:
            self.world.reset()
            try:
                self._gold[task.id] = observe(task, self.world.toolbox, self.sandbox)
            except NoObservation:
                self._gold[task.id] = None
        return self._gold[task.id]
