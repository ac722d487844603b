"""Runs gold programs as a model's program is run: in the sandbox, with services over real HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins, ToolCall, Trace
from toolflow_bench.final_state import Snapshot
from toolflow_bench.world import World

LIMITS = Limits(wall_seconds=60, tool_calls=500)
CLOCK = 1_700_000_000.0
"""Unix time at which the clock of every gold program starts."""


@dataclass(frozen=True, slots=True)
class GoldRun:
    """A run of a gold program: its trace, and the state in which it left the services."""

    trace: Trace
    state: Snapshot

    @property
    def answer(self) -> str:
        """The output that the program printed, without surrounding white space."""
        return self.trace.stdout.strip()

    @property
    def accepted_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order of issue, without the calls that the host refused."""
        return tuple(call for call in self.trace.calls if call.outcome != "not_run")

    @property
    def problem(self) -> str | None:
        """A description of what is wrong with the gold program, or None.

        A gold program must not fail and must print something. The responses that it gets must match
        their schemas.
        """
        if (failure := self.trace.failure) is not None:
            return f"the program fails on line {failure.line}: {failure.type}: {failure.message}"
        if not self.answer:
            return "the program prints nothing"
        for call in self.trace.calls:
            if call.drift:
                return f"a response of {call.tool} departs from its schema: {call.drift[0]}"
        return None


def run_gold(program: str, world: World, sandbox: Sandbox) -> GoldRun:
    """Reset the services of `world` and run `program` with all of their tools."""
    world.reset()
    return GoldRun(run_program(program, world.toolbox, sandbox), world.snapshot())


def run_program(program: str, toolbox: Toolbox, sandbox: Sandbox) -> Trace:
    """Run `program` with the seed, clock and limits that all checks of tasks use."""
    return sandbox.run(
        program, toolbox, limits=LIMITS, journal=Journal(pins=Pins(seed=0, clock=CLOCK))
    )
