"""What a program calls that leaves its thread: tools, and asyncio and thread pools around them."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from protocols.parsing import FILENAME
from sandbox.trusted.pipe import Interrupted, Pipe, Reply
from sandbox.zygote.child import keywords_only, value_of
from sandbox.zygote.threads import InlineExecutor


class Stubs:
    """The tools of one program, and what its modules have in place of threads, of which it has one.

    `flush` is called first: what was printed before a call that never returns is not lost.
    """

    def __init__(self, pipe: Pipe, flush: Callable[[], None]) -> None:
        self._pipe, self._flush = pipe, flush
        self._standing_for: list[int] = []
        self._loops: list[asyncio.AbstractEventLoop] = []
        self._own: asyncio.AbstractEventLoop | None = None
        self.overrides: dict[str, dict[str, Any]] = {
            "asyncio": {"run": self.run, "to_thread": self.to_thread, "get_event_loop": self.event_loop},
            "concurrent.futures": {"ThreadPoolExecutor": InlineExecutor, "ProcessPoolExecutor": InlineExecutor},
        }

    def tool(self, alias: str, parameters: list[str]) -> Callable[..., Any]:
        """The function by which the program calls one tool."""

        def call(*args: Any, **arguments: Any) -> Any:
            if args:
                raise TypeError(keywords_only(alias, parameters, args, arguments))
            self._flush()
            return value_of(self._pipe.call(alias, arguments, self.line()))

        async def in_background(line: int, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
            if args:
                raise TypeError(keywords_only(alias, parameters, args, arguments))
            self._flush()
            return value_of(await self._reply(alias, arguments, line))

        call.in_background = in_background  # type: ignore[attr-defined]  # what asyncio.to_thread takes instead
        call.__name__ = call.__qualname__ = alias
        call.__module__ = "__main__"
        call.__doc__ = f"Call the tool {alias} with keyword arguments: {', '.join(parameters) or 'none'}."
        return call

    def line(self) -> int:
        """The line of the program that is now being executed, 0 where there is none."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - how a frame is had
        while frame is not None and frame.f_code.co_filename != FILENAME:
            frame = frame.f_back
        if self._standing_for and (frame is None or frame.f_code.co_name == "<module>"):
            return self._standing_for[-1]
        return 0 if frame is None else frame.f_lineno

    def run(self, main: Any, *, debug: bool | None = None, **_: Any) -> Any:
        """`asyncio.run`, with a loop that can be woken from outside."""
        with asyncio.Runner(debug=debug, loop_factory=self.new_loop) as runner:
            return runner.run(main)

    def event_loop(self) -> asyncio.AbstractEventLoop:
        """`asyncio.get_event_loop` as in a main thread: there always is one."""
        with suppress(RuntimeError):
            return asyncio.get_running_loop()
        if self._own is None or self._own.is_closed():
            self._own = self.new_loop()
            asyncio.set_event_loop(self._own)
        return self._own

    def to_thread(self, func: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call that goes on while the program does, where it is a tool's; other work is done at once."""
        # Not `async def`: the line is that of the program's own call, which is off the stack when the task runs.
        line = self.line()
        while isinstance(func, functools.partial):
            func, args, kwargs = func.func, (*func.args, *args), {**func.keywords, **kwargs}
        in_background = getattr(func, "in_background", None)
        return self._at_line(line, func, args, kwargs) if in_background is None else in_background(line, args, kwargs)

    def wake(self) -> None:
        """Have a waiting event loop look around. From any thread."""
        for loop in list(self._loops):
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(_nothing)

    def close(self) -> None:
        """Close the loop that the program left open."""
        if self._own is not None:
            self._own.close()
            asyncio.set_event_loop(None)

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """An event loop that `wake` knows."""
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)  # it would tell the host's error stream
        self._loops.append(loop)
        return loop

    def _reply(self, alias: str, arguments: dict[str, Any], line: int) -> asyncio.Future[Reply]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply] = loop.create_future()

        def arrived(reply: Reply | None) -> None:
            if future.done():  # the program has given up on it
                return
            if reply is None:
                future.set_exception(Interrupted())
            else:
                future.set_result(reply)

        def take(reply: Reply | None) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(arrived, reply)

        self._pipe.begin(alias, arguments, line, take)
        return future

    async def _at_line(self, line: int, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        await asyncio.sleep(0)  # as with a thread, the tasks beside this one get to start
        with self._standing(line):
            return func(*args, **kwargs)

    @contextmanager
    def _standing(self, line: int) -> Iterator[None]:
        self._standing_for.append(line)
        try:
            yield
        finally:
            self._standing_for.pop()


def _nothing() -> None:
    return None
