"""Inside the child: runs one program and talks to the host over one descriptor. Standard library alone.

Nothing here protects anybody: the program can reach and change all of it. What it sends, the host checks.
"""

from __future__ import annotations

import builtins
import signal
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from sandbox.zygote import loop, pins, program
from sandbox.zygote.channel import Channel
from sandbox.zygote.values import shorten


class ToolError(Exception):
    """A call that failed: `status` (HTTP, `None` where there was no answer) and a short `body`."""

    def __init__(self, status: int | None, body: str, _call_number: int | None = None) -> None:
        super().__init__(status, body)
        self.status, self.body = status, body
        self._call_number = _call_number

    def __str__(self) -> str:
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


ToolError.__module__ = "builtins"


def run(reader: int, writer: int) -> None:
    """Take the program from the host, run it, and say how it ended.

    The channel is one descriptor for both ways, or two. The process has its limits and layers already.
    """
    channel = Channel(reader, writer)
    start = channel.receive()
    pins.start(start["pins"])
    loop.use(channel)
    signal.signal(signal.SIGALRM, channel.interrupt)
    signal.signal(signal.SIGXCPU, channel.interrupt)
    outcome: dict[str, Any]
    try:
        namespace = _namespace(channel, start["tools"])
        outcome = program.run(start["source"], namespace, channel.roots)
    except BaseException as error:  # noqa: BLE001 - an interrupt that came while the failure was being described
        outcome = program.failure(error, start["source"], channel.roots)
    channel.finish(outcome)


def _namespace(channel: Channel, tools: dict[str, list[str]]) -> dict[str, Any]:
    """The globals of the program's `__main__`, with its tools. Input and error stream are those of the zygote: null."""
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    sys.argv = [program.FILENAME]
    sys.stdout = channel.output
    changed: dict[str, Any] = {"input": _no_input, "exit": sys.exit, "quit": sys.exit, "ToolError": ToolError}
    for name, value in changed.items():
        setattr(builtins, name, value)
    for alias, parameters in tools.items():
        setattr(main_module, alias, tool(channel, alias, parameters))
    return vars(main_module)


def tool(channel: Channel, alias: str, parameters: list[str]) -> Callable[..., Any]:
    """The function by which the program calls one tool."""

    def call(*args: Any, **arguments: Any) -> Any:
        if args:
            raise TypeError(keywords_only(alias, parameters, args, arguments))
        return value_of(channel.call(alias, arguments, program.line()))

    async def in_background(line: int, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
        if args:
            raise TypeError(keywords_only(alias, parameters, args, arguments))
        return value_of(await loop.reply(channel, alias, arguments, line))

    call.in_background = in_background  # type: ignore[attr-defined]  # what asyncio.to_thread takes instead
    call.__name__ = call.__qualname__ = alias
    call.__module__ = "__main__"
    call.__doc__ = f"Call the tool {alias} with keyword arguments: {', '.join(parameters) or 'none'}."
    return call


def value_of(reply: dict[str, Any]) -> Any:
    """What a call gives the program. Raises `ToolError` for one that failed."""
    if "error" not in reply:
        return reply["value"]
    raise ToolError(reply["status"], reply["error"], reply["id"])


def keywords_only(alias: str, parameters: list[str], args: tuple[Any, ...], arguments: dict[str, Any]) -> str:
    """What is said against positional arguments: the call as it should be written."""
    free = [name for name in parameters if name not in arguments]
    given = [f"{name}={shorten(repr(value), 40)}" for name, value in zip(free, args, strict=False)]
    given += [f"{name}={shorten(repr(value), 40)}" for name, value in arguments.items()]
    return f"{alias}() takes keyword arguments only: write {alias}({', '.join(given)})"


def _no_input(prompt: object = "", /) -> NoReturn:  # noqa: ARG001 - the builtin's signature
    raise RuntimeError("input() is not available: nobody is there to answer; print the result instead")
