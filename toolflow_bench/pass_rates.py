"""The two pass rates of tasks that a model judges: ToolBench's, and the one that AnyTool puts in its place (§3.2).

**Eq. 1** (ToolBench): a task is first judged by the candidates that were retrieved for it. One that they cannot solve
counts as passed, whatever was answered:

    pass rate = (non-solvable + solved) / (non-solvable + solvable)

Candidates drawn at random make nearly every task non-solvable, and so bring the rate to nearly 1 (99.0% in the paper).

**Eq. 2** (AnyTool): the tasks are known to be solvable with some APIs of the whole pool, and only the answer is judged:

    pass rate = solved / (solved + unsolved)

*Unsure* helps nobody: a task of which nobody is sure that it cannot be solved counts as solvable, and an answer of
which nobody is sure that it solves the task as unsolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atc.retrieve.hierarchy.solvable import Word as Solvability
from atc.strategies.judge import Word
from toolflow_bench.resampling import Estimate, estimate


@dataclass(frozen=True, slots=True)
class Judged:
    """What was held of one task: whether its candidates could solve it, and whether its answer did."""

    solvable: Solvability
    solved: Word


def toolbench_pass_rate(tasks: Sequence[Judged], *, seed: int = 0) -> Estimate | None:
    """Eq. 1, with its 95% interval; None without tasks."""
    return estimate([float(task.solvable == "Unsolvable" or task.solved == "Solved") for task in tasks], seed=seed)


def anytool_pass_rate(tasks: Sequence[Judged], *, seed: int = 0) -> Estimate | None:
    """Eq. 2, with its 95% interval; None without tasks."""
    return estimate([float(task.solved == "Solved") for task in tasks], seed=seed)
