"""Parallel work on daemon threads, and requests to a model that have a deadline.

Daemon threads do not keep the process from exiting.
"""

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

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")
_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


def run_parallel(
    work: Callable[[_Item], _Result], items: Iterable[_Item], *, most: int, ordered: bool = False
) -> Iterator[_Result]:
    """Call `work` for each item, on up to `most` threads at once, and yield the results.

    Results come as they finish, or in the order of the items if `ordered` is True. When the caller
    stops iterating, no further item is started and running ones are not awaited, so Ctrl-C does not
    have to wait for the slowest reply.
    """
    if most <= 1:
        yield from map(work, items)
        return
    with ThreadPool(most) as threads:  # its threads do not keep a process from ending
        each = threads.imap if ordered else threads.imap_unordered
        for future in each(partial(_run_item, work), items):
            yield future.result()


def _run_item(work: Callable[[_Item], _Result], item: _Item) -> Future[_Result]:
    """Call `work` for one item, and return a future with its result or its exception.

    A thread pool by itself would lose a BaseException.
    """
    future: Future[_Result] = Future()
    try:
        future.set_result(work(item))
    except BaseException as error:  # noqa: BLE001 - raised where the result is used
        future.set_exception(error)
    return future


OpenWorker: TypeAlias = Callable[[], AbstractContextManager[Callable[[_Item], _Result]]]
"""A function that opens a worker; the worker is a function that processes one item at a time.

cloudpickle can pickle the opening function.
"""
Pool: TypeAlias = Callable[[OpenWorker[Any, Any], Iterable[Any]], Generator[Any, None, None]]
"""A pool of workers, that is, threads (`Threads`) or processes of a cluster (`RayPool`).

The pool yields the result of each item as it finishes. When the caller stops iterating, no further
item is started. An exception of a worker, or of opening one, is raised to the caller.
"""


@dataclass(frozen=True, slots=True)
class Threads:
    """A pool of at most `most` worker threads in this process, as described at `Pool`.

    The workers are opened one after another in the calling thread.
    """

    most: int = 1

    def __call__(
        self, open_worker: OpenWorker[_Item, _Result], items: Iterable[_Item], /
    ) -> Generator[_Result, None, None]:
        """Process the items on the worker threads, and yield their results as they finish."""
        idle: queue.SimpleQueue[Callable[[_Item], _Result]] = queue.SimpleQueue()

        def work(item: _Item) -> _Result:
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
    """One request to a model, with the arguments that `Ask` takes."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024


ModelReply: TypeAlias = Completion | ModelUnavailable


def ask_each(ask: Ask, requests: Sequence[ModelRequest], most: int) -> Sequence[ModelReply]:
    """Send the requests to a model, `most` at once, and return the replies in order.

    If the model is unavailable for a request, its reply is this error (`ModelUnavailable`). A model
    that must record its requests in order has a method `each`. If there is one, it sends the
    requests.
    """
    if each := getattr(ask, "each", None):
        replies: Sequence[ModelReply] = each(requests, most)
        return replies
    return list(run_parallel(partial(ask_once, ask), requests, most=most, ordered=True))


def ask_once(ask: Ask, request: ModelRequest) -> ModelReply:
    """Send one request to a model and return the reply.

    If the model is unavailable, return this error (`ModelUnavailable`) instead of raising it.
    """
    options = request._asdict()
    try:
        return ask(options.pop("messages"), **options)
    except ModelUnavailable as error:
        return error


def require_completion(reply: ModelReply) -> Completion:
    """Return the reply of a model, or raise the error if there is an error in its place."""
    if isinstance(reply, ModelUnavailable):
        raise reply
    return reply


@contextmanager
def wait_until(moment: float) -> Iterator[None]:
    """Set a deadline for model replies within the `with` block.

    `moment` is the time, as `time.monotonic()` gives it, at which waiting for a reply stops. The
    deadline holds for requests of the current thread.
    """
    token = _UNTIL.set(moment)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_to_wait(most: float) -> float:
    """Return how many seconds to wait for a reply of a model.

    This is `most`, or less if the deadline of `wait_until` is nearer.

    Raises:
        OutOfTime: The deadline of `wait_until` has passed.
    """
    left = _UNTIL.get() - time.monotonic()
    if left <= 0:
        raise OutOfTime(
            "the model's reply did not come in the time that was given for it; allow more of it."
        )
    return min(most, left)
