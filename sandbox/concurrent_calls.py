"""Calls that a program does not wait for, and replies that go out in the order of their calls."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable

from sandbox import workers
from sandbox.calls import Calls, Closed, Open
from sandbox.frames import ChannelClosed, Stream
from sandbox.replies import Reply


class Replies:
    """Sends replies in the order of their calls, whoever has them and in whatever order they come."""

    def __init__(self, channel: Stream) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._waiting: dict[int, bytes] = {}
        self._next = 0

    def put(self, reply: Reply) -> None:
        """Raises `ChannelClosed` where nobody takes it."""
        with self._lock:
            self._waiting[reply.number] = reply.line()
            while (line := self._waiting.pop(self._next, None)) is not None:
                self._next += 1
                try:
                    self._channel.sendall(line)
                except OSError as error:
                    raise ChannelClosed from error


class ConcurrentCalls:
    """Makes calls that the program does not wait for: so many at a time, the others in their order after them."""

    context: contextvars.Context

    def __init__(self, calls: Calls, replies: Replies, most: int, end: Callable[[BaseException | None], None]) -> None:
        self._calls, self._replies, self._end = calls, replies, end
        self._free = max(most, 1)
        self._lock = threading.Lock()
        self._backlog: deque[Open] = deque()

    def start(self, opened: Open) -> None:
        """Make the call as soon as a place is free; its reply goes out when those before it have."""
        with self._lock:
            self._backlog.append(opened)
            if self._free == 0:
                return
            self._free -= 1
        context = self.context.copy()
        workers.start(lambda: context.run(self._work))

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._backlog:
                    self._free += 1
                    return
                opened = self._backlog.popleft()
            try:
                self._replies.put(self._calls.finish(opened))
            except Closed:
                pass
            except ChannelClosed:  # the thread that reads will hear it too
                pass
            except BaseException as end:  # noqa: BLE001 - the caller's thread raises what is not an end
                self._end(end)
