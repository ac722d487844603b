"""Workers that answer questions with an agent. All of them share one model and one sandbox."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from atc.agent import Agent
from atc.core.config import Config
from atc.core.types import Solution
from atc.store import RunStore
from protocols.errors import SourceUnavailable
from protocols.model import Ask, Completion, Message, Powers, forget, powers
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.runner import AnsweredItem, Item, OpenWorker, Worker

_SEEDS_OF_A_REPEAT = 1000
"""Difference between the seeds of two successive repeats of a question.

The samples of one run use successive seeds from 0. This number is larger than any number of
samples, so that no two repeats use the same seed.
"""
_MOST_NAMED = 200
"""Size of the largest toolbox whose tool names are stored in a row."""


class WorldLike(Protocol):
    """The services of a benchmark, as workers use them: tools, and the state that they change.

    `toolflow_bench.world.World` implements this protocol.
    """

    @property
    def toolbox(self) -> Toolbox:
        """The tools of all services."""

    def reset(self, draw: str = "") -> None:
        """Discard what the last task wrote, and use `draw` as the seed of random behaviour."""

    def snapshot(self) -> Snapshot:
        """Return the records that were written since the last reset."""


OpenWorld = Callable[[], AbstractContextManager[WorldLike]]


def agent_worker(
    open_world: OpenWorld,
    *,
    ask: Ask,
    sandbox: Sandbox,
    config: Config,
    store: RunStore | None = None,
) -> OpenWorker:
    """Return a function that opens workers, which answer each question (item) with an `Agent`.

    The agent gets the item's candidate tools. The state of the services is reset before each item.
    All writes and values are allowed, because consent is not measured here. Repeat 0 with seed 0
    asks the model as `atc run` does; every other repeat or seed draws different samples.
    """
    config = replace(config, allow_writes=("all",))

    @contextmanager
    def open_worker() -> Iterator[Worker]:
        with open_world() as world:

            def work(
                item: Item, /, *, seed: int, repeat: int, max_seconds: float | None
            ) -> AnsweredItem:
                shifted = _ReseededModel(ask, _SEEDS_OF_A_REPEAT * (1_000 * seed + repeat))
                world.reset(f"{seed} {repeat} {item.question.id}")
                forget(ask)
                toolbox = tools_for_item(world, item)
                given = config if item.candidates else _with_index_folder(config, toolbox)
                with Agent(
                    toolbox,
                    model=shifted,
                    sandbox=sandbox,
                    config=given,
                    store=store,
                    ask_person=lambda _: True,
                ) as agent:
                    if not item.candidates:
                        agent.finder(None)  # builds the index outside of the measured time
                    solution = agent.run(item.question.question, seed=seed, max_seconds=max_seconds)
                return build_answered_item(solution, world, toolbox)

            yield work

    return open_worker


def _with_index_folder(config: Config, toolbox: Toolbox) -> Config:
    """Return `config` with an index folder whose name depends on the tools.

    Items without candidates all search the same tools, so they can reuse the index.
    """
    names = hashlib.sha256("\n".join(toolbox).encode()).hexdigest()[:16]
    return replace(config, index=config.index or config.cache_dir / "indexes" / f"toolflow-{names}")


def shared_agent(agent: Agent) -> OpenWorker:
    """Return a function that opens workers, all of which use one agent and its toolbox."""
    writing = frozenset(alias for alias, tool in agent.toolbox.items() if tool.protocol.writes)

    @contextmanager
    def open_worker() -> Iterator[Worker]:
        def work(
            item: Item,
            /,
            *,
            seed: int,
            repeat: int,  # noqa: ARG001
            max_seconds: float | None,
        ) -> AnsweredItem:
            forget(agent.ask)
            solution = agent.run(item.question.question, seed=seed, max_seconds=max_seconds)
            return AnsweredItem(solution=solution, candidates=tuple(agent.toolbox), writing=writing)

        yield work

    return open_worker


def tools_for_item(world: WorldLike, item: Item) -> Toolbox:
    """Return the tools to offer for a question (item): its candidates, or all tools if it has none.

    Raises:
        UnknownTool: `world` lacks one of the candidates.
    """
    return world.toolbox.only(item.candidates) if item.candidates else world.toolbox


def build_answered_item(solution: Solution, world: WorldLike, toolbox: Toolbox) -> AnsweredItem:
    """Return a solution together with the final state of the services in `world`.

    Raises:
        SourceUnavailable: a call did not reach the services, so the result says nothing about the
            model.
    """
    for attempt in solution.attempts:
        for call in attempt.trace.calls if attempt.trace else ():
            if call.outcome == "not_run" and call.curl is not None and call.status is None:
                raise SourceUnavailable(
                    f"the service of {call.tool!r} was not reached: {call.error}"
                )
    return AnsweredItem(
        solution=solution,
        state=world.snapshot(),
        candidates=tuple(toolbox) if len(toolbox) <= _MOST_NAMED else (),
        writing=frozenset(alias for alias, tool in toolbox.items() if tool.protocol.writes),
    )


class _ReseededModel:
    """A model that adds an offset to every seed, so that repeats of a question are new samples."""

    def __init__(self, ask: Ask, offset: int) -> None:
        self._ask = ask
        self._offset = offset
        self.name = ask.name
        self.prompt_tokens = ask.prompt_tokens
        self.samples = getattr(ask, "samples", 1)

    @property
    def powers(self) -> Powers:
        """The constraints on replies that the wrapped model can enforce."""
        return powers(self._ask)

    def __call__(self, messages: Sequence[Message], *, seed: int = 0, **options: Any) -> Completion:
        """Ask the wrapped model with the shifted seed.

        See `protocols.model.Ask` for the arguments.
        """
        return self._ask(messages, seed=seed + self._offset, **options)
