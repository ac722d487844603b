"""Event loops of programs, and functions of `asyncio` that also take values instead of awaitables.

A program may write `await asyncio.gather(tool(…), value)` although the value is no awaitable. It is
then its own result. The module imports only the standard library and other modules of the sandbox.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events
import asyncio.events
import asyncio.selector_events
import inspect
import selectors
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import wraps
from typing import Any

from sandbox.channel import Channel
from sandbox.zygote.child import strands
from sandbox.zygote.child.pairs import awaitable

MOST_BUSY_TURNS = 1000
"""Number of turns of an event loop after which it waits for a reply although tasks are ready.

A task that looks again and again if others have ended would otherwise never let them end."""

_monotonic = time.monotonic  # the real one, taken before `pins` replaces it
_gather: Any = asyncio.gather
_wait: Any = asyncio.wait
_as_completed: Any = asyncio.as_completed
_ensure_future: Any = asyncio.ensure_future
_run: Any = asyncio.run
_create_task: Any = asyncio.base_events.BaseEventLoop.create_task
_channel: Channel


def install() -> None:
    """Replace functions of `asyncio`, in this process and in processes that it forks."""
    loop: Any = asyncio.selector_events.BaseSelectorEventLoop
    for name in ("_make_self_pipe", "_close_self_pipe", "_write_to_self"):  # no other thread
        setattr(loop, name, lambda self: None)  # noqa: ARG005
    loop.time = lambda self: _monotonic()  # noqa: ARG005
    loop.shutdown_default_executor = _do_nothing
    selectors.DefaultSelector = Selector  # type: ignore[misc, assignment]
    asyncio.base_events.BaseEventLoop.create_task = create_task  # type: ignore[method-assign]
    replaced: tuple[Callable[..., Any], ...] = (gather, wait, as_completed, ensure_future, run)
    first_argument = (_takes_value(asyncio.wait_for), _takes_value(asyncio.shield))
    for function in (*replaced, *first_argument):
        for module in (asyncio, asyncio.tasks, asyncio.runners):
            if hasattr(module, function.__name__):
                setattr(module, function.__name__, function)


def start(channel: Channel) -> None:
    """Begin a program. Its event loops wait for replies that arrive over `channel`."""
    global _channel
    _channel = channel


def gather(*values: Any, return_exceptions: bool = False) -> Any:
    """Return a future of the results of awaitables. This replaces `asyncio.gather`."""
    for value in values:
        _reject_list("gather", value)
    return _gather(*map(awaitable, values), return_exceptions=return_exceptions)


def wait(fs: Iterable[Any], **how: Any) -> Any:
    """Return an awaitable of the tasks that have ended and the others, see `asyncio.wait`."""
    return _wait([ensure_future(one) for one in fs], **how)


def as_completed(fs: Iterable[Any], **how: Any) -> Any:
    """Return an iterator over awaitables, as they end. This replaces `asyncio.as_completed`."""
    return _as_completed([ensure_future(one) for one in fs], **how)


def ensure_future(value: Any, **how: Any) -> Any:
    """Return the task of an awaitable. This replaces `asyncio.ensure_future`."""
    return _ensure_future(awaitable(value), **how)


def create_task(self: Any, coro: Any, **how: Any) -> Any:
    """Return a task of this event loop. Tasks of asyncio and of task groups are made by it."""
    return _create_task(self, _as_coroutine(coro), **how)


def run(main: Any, **how: Any) -> Any:
    """Run a coroutine and return its result, also while another event loop runs.

    This replaces `asyncio.run`. The outer event loop waits meanwhile.
    """
    events: Any = asyncio.events
    outer = events._get_running_loop()  # noqa: SLF001 - None if no loop runs
    events._set_running_loop(None)  # noqa: SLF001
    try:
        with strands.outside():
            return _run(_as_coroutine(main), **how)
    finally:
        events._set_running_loop(outer)  # noqa: SLF001


class Selector(selectors.SelectSelector):
    """The selector of event loops in a program: waits for replies of the host and for timers.

    There are no other events, because a program has no descriptors of its own. A reply is taken
    only when no task can go on, and one at a time. So the tasks go on in the same order each time
    the program is repeated, even if several replies have arrived.
    """

    _busy_turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait until the host replies to a tool call, or `timeout` seconds have passed.

        The list of events is always empty, because the event loop of a program has no sockets.
        """
        if timeout is not None and timeout <= 0:
            self._busy_turns += 1
            if self._busy_turns < MOST_BUSY_TURNS or not _channel.has_open_calls:
                return []
            timeout = None
        self._busy_turns = 0
        if not strands.run_ready():
            _channel.wait(timeout)
            strands.run_ready()
        return []


async def _do_nothing(*_: object) -> None: ...


def _takes_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose first argument may be a value instead of an awaitable."""

    @wraps(function)
    def accepting(value: Any, *args: Any, **kwargs: Any) -> Any:
        return function(awaitable(value), *args, **kwargs)

    return accepting


def _reject_list(name: str, value: Any) -> None:
    """Raise TypeError if a value is a list of awaitables, where each should be an argument."""
    if isinstance(value, list | tuple) and any(map(inspect.isawaitable, value)):
        raise TypeError(f"{name}() takes awaitables, not a list of them: write {name}(*tasks)")


def _as_coroutine(value: Any) -> Coroutine[Any, Any, Any]:
    return value if asyncio.iscoroutine(value) else _await(awaitable(value))


async def _await(value: Awaitable[Any]) -> Any:
    return await value
