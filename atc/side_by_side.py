"""Calls side by side, on threads that do not keep a process from ending; among them several requests to a model."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed, wait
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from protocols.ask import Ask, Completion, Message
from protocols.errors import ModelUnavailable
from sandbox import workers

_Given = TypeVar("_Given")
_Item = TypeVar("_Item")


class SideBySide(Executor):
    """An executor of at most `most` calls at once.

    Leaving its block waits for what is under way, but not where a person interrupted: Ctrl-C must not last as long as
    the slowest reply.
    """

    def __init__(self, most: int) -> None:
        self._most, self._busy = most, 0
        self._waiting: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._futures: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., _Given], /, *args: Any, **kwargs: Any) -> Future[_Given]:
        """Call `fn` as soon as one of the `most` places is free."""
        future: Future[_Given] = Future()

        def call() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # noqa: BLE001 - who asks for the result judges it
                    future.set_exception(error)

        with self._lock:
            self._futures.add(future)
            self._waiting.append(call)
            start = self._busy < self._most
            self._busy += start
        future.add_done_callback(self._futures.discard)
        if start:
            workers.start(self._work)
        return future

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            wait(list(self._futures))

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy -= 1
                    return
                call = self._waiting.popleft()
            call()


def as_done(work: Callable[[_Item], _Given], items: Iterable[_Item], *, most: int) -> Iterator[_Given]:
    """What `work` gives for each item, `most` at once, as it comes; when this is left, no further one is begun."""
    if most <= 1:
        yield from map(work, items)
        return
    with SideBySide(most) as threads:
        futures = [threads.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


OpenWorker: TypeAlias = Callable[[], AbstractContextManager[Callable[[_Item], _Given]]]
"""Opens a worker with all that it needs; it is given one item at a time. Can be pickled (by cloudpickle)."""


class Pool(Protocol):
    """Where work is done: threads of this process (`Threads`), or processes of a cluster (`atc.cluster.RayPool`)."""

    def __call__(
        self, open_worker: OpenWorker[_Item, _Given], items: Iterable[_Item], /
    ) -> Generator[_Given, None, None]:
        """What the workers give for each item, as it comes; when this is left, no further one is begun.

        Raises whatever opening a worker, or a worker, raises.
        """

    def kept_here(self, open_file: Callable[[Path], Any], /) -> Callable[[Path], Any]:
        """For workers: opens what `open_file` opens in this process, with its `content`, `append` and `close`."""


@dataclass(frozen=True, slots=True)
class Threads:
    """The `Pool` of this process: `most` workers, opened one after another by the thread that asks."""

    most: int = 1

    def __call__(
        self, open_worker: OpenWorker[_Item, _Given], items: Iterable[_Item], /
    ) -> Generator[_Given, None, None]:
        """See `Pool`."""
        idle: queue.SimpleQueue[Callable[[_Item], _Given]] = queue.SimpleQueue()

        def work(item: _Item) -> _Given:
            worker = idle.get()
            try:
                return worker(item)
            finally:
                idle.put(worker)

        todo = list(items)
        with ExitStack() as stack:
            for _ in range(min(self.most, len(todo))):
                idle.put(stack.enter_context(open_worker()))
            yield from as_done(work, todo, most=self.most)

    def kept_here(self, open_file: Callable[[Path], Any], /) -> Callable[[Path], Any]:
        """See `Pool`."""
        return open_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is asked: a prompt, what holds the reply, and how long it may be. See `Ask`."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024


Reply: TypeAlias = Completion | ModelUnavailable


@runtime_checkable
class AskEach(Protocol):
    """An `Ask` that keeps a record of what it was asked: it is given all requests at once, to record them in order."""

    def each(self, requests: Sequence[Request], threads: Executor) -> Sequence[Reply]:
        """See `ask_each`."""


def ask_each(ask: Ask, requests: Sequence[Request], threads: Executor) -> Sequence[Reply]:
    """The reply to each request, asked on `threads`; an outage stands in the place of the reply it prevented."""
    if isinstance(ask, AskEach):
        return ask.each(requests, threads)
    return list(threads.map(lambda request: reply(ask, request), requests))


def reply(ask: Ask, request: Request) -> Reply:
    """The reply to one request, or the outage that prevented it."""
    try:
        return ask(
            request.messages,
            schema=request.schema,
            grammar=request.grammar,
            temperature=request.temperature,
            seed=request.seed,
            max_tokens=request.max_tokens,
        )
    except ModelUnavailable as error:
        return error


def require(reply: Reply) -> Completion:
    """A reply that was had. Raises the outage that prevented it."""
    if isinstance(reply, ModelUnavailable):
        raise reply
    return reply
