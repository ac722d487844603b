"""Mutants of many tasks, drawn by seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandbox.base import Sandbox
from toolflow_bench.mutants.make import mutants, pick
from toolflow_bench.mutants.mutant import MUTANT_KINDS, Mutant, MutantKind
from toolflow_bench.mutants.observe import NoObservation, observe
from toolflow_bench.task import Task
from toolflow_bench.world import World


def draw_mutants(
    tasks: Sequence[Task],
    world: World,
    sandbox: Sandbox,
    *,
    seed: int = 0,
    most: int = 1,
    kinds: Sequence[MutantKind] = MUTANT_KINDS,
) -> Iterator[Mutant]:
    """At most `most` mutants of each kind of each task, task after task. A task that cannot be observed has none.

    Which of them matter only a run tells: see `toolflow_bench.mutants.run_mutant`.
    """
    for task in tasks:
        world.reset()
        try:
            gold = observe(task, world.toolbox, sandbox)
        except NoObservation:
            continue
        yield from pick(mutants(gold, seed=seed, kinds=kinds), seed=seed, most=most)
