"""Thread pools for a program that has one thread: their functions run side by side as strands.

This replaces parts of `concurrent.futures`. It imports only the standard library and other modules
of the sandbox.
"""

from __future__ import annotations

import concurrent.futures
import concurrent.futures.thread
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from sandbox.zygote.child import strands
from sandbox.zygote.child.pairs import perform

MOST_WORKERS = 32
"""Number of functions that run at once in a pool for which the program gives no number."""
_DEEPEST = 50

_monotonic = time.monotonic  # the real one, taken before `pins` replaces it
_base: Any = concurrent.futures._base  # noqa: SLF001 - where the names of return_when are
_is_done = concurrent.futures.Future.done


class PoolFuture(concurrent.futures.Future[Any]):
    """A future of a strand. Who waits for it lets all strands go on."""

    def result(self, timeout: float | None = None) -> Any:
        """Return what the function returned, or raise what it raised."""
        _wait_for([self], timeout, lambda: _is_done(self))
        return super().result(0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return what the function raised, or None."""
        _wait_for([self], timeout, lambda: _is_done(self))
        return super().exception(0)

    def done(self) -> bool:
        """Return True if the function has ended. If not, let the strands go on by one reply."""
        if not _is_done(self):
            strands.advance()
        return _is_done(self)


class ThreadPool(concurrent.futures.Executor):
    """The `ThreadPoolExecutor` of programs."""

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",  # noqa: ARG002 - the signature of Python
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._free = MOST_WORKERS if max_workers is None else max_workers
        self._queue: deque[tuple[PoolFuture, partial[Any]]] = deque()
        self._running: dict[int, PoolFuture] = {}
        self._depth = 0
        self._is_shut = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> PoolFuture:
        """Run a function until its first tool call, and return the future of its result.

        It waits for its turn if the pool is full.
        """
        if self._is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = PoolFuture()
        self._queue.append((future, perform(fn, args, kwargs)))
        self._start_waiting()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more functions. Wait until all have ended if `wait` is True."""
        self._is_shut = True
        if cancel_futures:
            for future, _ in self._queue:
                future.cancel()
        if wait:
            _wait_for((), None, lambda: not self._running and not self._queue)

    def _start_waiting(self) -> None:
        """Begin functions that wait for their turn, as many as there are free workers."""
        if self._depth > _DEEPEST:  # many functions end at once: the outermost loop begins them
            return
        self._depth += 1
        try:
            while self._free and self._queue:
                future, begin = self._queue.popleft()
                if future.set_running_or_notify_cancel():
                    self._free -= 1
                    self._running[id(future)] = future
                    strands.Strand(begin(), partial(self._finish, future)).resume()
        finally:
            self._depth -= 1

    def _finish(self, future: PoolFuture, result: Any, error: Exception | None) -> None:
        self._free += 1
        del self._running[id(future)]
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
        self._start_waiting()


def install() -> None:
    """Replace the thread pools of Python, in this process and in processes that it forks."""
    replaced: Any = concurrent.futures
    replaced.ThreadPoolExecutor = replaced.thread.ThreadPoolExecutor = ThreadPool
    replaced.as_completed = _base.as_completed = as_completed
    replaced.wait = _base.wait = wait


def as_completed(
    fs: Iterable[concurrent.futures.Future[Any]], timeout: float | None = None
) -> Iterator[concurrent.futures.Future[Any]]:
    """Yield futures as their functions end. This replaces `concurrent.futures.as_completed`."""
    left = list(dict.fromkeys(fs))
    deadline = None if timeout is None else _monotonic() + timeout
    while left:
        _wait_for(left, _seconds_until(deadline), partial(_is_any_done, left))
        found = [one for one in left if _is_done(one)]
        left = [one for one in left if not _is_done(one)]
        yield from found


def wait(
    fs: Iterable[concurrent.futures.Future[Any]],
    timeout: float | None = None,
    return_when: str = concurrent.futures.ALL_COMPLETED,
) -> Any:
    """Wait for futures, and return those that have ended and the others.

    This replaces `concurrent.futures.wait`.
    """
    futures = list(dict.fromkeys(fs))

    def is_enough() -> bool:
        ended = [one for one in futures if _is_done(one)]
        if return_when == concurrent.futures.FIRST_COMPLETED and ended:
            return True
        failed = [one for one in ended if one.cancelled() or one.exception() is not None]
        if return_when == concurrent.futures.FIRST_EXCEPTION and failed:
            return True
        return len(ended) == len(futures)

    with suppress(TimeoutError):
        _wait_for(futures, timeout, is_enough)
    done = {one for one in futures if _is_done(one)}
    return _base.DoneAndNotDoneFutures(done, set(futures) - done)


def _is_any_done(futures: list[concurrent.futures.Future[Any]]) -> bool:
    return any(map(_is_done, futures))


def _wait_for(
    futures: Iterable[concurrent.futures.Future[Any]],
    timeout: float | None,
    is_enough: Callable[[], bool],
) -> None:
    """Let strands go on until `is_enough` returns True.

    Raises:
        TimeoutError: it did not within `timeout` seconds.
        RuntimeError: no strand can go on.
    """
    deadline = None if timeout is None else _monotonic() + timeout
    while not is_enough():
        left = _seconds_until(deadline)
        if left is not None and left <= 0:
            raise TimeoutError(f"{len(list(futures))} futures are unfinished")
        if not strands.advance(left):
            raise RuntimeError("this waits for a result that nothing can bring any more")


def _seconds_until(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - _monotonic(), 0.0)
