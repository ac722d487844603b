"""Calls side by side, on threads that do not keep a process from ending."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from types import TracebackType
from typing import Any, TypeVar

from sandbox import workers

_Given = TypeVar("_Given")


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
