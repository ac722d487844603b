"""Workers that hand items to an agent: each with a world of its own, all with one model and one sandbox."""

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
"""More than the samples of one run, which take the seeds from 0 on."""
_MOST_NAMED = 200
"""Of a larger toolbox a row does not hold every name."""


class WorldLike(Protocol):
    """Tools and the state behind them; `toolflow_bench.world.World` is one."""

    @property
    def toolbox(self) -> Toolbox:
        """Every tool."""

    def reset(self, draw: str = "") -> None:
        """Forget what the last task wrote, and draw what is by chance for the asking that `draw` names."""

    def snapshot(self) -> Snapshot:
        """What has been written since; empty where nothing was."""


OpenWorld = Callable[[], AbstractContextManager[WorldLike]]


def agent_worker(
    open_world: OpenWorld,
    *,
    ask: Ask,
    sandbox: Sandbox,
    config: Config,
    store: RunStore | None = None,
) -> OpenWorker:
    """Workers that give each item to an `Agent` over the item's candidates, in a world that was reset before.

    Every write is allowed, and every value: what gating does is not measured here. Repeat 0 asks the model as `atc run`
    does; each further repeat and each seed other than 0 draws samples of its own.
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
    """The configuration with a folder for the index: who is given no candidates searches the same tools each time."""
    names = hashlib.sha256("\n".join(toolbox).encode()).hexdigest()[:16]
    return replace(config, index=config.index or config.cache_dir / "indexes" / f"toolflow-{names}")


def shared_agent(agent: Agent) -> OpenWorker:
    """Workers that all use one agent and the toolbox that it has."""
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
    """The tools that an item is asked with.

    Raises:
        UnknownTool: the world lacks one of the candidates.
    """
    return world.toolbox.only(item.candidates) if item.candidates else world.toolbox


def build_answered_item(solution: Solution, world: WorldLike, toolbox: Toolbox) -> AnsweredItem:
    """What became of an item in `world`.

    Raises:
        SourceUnavailable: a call did not reach the world's services, which is no verdict on who called.
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
    """A model whose seeds are moved on, so that repeats of one question are not the same samples again."""

    def __init__(self, ask: Ask, offset: int) -> None:
        self._ask = ask
        self._offset = offset
        self.name = ask.name
        self.prompt_tokens = ask.prompt_tokens
        self.samples = getattr(ask, "samples", 1)

    @property
    def powers(self) -> Powers:
        """The model's."""
        return powers(self._ask)

    def __call__(self, messages: Sequence[Message], *, seed: int = 0, **options: Any) -> Completion:
        """As the model itself; see `protocols.model.Ask`."""
        return self._ask(messages, seed=seed + self._offset, **options)
