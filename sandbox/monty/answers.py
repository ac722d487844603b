"""What the host gives for what a program asks: a tool's result, a name, the time, the end of a sleep."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sandbox.calls import Calls, Open
from sandbox.contract import shorten
from sandbox.frames import FRAME_BYTES, Call, violation
from sandbox.monty import overlap, subset, values
from sandbox.monty.adapt import IN_BACKGROUND, TOOL_ERROR
from sandbox.monty.machine import Machine
from sandbox.monty.verdict import Finished, Lacking
from sandbox.replies import Reply

if TYPE_CHECKING:
    import pydantic_monty

NO_INPUT = "input() is not available: nobody is there to answer; print the result instead"


class Answers:
    """The host's side of one run. `most` calls are made at once where the program does not wait for each.

    What is asked stands on `line`. Everything raises `Lacking` where monty lacks it and no call was made.
    """

    def __init__(self, tools: Mapping[str, tuple[str, ...]], calls: Calls, machine: Machine, *, most: int) -> None:
        self._tools, self._calls, self._machine, self._most = tools, calls, machine, most
        self._pending: dict[int, Open | Reply | float] = {}
        """Calls that the program did not wait for, and when sleeps end, by monty's number of each."""

    def name(self, name: str, line: int) -> Callable[[], None] | None:
        """What a name stands for that the program has not bound; None where it stands for nothing."""
        if name in self._tools:
            return _named(name)
        self._lacks(subset.missing_builtin(name), line)
        return None

    def call(self, asked: pydantic_monty.FunctionSnapshot, line: int) -> Any:
        """What a call gives or raises in the program; None where monty itself is to refuse it."""
        if asked.is_os_function:
            return self._system(asked, line)
        name, args, arguments = asked.function_name, asked.args, asked.kwargs
        if name in self._tools:
            begun = self._begin(name, args, arguments, line)
            return _outcome(self._calls.finish(begun) if isinstance(begun, Open) else begun)
        if name == IN_BACKGROUND:
            return self._in_background(asked.call_id, args)
        if name == "input":
            return _raised("RuntimeError", NO_INPUT)
        if name in ("exit", "quit"):
            if not args or args[0] in (None, 0):
                raise Finished
            return _raised("SystemExit", shorten(str(values.plain(args[0])), 200))
        self._lacks(subset.missing_builtin(name), line)
        return _raised("NameError", f"name {shorten(name, 100)!r} is not defined")

    def settle(self, numbers: list[int]) -> dict[int, Any]:
        """What the program's tasks, which all wait, get next: one call's reply, in order of issue, or a sleep's end.

        All calls that they wait for are made by then, at the same time.
        """
        asked = {number: self._pending[number] for number in numbers if number in self._pending}
        opened = {number: item for number, item in asked.items() if isinstance(item, Open)}
        replies = overlap.finish(self._calls, opened, most=self._most)
        self._pending |= replies
        replies |= {number: item for number, item in asked.items() if isinstance(item, Reply)}
        if replies:
            number = min(replies)
            del self._pending[number]
            return {number: _outcome(replies[number])}
        sleeps = {number: item for number, item in asked.items() if isinstance(item, float)}
        if not sleeps:
            raise violation("waits for something that it never asked for")
        number = min(sleeps, key=lambda number: (sleeps[number], number))
        self._machine.sleep_until(self._pending.pop(number))  # type: ignore[arg-type]
        return {number: {"return_value": None}}

    def _system(self, asked: pydantic_monty.FunctionSnapshot, line: int) -> Any:
        name, args = asked.function_name, asked.args
        if name == "import":
            self._lacks(subset.missing_module(str(args[0])), line)
        if name in ("asyncio.sleep", "system.async_sleep"):
            self._pending[asked.call_id] = self._machine.due(float(args[0]))
            return {"future": ...}
        return self._machine.answer(name, args)

    def _in_background(self, number: int, args: tuple[Any, ...]) -> Any:
        """A call that the program does not wait for now."""
        match args:
            case (int(line), str(tool), tuple() as given, dict() as named) if tool in self._tools:
                begun = self._begin(tool, given, named, line)
                if isinstance(begun, dict):
                    return begun
                self._pending[number] = begun
                return {"future": ...}
        return _raised("TypeError", "asyncio.to_thread() takes a tool or a function of the program")

    def _begin(
        self, tool: str, args: tuple[Any, ...], arguments: dict[str, Any], line: int
    ) -> Open | Reply | dict[str, Any]:
        """Ask for a call: admitted, answered at once, or what it raises in the program without being a call."""
        if args:
            return _raised("TypeError", _keywords_only(tool, self._tools[tool], args, arguments))
        try:
            accepted, unsendable = values.split(arguments)
        except values.TooLarge:
            text = f"{tool}() was given too many bytes of arguments; at most {FRAME_BYTES:,} can be sent"
            return _raised("ValueError", text)
        return self._calls.begin(Call(len(self._calls.made), tool, accepted, unsendable, line))

    def _lacks(self, what: str | None, line: int) -> None:
        if what is not None and not self._calls.made:
            raise Lacking(what, line)


def _outcome(reply: Reply | dict[str, Any]) -> Any:
    """What a call gives in the program, or raises."""
    if isinstance(reply, dict):
        return reply
    if reply.error is None:
        return {"return_value": _encodable(reply)}
    return _raised(TOOL_ERROR, reply.error if reply.status is None else f"HTTP {reply.status}: {reply.error}")


def _encodable(reply: Reply) -> Any:
    """The value, with "?" for lone surrogates, which monty's strings cannot hold."""
    if "\\ud" not in reply.encoded:
        return reply.value
    text = json.dumps(reply.value, ensure_ascii=False)
    return json.loads(text.encode("utf-8", "replace"))


def _raised(type_: str, text: str) -> dict[str, Any]:
    return {"exc_type": type_, "message": values.sendable(text)}


def _named(alias: str) -> Callable[[], None]:
    """What stands for a tool that the program does not call but names: its calls come under the function's name."""

    def function() -> None: ...

    function.__name__ = function.__qualname__ = alias
    return function


def _keywords_only(alias: str, parameters: tuple[str, ...], args: tuple[Any, ...], arguments: dict[str, Any]) -> str:
    free = [name for name in parameters if name not in arguments]
    given = [f"{name}={shorten(values.short(value), 40)}" for name, value in zip(free, args, strict=False)]
    given += [f"{name}={shorten(values.short(value), 40)}" for name, value in arguments.items()]
    return f"{alias}() takes keyword arguments only: write {alias}({', '.join(given)})"
