"""The arms: each answers one item from the opening that it shares with the others, and says what it sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from atc.agent import Agent
from atc.config import Config
from atc.events import CallEnded, Event
from atc.repair import Way
from atc.store import Store
from atc.types import Solution
from protocols.ask import Ask
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.trace import ToolCall
from toolflow_bench.repairs.first import FirstGiven, Opening, opening_of
from toolflow_bench.repairs.log import Executions, Sent, counted
from toolflow_bench.repairs.plain import solve_plainly
from toolflow_bench.runner import Answered, Item
from toolflow_bench.services.log import RequestRecord
from toolflow_bench.workers import WorldLike, agree_to_all, answered, offered


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to go on from a program that failed: `way` None is not to; `plain`: without what else atc does."""

    name: str
    way: Way | None
    plain: bool


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm("none", None, plain=True),
        Arm("traceback", "traceback", plain=True),
        Arm("reflection", "reflection", plain=True),
        Arm("facts", "facts", plain=False),
        Arm("atc-traceback", "traceback", plain=False),
        Arm("atc-reflection", "reflection", plain=False),
    )
}


class Logged(WorldLike, Protocol):
    """A world that keeps the log of what it was asked; `toolflow_bench.repairs.log.LoggedWorld` is one."""

    @property
    def requests(self) -> tuple[RequestRecord, ...]:
        """What has been asked since the last reset."""


def one_sample(config: Config) -> Config:
    """The configuration that every arm runs with: one sample a round, every write allowed."""
    return replace(config, samples=1, strategy="chain", allow_writes=("all",))


class Bench:
    """Answers items by any arm, one at a time, in one world. `sent` is what the last answer sent.

    `programs` are first programs by item's id; an item without one begins with the model's own.
    """

    def __init__(
        self,
        world: Logged,
        *,
        ask: Ask,
        sandbox: Sandbox,
        config: Config,
        programs: Mapping[str, str] | None = None,
        store: Store | None = None,
    ) -> None:
        self.sent = Sent()
        self._world, self._ask, self._sandbox, self._store = world, ask, sandbox, store
        self._config, self._programs = one_sample(config), programs or {}
        self._opened: tuple[str, Opening] | None = None

    def answer(self, arm: Arm, item: Item, *, seed: int, max_seconds: float | None) -> Answered:
        """What becomes of an item in an arm.

        Raises:
            AtcError: an outage, no verdict on the arm.
        """
        self._world.reset()
        toolbox = offered(self._world, item)
        config = replace(self._config, max_seconds=max_seconds)
        opening = self._opening(item, toolbox)
        question = item.question.question
        if arm.plain:
            solution = solve_plainly(
                question,
                toolbox,
                opening=opening,
                way=arm.way,
                ask=self._ask,
                sandbox=self._sandbox,
                config=config,
                seed=seed,
            )
            executions: Executions = [attempt.trace.calls for attempt in solution.attempts if attempt.trace is not None]
        else:
            solution, executions = self._by_agent(arm, question, toolbox, opening, config, seed=seed)
        self.sent = counted(self._world.requests, executions, toolbox)
        return answered(solution, self._world, toolbox)

    def _opening(self, item: Item, toolbox: Toolbox) -> Opening:
        """How all arms begin with an item; the model is asked once."""
        if self._opened is None or self._opened[0] != item.question.id:
            opening = opening_of(
                item.question.question,
                toolbox,
                ask=self._ask,
                sandbox=self._sandbox,
                config=self._config,
                program=self._programs.get(item.question.id),
            )
            self._opened = item.question.id, opening
        return self._opened[1]

    def _by_agent(
        self, arm: Arm, question: str, toolbox: Toolbox, opening: Opening, config: Config, *, seed: int
    ) -> tuple[Solution, Executions]:
        issued: dict[int, list[ToolCall]] = {}

        def watch(event: Event) -> None:
            if isinstance(event, CallEnded):
                issued.setdefault(event.attempt, []).append(event.call)

        first = FirstGiven(self._ask, opening.reply)
        config = replace(config, repair=arm.way or "none")
        # Never closed: it would close the sandbox that all arms share.
        agent = Agent(
            toolbox,
            model=first,
            sandbox=self._sandbox,
            config=config,
            store=self._store,
            ask_person=agree_to_all,
        )
        return agent.run(question, observer=watch, seed=seed), list(issued.values())
