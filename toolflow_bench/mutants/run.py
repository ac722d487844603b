"""What becomes of a mutant: checked, run in the sandbox over the services, and graded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atc.check import check
from atc.types import Finding, Program
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.trace import Trace
from toolflow_bench.checks.gold import run_program
from toolflow_bench.grade import grade
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.world import Snapshot, World

Effect = Literal["found", "failed", "unanswered", "wrong", "none"]
"""What a fault does: the check finds it, the run fails, it ends without an answer, its answer or what its writes left
is wrong, or nothing at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRun:
    """A mutant, what the check says of it, and its run, which is made whatever the check says."""

    mutant: Mutant
    findings: tuple[Finding, ...]
    trace: Trace
    state: Snapshot
    correct: bool

    @property
    def effect(self) -> Effect:
        """The first of the effects that it has."""
        if self.findings:
            return "found"
        if self.trace.failure is not None:
            return "failed"
        if not self.trace.stdout.strip() and self.trace.value is None:
            return "unanswered"
        return "none" if self.correct else "wrong"


def run_mutant(mutant: Mutant, world: World, sandbox: Sandbox, *, toolbox: Toolbox | None = None) -> MutantRun:
    """Check a mutant, and run it from a fresh state; `toolbox` stands in for the world's."""
    tools = toolbox if toolbox is not None else world.toolbox
    findings = check(Program(mutant.program), tools)
    world.reset()
    trace = run_program(mutant.program, tools, sandbox)
    state = world.snapshot()
    verdict = grade(trace.stdout.strip() or None, mutant.task, state=state)
    correct = trace.failure is None and verdict.correct
    return MutantRun(
        mutant=mutant,
        findings=tuple(finding for finding in findings if finding.certain),
        trace=trace,
        state=state,
        correct=correct,
    )
