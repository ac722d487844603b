"""Ending a run from another thread: a client that no longer waits for its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(Exception):
    """Somebody outside ended the run. It is no verdict on the program."""


class Cancellation:
    """Ends the runs of the context that it is put over, those that begin later included."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._end: Callable[[BaseException], None] | None = None

    def cancel(self) -> None:
        """End the run that is under way: it raises `Cancelled` in the thread that waits for it."""
        with self._lock:
            self._cancelled, end = True, self._end
        if end is not None:
            end(Cancelled("the run was cancelled."))

    @contextmanager
    def watching(self, end: Callable[[BaseException], None]) -> Iterator[None]:
        """Within the block `end` is what ends the run.

        Raises:
            Cancelled: it was cancelled before it began.
        """
        with self._lock:
            if self._cancelled:
                raise Cancelled("the run was cancelled.")
            self._end = end
        try:
            yield
        finally:
            with self._lock:
                self._end = None


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextmanager
def cancellation(stop: Cancellation) -> Iterator[None]:
    """Within the block, runs of this thread end when `stop` is cancelled."""
    token = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def cancellable(end: Callable[[BaseException], None]) -> Iterator[None]:
    """Within the block, `end` is called with `Cancelled` when the current run is cancelled."""
    stop = _current.get()
    if stop is None:
        yield
        return
    with stop.watching(end):
        yield
