"""Work side by side, on threads that do not keep a process from ending: among it requests to a model, with an end."""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Any, NamedTuple, TypeAlias, TypeVar

from protocols.errors import ModelUnavailable, OutOfTime
from protocols.model import Ask, Completion, Message

_Given = TypeVar("_Given")
_Item = TypeVar("_Item")
_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


def run_parallel(
    work: Callable[[_Item], _Given], items: Iterable[_Item], *, most: int, ordered: bool = False
) -> Iterator[_Given]:
    """What `work` gives for each item, `most` at once, as it comes or in the order of the items.

    When this is left, no further one is begun, and what is under way is not waited for: Ctrl-C must not last as long as
    the slowest reply.
    """
    if most <= 1:
        yield from map(work, items)
        return
    with ThreadPool(most) as threads:  # these do not keep a process from ending
        each = threads.imap if ordered else threads.imap_unordered
        for future in each(partial(_run_item, work), items):
            yield future.result()


def _run_item(work: Callable[[_Item], _Given], item: _Item) -> Future[_Given]:
    """What came of it; a pool would lose what is no Exception."""
    future: Future[_Given] = Future()
    try:
        future.set_result(work(item))
    except BaseException as error:  # noqa: BLE001 - who asks for the result judges it
        future.set_exception(error)
    return future


OpenWorker: TypeAlias = Callable[[], AbstractContextManager[Callable[[_Item], _Given]]]
"""Opens a worker with all that it needs; it is given one item at a time. Can be pickled (by cloudpickle)."""


Pool: TypeAlias = Callable[[OpenWorker[Any, Any], Iterable[Any]], Generator[Any, None, None]]
"""Where work is done: threads of this process (`Threads`), or processes of a cluster (`atc.core.ray_pool.RayPool`).

It gives what the workers give for each item, as it comes; when it is left, no further one is begun. It raises whatever
opening a worker, or a worker, raises.
"""


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
            yield from run_parallel(work, todo, most=self.most)


class ModelRequest(NamedTuple):
    """What a model is asked: the arguments of `Ask`."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024


ModelReply: TypeAlias = Completion | ModelUnavailable


def ask_each(ask: Ask, requests: Sequence[ModelRequest], most: int) -> Sequence[ModelReply]:
    """The reply to each request, `most` asked at once; an outage stands in the place of the reply it prevented.

    An `Ask` that keeps a record of what it was asked, in order, has an `each` of its own.
    """
    if each := getattr(ask, "each", None):
        found: Sequence[ModelReply] = each(requests, most)
        return found
    return list(run_parallel(partial(ask_once, ask), requests, most=most, ordered=True))


def ask_once(ask: Ask, request: ModelRequest) -> ModelReply:
    """The reply to one request, or the outage that prevented it."""
    options = request._asdict()
    try:
        return ask(options.pop("messages"), **options)
    except ModelUnavailable as error:
        return error


def require_completion(reply: ModelReply) -> Completion:
    """A reply that was had. Raises the outage that prevented it."""
    if isinstance(reply, ModelUnavailable):
        raise reply
    return reply


@contextmanager
def wait_until(moment: float) -> Iterator[None]:
    """Within it, in this thread, no reply of a model is waited for beyond `moment` of `time.monotonic()`."""
    token = _UNTIL.set(moment)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_to_wait(most: float) -> float:
    """Seconds that a reply may take from now on: `most`, or what is left.

    Raises:
        OutOfTime: nothing is left.
    """
    left = _UNTIL.get() - time.monotonic()
    if left <= 0:
        raise OutOfTime(
            "the model's reply did not come in the time that was given for it; allow more of it."
        )
    return min(most, left)
