"""Runs functions of a program side by side in one thread, for thread pools.

A program's process has one thread. A function that is given to a thread pool runs as a strand: a
coroutine that is suspended at each tool call, so that the program can go on, and is resumed when
the host has replied. Strands are resumed only while the program waits for one of them, always in
the order of the replies. So the program makes its calls in the same order each time it is repeated.
This module imports only the standard library and other modules of the sandbox.
"""

from __future__ import annotations

import asyncio
import contextvars
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from sandbox.channel import Channel, Reply

_ready: deque[tuple[Strand, Reply]] = deque()
_current: Strand | None = None
_channel: Channel


class Strand:
    """One coroutine that waits for nothing but replies of the host.

    Args:
        coroutine: what to run.
        finish: called with (result, exception) when the coroutine has ended.
    """

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, Any],
        finish: Callable[[Any, Exception | None], object],
    ) -> None:
        self._coroutine = coroutine
        self._finish = finish
        self._context = contextvars.copy_context()

    def resume(self, reply: Reply | None = None) -> None:
        """Run the coroutine until it waits for a reply or ends."""
        global _current
        outer = _current
        _current = self
        result: Any = None
        error: Exception | None = None
        try:
            self._context.run(self._coroutine.send, reply)
        except StopIteration as end:
            result = end.value
        except Exception as problem:  # noqa: BLE001 - what a future is for
            error = problem
        else:
            return
        finally:
            _current = outer
        self._finish(result, error)

    def wake(self, reply: Reply) -> None:
        """Let the coroutine be resumed with a reply as soon as the program waits."""
        _ready.append((self, reply))


def start(channel: Channel) -> None:
    """Begin a program. Its calls go over `channel`."""
    global _channel, _current
    _channel = channel
    _current = None
    _ready.clear()


async def ask(alias: str, arguments: dict[str, Any], site: tuple[int, str]) -> Reply:
    """Make a tool call, and return the reply. Strands and tasks of an event loop can await this."""
    if _current is not None:
        _channel.begin(alias, arguments, site, _current.wake)
        return await _suspend()
    future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def arrived(frame: Reply) -> None:
        if not future.done():  # the program may have cancelled it
            future.set_result(frame)

    _channel.begin(alias, arguments, site, arrived)
    return await future


@types.coroutine
def _suspend() -> Generator[None, Reply, Reply]:
    return (yield)


def run_ready() -> bool:
    """Resume all strands whose reply has come. Return False if there are none."""
    is_any = bool(_ready)
    while _ready:
        strand, reply = _ready.popleft()
        strand.resume(reply)
    return is_any


def advance(seconds: float | None = None) -> bool:
    """Let the strands go on by one reply. Wait for it up to `seconds` (None: without limit).

    Return False if no strand can go on: no call is open.
    """
    if not run_ready():
        if not _channel.has_open_calls:
            return False
        _channel.wait(seconds)
        run_ready()
    return True


@contextmanager
def outside() -> Iterator[None]:
    """Run an event loop inside of a strand: what its tasks await is the loop's."""
    global _current
    outer = _current
    _current = None
    try:
        yield
    finally:
        _current = outer
