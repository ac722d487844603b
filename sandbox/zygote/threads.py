"""Inside the child: what programs use threads for, done without any. Standard library alone.

A program has one thread. `asyncio.to_thread` of a tool is a call that the program does not wait for, so that several
are made at once; other work, and that of thread pools, is done at once, on the one thread.
"""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import concurrent.futures.thread
import functools
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from sandbox.zygote import program


def install() -> None:
    """Replace what would start a thread, for this process and those forked from it."""
    pool: Any = InlineExecutor
    concurrent.futures.ThreadPoolExecutor = pool  # type: ignore[misc]
    concurrent.futures.thread.ThreadPoolExecutor = pool  # type: ignore[misc]
    to_thread: Any = _to_thread
    asyncio.to_thread = asyncio.threads.to_thread = to_thread
    loop: Any = asyncio.BaseEventLoop
    loop.shutdown_default_executor = _nothing_to_shut_down
    for name in ("start_new_thread", "start_joinable_thread"):  # Thread calls the second one since Python 3.13
        for module, where in ((_thread, name), (threading, f"_{name}")):
            if hasattr(module, where):
                setattr(module, where, _refuse)


class InlineExecutor(concurrent.futures.Executor):
    """A pool whose work is done when it is submitted."""

    def __init__(self, *_: Any, initializer: Callable[..., object] | None = None, **options: Any) -> None:
        if initializer is not None:
            initializer(*options.get("initargs", ()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """A future that is already done."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - what a future is for
            future.set_exception(error)
        return future


def _to_thread(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    # Not `async def`: the line is that of the program's own call, which is off the stack when the task runs.
    line = program.line()
    while isinstance(func, functools.partial):
        func, args, kwargs = func.func, (*func.args, *args), {**func.keywords, **kwargs}
    in_background = getattr(func, "in_background", None)
    return _at_line(line, func, args, kwargs) if in_background is None else in_background(line, args, kwargs)


async def _at_line(line: int, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    await asyncio.sleep(0)  # as with a thread, the tasks beside this one get to start
    with program.standing_for(line):
        return func(*args, **kwargs)


async def _nothing_to_shut_down(loop: object, *_: object) -> None:  # noqa: ARG001 - the method's signature
    return None


def _refuse(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("can't start new thread: call the tool directly, or use asyncio.to_thread")
