"""Runs one program in its process, and communicates with the host.

Nothing here protects anybody: the program can read and change all of this code. The host checks
everything that the process sends.

A program has one thread and cannot open files or sockets. Tool calls run side by side all the same:
a call in a task of an event loop, or in a function of a thread pool, is sent, and the program
continues with another one (see `rewrite`, `strands` and `asyncio_forms`). This module imports only
the standard library and other modules of the sandbox.
"""

from __future__ import annotations

import _thread
import asyncio
import builtins
import os
import signal
import sys
import threading
import types
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, NoReturn

from sandbox import file_objects
from sandbox.channel import Channel, Reply
from sandbox.frames import keywords_only_message
from sandbox.zygote.child import asyncio_forms, pairs, pins, pools, program, rewrite, strands


class ToolError(Exception):
    """Raised in a program if a tool call failed.

    `status` is the HTTP status, or None without one. `body` is a short error message.
    """

    def __init__(self, status: int | None, body: str, _call_number: int | None = None) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body
        self._call_number = _call_number

    def __str__(self) -> str:
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


ToolError.__module__ = "builtins"


def install() -> None:
    """Replace functions of Python that would start a thread or open a descriptor.

    The replacements apply to this process and to processes that it forks.
    """
    pools.install()
    asyncio_forms.install()
    call_in_background: Any = to_thread
    asyncio.to_thread = asyncio.threads.to_thread = call_in_background
    for name in (
        "start_new_thread",
        "start_joinable_thread",
    ):  # Thread calls the second one since Python 3.13
        for module, where in ((_thread, name), (threading, f"_{name}")):
            if hasattr(module, where):
                setattr(module, where, _refuse_thread)
    functions = (pairs.later, pairs.now, pairs.awaitable, pairs.pair, pairs.pair_lambda)
    for helper, function in zip(rewrite.HELPERS, functions, strict=True):
        setattr(builtins, helper, function)


def run(reader: int, writer: int) -> None:
    """Receive the program from the host, run it, and report how it ended.

    All restrictions (layers) must be active already. The arguments are the descriptors of the
    channel: one from which frames are read, and one to which they are written. They may be equal.
    """
    channel = Channel(reader, partial(os.read, reader), partial(os.write, writer))
    channel.take_files = file_objects.take_files
    strands.start(channel)
    asyncio_forms.start(channel)
    start = channel.receive()
    pins.start(start["pins"])
    signal.signal(signal.SIGXCPU, channel.interrupt)
    outcome: dict[str, Any]
    try:
        namespace = _namespace(channel, start["tools"])
        program.define_saved_tools(start["saved"], start["source"], namespace)
        outcome = program.run(start["source"], namespace, channel.replies)
    except BaseException as error:  # noqa: BLE001 - interrupted while describing a failure
        outcome = program.failure(error, start["source"], channel.replies)
    channel.finish(outcome)


def _namespace(channel: Channel, tools: dict[str, list[str]]) -> dict[str, Any]:
    """Return the global variables of the program's module `__main__`, which include its tools.

    Standard output is redirected to the channel. `tools` are the names of the parameters of each
    tool, keyed by alias.
    """
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    sys.argv = [program.FILENAME]
    sys.stdout = channel.output
    changed: dict[str, Any] = {
        "input": _no_input,
        "exit": sys.exit,
        "quit": sys.exit,
        "ToolError": ToolError,
        "File": file_objects.File,
        "look": partial(_look, channel),
        "print": partial(_print, channel, print),
        "pages": partial(_pages, channel),
        "with_headers": partial(_with_headers, channel),
    }
    for name, value in changed.items():
        setattr(builtins, name, value)
    for alias, parameters in tools.items():
        setattr(main_module, alias, make_tool_function(channel, alias, parameters))
    return vars(main_module)


