"""One program on a thread of this process: run, interrupted, and described when it ends."""

from __future__ import annotations

import asyncio
import builtins
import ctypes
import inspect
import io
import threading
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NoReturn

from sandbox.hints import Roots, find
from sandbox.policy.names import BUILTINS
from sandbox.rpc import Exit
from sandbox.trace import Pins
from sandbox.trusted.compiled import CLOCK, INTERRUPTED, compile_program
from sandbox.trusted.modules import Modules
from sandbox.trusted.moments import Clockwork
from sandbox.trusted.pipe import Interrupted, Pipe
from sandbox.trusted.tools import Stubs
from sandbox.zygote.child import ToolError
from sandbox.zygote.program import frames_of, last_word, levels
from sandbox.zygote.values import plain, text_of

OUTPUT_FRAME_CHARACTERS = 32768

TRIES, TRY_SECONDS = 5, 0.01
"""How often a program is told to stop, and how long it has each time, before its thread is left behind."""

_TAKEN_AWAY = (*BUILTINS, "copyright", "credits", "license")


class InProcess:
    """A `sandbox.rpc.Child` that is a thread. `left` is called when it does not stop."""

    def __init__(self, source: str, left: Callable[[], None]) -> None:
        self.channel = Pipe()
        self._source, self._parts = source, _compiled(source)  # here, where nobody interrupts
        self._left = left
        self._output = Output(self.channel)
        self._stubs = Stubs(self.channel, self._output.flush)
        self._state = threading.Lock()
        self._over = False
        self._thread = threading.Thread(target=self._main, name="trusted-program", daemon=True)
        self._thread.start()

    def interrupt(self) -> None:
        """Have the program stop at its next line; one that waits for us, at once."""
        self.channel.stop()
        with self._state:
            if not self._over:
                ident = ctypes.c_ulong(self._thread.ident or 0)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Interrupted))
                self._stubs.wake()

    def end(self) -> Exit:
        """Stop the program. A thread cannot be killed: one that does not stop in time is left behind."""
        for _ in range(TRIES):
            if self._over:
                break
            self.interrupt()
            self.channel.shutdown()
            self._thread.join(TRY_SECONDS)
            if not self._thread.is_alive():
                break
        else:
            self._left()
        self.channel.shutdown()
        self._thread.join(TRY_SECONDS)
        return Exit(0, None, 0.0)

    def finish(self) -> None:
        """As `end`."""
        self.end()

    def _main(self) -> None:
        outcome: dict[str, Any]
        try:
            start = self.channel.start()
            try:
                outcome = self._run(start)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is how the program ended
                outcome = failure(error, self._source, self.channel.roots)
            with self._state:
                self._over = True
            self._stubs.close()
            self._output.flush()
            self.channel.send(outcome)
        except Interrupted:  # it came after the end, or nobody listens any more
            pass
        finally:
            with self._state:
                self._over = True
            self.channel.hang_up()

    def _run(self, start: dict[str, Any]) -> dict[str, Any]:
        if isinstance(self._parts, dict):
            return self._parts
        main = ModuleType("__main__")
        clockwork = Clockwork(Pins(**start["pins"]), self.channel.sleep)
        modules = Modules(clockwork, self._stubs.overrides, main, self._source)
        for name, stream in (("stdout", self._output), ("stderr", Output(None)), ("stdin", io.StringIO())):
            vars(modules.sys).update({name: stream, f"__{name}__": stream})
        names = _builtins(modules)
        modules.use_builtins(names)
        vars(main)["__builtins__"] = {**names, INTERRUPTED: Interrupted, CLOCK: clockwork.of}
        for alias, parameters in start["tools"].items():
            setattr(main, alias, self._stubs.tool(alias, parameters))
        return {"done": plain(self._evaluate(self._parts, vars(main)))}

    def _evaluate(self, parts: list[CodeType], namespace: dict[str, Any]) -> Any:
        """The value of the last part. Those that await at top level share one event loop."""
        value = None
        loop: asyncio.Runner | None = None
        try:
            for part in parts:
                value = eval(part, namespace)  # noqa: S307 - what this sandbox is for
                if part.co_flags & inspect.CO_COROUTINE:
                    loop = loop or asyncio.Runner(loop_factory=self._stubs.new_loop)
                    value = loop.run(value)
        finally:
            if loop is not None:
                loop.close()
        return value


class Output(io.TextIOBase):
    """A program's standard output, or, without a pipe, its error stream, which goes nowhere."""

    encoding = "utf-8"

    def __init__(self, pipe: Pipe | None) -> None:
        self._pipe = pipe
        self._written: list[str] = []
        self._size = 0

    def __del__(self) -> None:
        """Not to flush: whoever listened has gone."""

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str, /) -> int:
        """Keep `text` until there is enough of it, or `flush` is called."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        text.encode("utf-8")  # raises where it cannot be sent
        if self._pipe is not None:
            if self._pipe.stopped:
                raise Interrupted
            self._written.append(text)
            self._size += len(text)
            if self._size > OUTPUT_FRAME_CHARACTERS:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what is kept."""
        text = "".join(self._written)
        self._written.clear()
        self._size = 0
        for at in range(0, len(text), OUTPUT_FRAME_CHARACTERS):
            assert self._pipe is not None
            self._pipe.send({"stdout": text[at : at + OUTPUT_FRAME_CHARACTERS]})


def _compiled(source: str) -> list[CodeType] | dict[str, Any]:
    """The program as code, or the last word of one that cannot be compiled."""
    try:
        return compile_program(source)
    except SyntaxError as error:
        return last_word("syntax", type(error).__name__, str(error.msg), [[error.lineno or 1, "<module>"]])
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        text = str(error) or "it is too large or too deeply nested"
        return last_word("syntax", "SyntaxError", f"the program cannot be compiled: {text}", [[1, "<module>"]])


def failure(error: BaseException, source: str, roots: Roots) -> dict[str, Any]:
    """The last word of a program that `error` ended."""
    if isinstance(error, SystemExit) and not isinstance(error, Interrupted) and error.code in (None, 0):
        return {"done": None}
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a program's own __str__ may raise anything
        message = text_of(error)
    number, hints = getattr(error, "_call_number", None), find(levels(error), source, roots)
    return last_word("exception", type(error).__name__, message, frames_of(error), number, hints)


def _builtins(modules: Modules) -> dict[str, Any]:
    names = {name: value for name, value in vars(builtins).items() if name not in _TAKEN_AWAY}

    def say(
        *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
    ) -> None:
        print(*values, sep=sep, end=end, file=modules.sys.stdout if file is None else file, flush=flush)

    say.__name__ = say.__qualname__ = "print"
    changed = {"print": say, "__import__": modules.import_, "exit": _exit, "quit": _exit, "ToolError": ToolError}
    return {**names, **changed}


def _exit(status: Any = None) -> NoReturn:
    raise SystemExit(status)
