"""Workers that answer items with an agent. All share one model and one sandbox."""

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
"""Distance of the seeds of two repeats.

It exceeds the number of samples in one run, which use the seeds from 0 on.
"""
_MOST_NAMED = 200
"""Largest toolbox whose tool names are stored in a row."""


class WorldLike(Protocol):
    """Tools and the state behind them. `toolflow_bench.world.World` implements it."""

    @property
    def toolbox(self) -> Toolbox:
        """All tools."""

    def reset(self, draw: str = "") -> None:
        """Discard what the last task wrote, and seed random behaviour with `draw`."""

    def snapshot(self) -> Snapshot:
        """Return the records written since the last reset."""


OpenWorld = Callable[[], AbstractContextManager[WorldLike]]


def agent_worker(
    open_world: OpenWorld,
    *,
    ask: Ask,
    sandbox: Sandbox,
    config: Config,
    store: RunStore | None = None,
) -> OpenWorker:
    """Return a factory of workers that give each item to an `Agent` over the item's candidates.

    The world is reset before each item. All writes and values are allowed, because consent is not
    measured here. Repeat 0 with seed 0 asks the model as `atc run` does; every other repeat or seed
    draws different samples.
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
                        agent.finder(None)  # the index, which no question's time shall pay for
                    solution = agent.run(item.question.question, seed=seed, max_seconds=max_seconds)
                return build_answered_item(solution, world, toolbox)

            yield work

    return open_worker


def _with_index_folder(config: Config, toolbox: Toolbox) -> Config:
    """Return `config` with an index folder that depends on the tools.

    Items without candidates search the same tools each time and can reuse the index.
    """
    names = hashlib.sha256("\n".join(toolbox).encode()).hexdigest()[:16]
    return replace(config, index=config.index or config.cache_dir / "indexes" / f"toolflow-{names}")


def shared_agent(agent: Agent) -> OpenWorker:
    """Return a factory of workers that all use one agent and its toolbox."""
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
    """Return the tools to offer for an item.

    Raises:
        UnknownTool: the world lacks one of the candidates.
    """
    return world.toolbox.only(item.candidates) if item.candidates else world.toolbox


def build_answered_item(solution: Solution, world: WorldLike, toolbox: Toolbox) -> AnsweredItem:
    """Combine a solution with the final state of `world`.

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
        """Powers of the wrapped model."""
        return powers(self._ask)

    def __call__(self, messages: Sequence[Message], *, seed: int = 0, **options: Any) -> Completion:
        """Ask the wrapped model with a shifted seed; see `protocols.model.Ask`."""
        return self._ask(messages, seed=seed + self._offset, **options)
