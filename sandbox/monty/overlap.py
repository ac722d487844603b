"""Several calls of one run made at the same time."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Mapping

from sandbox import workers
from sandbox.calls import Calls, Open
from sandbox.replies import Reply


def finish(calls: Calls, opened: Mapping[int, Open], *, most: int) -> dict[int, Reply]:
    """The replies to calls that were begun, by the same numbers. So many are made at once, in the order of the numbers.

    Raises:
        BaseException: what the first of them raised that is no reply; the others are left.
    """
    if len(opened) <= 1 or most <= 1:
        return {number: calls.finish(opened[number]) for number in sorted(opened)}
    work = _Work(calls, opened)
    for _ in range(min(most, len(opened))):
        context = contextvars.copy_context()
        workers.start(lambda context=context: context.run(work.do))  # type: ignore[misc]
    return work.await_end()


class _Work:
    """What several threads take from, in order."""

    def __init__(self, calls: Calls, opened: Mapping[int, Open]) -> None:
        self._calls = calls
        self._backlog = deque(sorted(opened.items()))
        self._left = len(opened)
        self._replies: dict[int, Reply] = {}
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def do(self) -> None:
        """Make calls until none is left."""
        while True:
            with self._changed:
                if not self._backlog:
                    return
                number, opened = self._backlog.popleft()
            try:
                reply = self._calls.finish(opened)
            except BaseException as error:  # noqa: BLE001 - raised again on the run's own thread
                with self._changed:
                    self._error = self._error or error
                    self._backlog.clear()
                    self._changed.notify()
                return
            with self._changed:
                self._replies[number] = reply
                self._left -= 1
                self._changed.notify()

    def await_end(self) -> dict[int, Reply]:
        with self._changed:
            self._changed.wait_for(lambda: self._left == 0 or self._error is not None)
        if self._error is not None:
            raise self._error
        return self._replies
