"""Inside the child: an asyncio event loop that needs no descriptor but the channel. Standard library alone.

A loop waits for timers and for the replies to calls that the program did not wait for; there is nothing else to wait
for in a process that can open nothing.
"""

from __future__ import annotations

import asyncio
import asyncio.selector_events
import selectors
import time
from typing import Any

from sandbox.zygote.channel import Channel

_sleep = time.sleep  # before `pins` moves the program's clock instead
_channel: Channel | None = None


def install() -> None:
    """Have every event loop of this process, and those forked from it, be such a one."""
    loop: Any = asyncio.selector_events.BaseSelectorEventLoop
    for name in ("_make_self_pipe", "_close_self_pipe", "_write_to_self"):  # they wake a loop from other threads
        setattr(loop, name, lambda self: None)  # noqa: ARG005 - the methods' signature
    selector: Any = _Selector
    selectors.DefaultSelector = selector  # type: ignore[misc]


def use(channel: Channel) -> None:
    """Take replies from `channel`."""
    global _channel
    _channel = channel


async def reply(channel: Channel, alias: str, arguments: dict[str, Any], line: int) -> dict[str, Any]:
    """The host's reply to one call; other tasks go on until it comes."""
    future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def arrived(frame: dict[str, Any]) -> None:
        if not future.done():  # the program may have given up on it
            future.set_result(frame)

    channel.begin(alias, arguments, line, arrived)
    return await future


class _Selector(selectors.BaseSelector):
    """Waits for replies and for time to pass."""

    def __init__(self) -> None:
        self._map: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:  # noqa: ARG002
        raise OSError("a program has no files or sockets to wait for")

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        raise KeyError(fileobj)

    def get_map(self) -> dict[Any, selectors.SelectorKey]:
        return self._map

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if _channel is not None and _channel.waiting:
            _channel.wait(timeout)
        elif timeout is None:
            while True:  # nothing can wake it any more: as anywhere else, it hangs until it is ended
                _sleep(3600)
        elif timeout > 0:
            _sleep(timeout)
        return []
