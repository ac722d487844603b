"""`Agent`: a toolbox, a model and a sandbox, ready to be given tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from atc.config import Config, public
from atc.consent import AskPerson, gated
from atc.events import CallEnded, CallStarted, Event, Observer
from atc.retrieve.base import Retrieval, Retriever
from atc.strategies.base import Parts
from atc.strategies.chain import draft, solve
from atc.types import Finding, Program, Solution
from protocols.ask import Ask
from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal, Sink
from sandbox.trace import Pins, ToolCall

if TYPE_CHECKING:
    from atc.store import Store

LONGEST_TASK = 20_000
"""Characters. A longer task would leave a small model no room for the tools."""


class InvalidTask(AtcError):
    """A task that cannot be worked on: empty, or too long to be read."""


class Agent:
    """Solves tasks with one toolbox. A context manager: `close` ends the sandbox's process.

    `model` is an `Ask`, or a name as `atc run --model` takes it; None is the configuration's, that is, the endpoint
    of the environment or else the embedded model. Tools that may change something run only when the configuration's
    `allow_writes` names them or `ask_person` agrees; else the run ends `paused`. With a `store`, each run is recorded
    from its first moment.
    """

    def __init__(
        self,
        tools: Toolbox,
        *,
        model: Ask | str | None = None,
        sandbox: Sandbox | None = None,
        config: Config | None = None,
        ask_person: AskPerson | None = None,
        store: Store | None = None,
    ) -> None:
        self.toolbox = tools
        self.config = config or Config()
        self._model, self._sandbox, self._ask_person, self._store = model, sandbox, ask_person, store

    def run(
        self, task: str, *, observer: Observer | None = None, seed: int = 0, max_seconds: float | None = None
    ) -> Solution:
        """Solve one task. `seed` is what the programs' `random` starts from; `max_seconds` replaces the setting.

        Raises:
            InvalidTask: the task is empty or too long.
            ModelUnavailable, SandboxUnavailable: an outage; no verdict on the task, which may be run again.
        """
        task = readable(task)
        with self._recording(task, observer) as record:
            solution = solve(task, self._parts(record, seed=seed, max_seconds=max_seconds))
            record.solution = replace(solution, run=record.run)
        return record.solution

    def draft(
        self, task: str, *, observer: Observer | None = None
    ) -> tuple[Toolbox, Program | None, tuple[Finding, ...]]:
        """The tools, the program and its findings that `run` would begin with; no tool is called, nothing recorded."""
        return draft(readable(task), self._parts(_Record(observer=observer or _ignore), seed=0, max_seconds=None))

    def close(self) -> None:
        """End the sandbox's process, if one was started."""
        if "sandbox" in self.__dict__:
            self.sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def ask(self) -> Ask:
        """The model, chosen on first use."""
        if self._model is None or isinstance(self._model, str):
            from atc.models import choose

            return choose(self._model or self.config.model)
        return self._model

    @cached_property
    def sandbox(self) -> Sandbox:
        """What runs the programs, made on first use."""
        if self._sandbox is not None:
            return self._sandbox
        from sandbox.choose import open_sandbox

        return open_sandbox(self.config.sandbox, policy=self.config.policy)

    @cached_property
    def retriever(self) -> Retriever:
        """Search over the toolbox."""
        return _BuiltOnUse(self.toolbox)

    def _parts(self, record: _Record, *, seed: int, max_seconds: float | None) -> Parts:
        config = self.config if max_seconds is None else replace(self.config, max_seconds=max_seconds)
        return Parts(
            toolbox=gated(self.toolbox, allowed=config.allow_writes, ask_person=self._ask_person),
            retriever=self.retriever,
            ask=self.ask,
            sandbox=self.sandbox,
            journal=Journal(sink=record.sink, pins=Pins(seed=seed, clock=time.time())),
            config=config,
            observer=record.observer,
        )

    @contextmanager
    def _recording(self, task: str, observer: Observer | None) -> Iterator[_Record]:
        """Stores what happens while it is open, and how it ended, whatever ended it."""
        if self._store is None:
            yield _Record(observer=observer or _ignore)
            return
        run = self._store.create(
            task,
            model=self._model if isinstance(self._model, str) else self._model.name if self._model else "",
            strategy=self.config.strategy,
            sandbox=self.config.sandbox,
            config=public(self.config),
            tools=list(self.toolbox)[:1000],
        )
        record = _Record(observer=_both(self._store.observer(run), observer or _ignore), run=run)
        record.stored = self._store.journal_sink(run)
        try:
            yield record
        except AtcError as error:
            self._store.finish(run, status="error", error=str(error))
            raise
        except BaseException as error:
            self._store.finish(run, status="interrupted", error=repr(error))
            raise
        assert record.solution is not None
        self._store.finish(run, record.solution)


def readable(task: str) -> str:
    """The task without blank ends.

    Raises:
        InvalidTask: nothing is left, or more than `LONGEST_TASK` characters.
    """
    text = task.strip()
    if not text:
        raise InvalidTask("the task is empty; say what is to be found out or done.")
    if len(text) > LONGEST_TASK:
        raise InvalidTask(
            f"the task has {len(text):,} characters, more than {LONGEST_TASK:,}; put data where a tool can read it."
        )
    return text


@dataclass
class _Record:
    """One run as it is watched: by the caller's observer, and by the store where there is one."""

    observer: Observer
    run: str | None = None
    stored: Sink | None = None
    solution: Solution | None = None

    def sink(self, execution: int, call: ToolCall, complete: bool) -> None:
        if self.stored is not None:
            self.stored(execution, call, complete)
        self.observer(CallEnded(execution, call) if complete else CallStarted(execution, call))


class _BuiltOnUse:
    """A BM25 index that is built when the first search needs it: a toolbox that fits a prompt never does."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def search(self, query: str, *, k: int) -> Retrieval:
        return self._index.search(query, k=k)

    @cached_property
    def _index(self) -> Retriever:
        from atc.retrieve.bm25 import Bm25

        return Bm25.build(self._toolbox)


def _both(first: Observer, second: Observer) -> Observer:
    def tell(event: Event) -> None:
        first(event)
        second(event)

    return tell


def _ignore(event: Event) -> None:
    """Nobody is watching."""