def make_tool_function(channel: Channel, alias: str, parameters: list[str]) -> Callable[..., Any]:
    """Return the function with which the program calls a tool.

    Args:
        channel: the connection to the host.
        alias: the name of the function.
        parameters: the names of the tool's parameters, for messages.
    """

    def call(*args: Any, **arguments: Any) -> Any:
        if args:
            raise TypeError(keywords_only_message(alias, parameters, args, arguments))
        return _value_of(channel, channel.call(alias, arguments, program.current_call_site()))

    async def in_background(
        site: program.CallSite, args: tuple[Any, ...], arguments: dict[str, Any]
    ) -> Any:
        if args:
            raise TypeError(keywords_only_message(alias, parameters, args, arguments))
        return _value_of(channel, await strands.ask(alias, arguments, site))

    call.in_background = in_background  # type: ignore[attr-defined]  # for `pairs`
    call.tool_alias = alias  # type: ignore[attr-defined]  # for `pages` and `with_headers`
    call.__name__ = call.__qualname__ = alias
    call.__module__ = "__main__"
    call.__doc__ = (
        f"Call the tool {alias} with keyword arguments: {', '.join(parameters) or 'none'}."
    )
    return call


def _value_of(channel: Channel, reply: Reply) -> Any:
    if "files" in reply:
        return file_objects.place_files(channel, reply["value"], reply["files"])
    if "error" not in reply:
        return reply["value"]
    raise ToolError(reply["status"], reply["error"], reply["id"])


def _alias_of(tool: Any, name: str) -> str:
    """Return the alias of a tool that the program passed to the function `name`."""
    while isinstance(tool, partial) and not tool.args and not tool.keywords:
        tool = tool.func
    alias = getattr(tool, "tool_alias", None)
    if not isinstance(alias, str):
        raise TypeError(
            f"{name}() takes a tool and its arguments: write {name}(list_items, page=1)"
        )
    return alias


class Pages:
    """The pages of a list, as the tool returns each. It can be used in `for` and `async for`."""

    def __init__(self, channel: Channel, alias: str, arguments: dict[str, Any]) -> None:
        self._channel = channel
        self._alias = alias
        self._arguments = arguments

    def __iter__(self) -> Iterator[Any]:
        site = program.current_call_site
        for reply in self._channel.iter_pages(self._alias, self._arguments, site):
            yield _value_of(self._channel, reply)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for page in self:
            yield page


def _pages(channel: Channel, tool: Any, /, **arguments: Any) -> Pages:
    """Return an iterator over the pages of a list, which a program calls as `pages(tool, …)`."""
    return Pages(channel, _alias_of(tool, "pages"), arguments)


class Headers(dict[str, str]):
    """The headers of a response by lower-case name, which a program may write in any case."""

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(str(name).lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        """Return the header of this name, or `default`."""
        return super().get(str(name).lower(), default)


def _with_headers(channel: Channel, tool: Any, /, **arguments: Any) -> tuple[Any, Headers]:
    """Call a tool, and return what it returns and the headers of its response."""
    alias = _alias_of(tool, "with_headers")
    reply = channel.call(alias, arguments, program.current_call_site(), headers=True)
    return _value_of(channel, reply), Headers(reply["headers"])


def to_thread(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Return an awaitable that calls a function. Its tool calls run beside other tasks.

    This replaces `asyncio.to_thread`.
    """
    # Not `async def`: the program's own call is on the stack now, but not when the task runs.
    begin = pairs.coroutine_function(func)
    if begin is not None:
        return begin(*args, **kwargs)
    return _at_call_site(program.current_call_site(), func, args, kwargs)


async def _at_call_site(
    site: program.CallSite, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    await asyncio.sleep(0)  # as with a thread, other tasks can start first
    token = program.call_site_of_task.set(site)
    try:
        return func(*args, **kwargs)
    finally:
        program.call_site_of_task.reset(token)


def _look(channel: Channel, *values: Any) -> None:
    """Show values to the author of the program, who calls it as `look(value, …)`."""
    for value in values:
        channel.look(value.preview() if type(value) is file_objects.File else value)


def _print(channel: Channel, write: Callable[..., None], /, *values: Any, **how: Any) -> None:
    """Print like the function `write` of Python, and remember the object of the first print."""
    for value in values:
        file_objects.note_files(value)
    if len(values) != 1 or how.get("file") not in (None, channel.output):
        write(*values, **how)
        return
    text = str(values[0])
    write(text, **how)
    channel.note_print(values[0], text)


def _refuse_thread(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("can't start new thread: use a ThreadPoolExecutor or asyncio.gather")


def _no_input(prompt: object = "", /) -> NoReturn:  # noqa: ARG001 - the builtin's signature
    raise RuntimeError(
        "input() is not available: nobody is there to answer; print the result instead"
    )
