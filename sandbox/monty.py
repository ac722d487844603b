"""The portable backend: pydantic-monty, an interpreter for a subset of Python, written in Rust.

A program can use only the language: no files, sockets, other processes or real clock. If it calls a
tool, the interpreter suspends it. A thread translates the call into a frame, so that the host's
side is the same as for every backend. The operating system does not isolate the interpreter, so
prefer `zygote` where it is available.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import re
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NoReturn

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.base import OnDemandSandbox, SandboxUnavailable
from sandbox.bounded_values import require_bounded
from sandbox.channel import Channel
from sandbox.exits import Exit
from sandbox.file_objects import File, note_files, take_files
from sandbox.frames import (
    escape_lone_surrogates,
    failure_frame,
    keywords_only_message,
    shorten,
    to_plain_json,
)
from sandbox.host import serve_program
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.monty_dialect import adapt_program, function_named
from sandbox.monty_errors import (
    exception_reply,
    failure_frame_of,
    refused_arguments,
    value_reply,
)
from sandbox.monty_files import with_monty_files, with_texts
from sandbox.monty_pool import START_SECONDS, TURN_SECONDS, MontyPool, import_monty
from sandbox.trace import Trace

MEMORY_BYTES = 2 * 2**30
"""Maximum memory of a program, even if the limits of its run are higher."""
SUSPENSIONS = 100_000
"""Maximum number of times that the interpreter may suspend a program, for example for a call."""
_PRINT = """
_write = print
_file_type = "<class 'File'>"
_is_noted = []
def print(*values, sep=" ", end="\\n", file=None, flush=False):
    values = [_file_text(one) if str(type(one)) == _file_type else one for one in values]
    if len(values) == 1 and not _is_noted:
        _is_noted.append(_note_print(values[0], str(values[0])))
    _write(*values, sep=sep, end=end, file=file, flush=flush)
"""
"""The `print` of programs: the host gets the object of the first one, see `Channel.note_print`."""


class MontySandbox(OnDemandSandbox["MontyPool"]):
    """Runs programs, written in a subset of Python, in a pool of processes.

    The pool is started when it is first used.
    """

    name = "monty"
    layers = (
        "an interpreter without files, network, processes or foreign code",
        "a process of its own",
    )
    boundary = False  # only the interpreter confines a program

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run the program `source` in an interpreter process, and return the trace.

        The details are those of `sandbox.base.Sandbox.run`. If a program needs a part of Python
        that monty does not have, its failure says so.
        """
        child = _Interpreter(self._current(), limits)
        trace = serve_program(
            child, source, tools, limits=limits, journal=journal, backend=self.name
        )
        if self._closed and trace.failure is not None:
            raise SandboxUnavailable("the monty sandbox was closed while it ran the program")
        return trace

    def _start(self) -> MontyPool:
        if (reason := unavailable()) is not None:
            raise SandboxUnavailable(reason)
        return MontyPool()


def unavailable() -> str | None:
    """Return why this machine cannot run monty, or None if it can."""
    if importlib.util.find_spec("pydantic_monty") is None:
        return "the monty sandbox needs pydantic-monty; pip install 'automatic-tool-chain[monty]'"
    return None


def _raise_eof() -> NoReturn:
    raise EOFError


class _Interpreter:
    """A thread that runs one program in a process of the pool, and sends frames to the host.

    It implements `sandbox.host.Child`.
    """

    def __init__(self, pool: MontyPool, limits: Limits) -> None:
        self.channel, self._own = socket.socketpair()
        self._frames = Channel(self._own.fileno(), self._own.recv, self._own.send, gone=_raise_eof)
        self._frames.take_files = take_files
        self._pool = pool
        self._limits = limits
        self._pid: int | None = None
        self._over = threading.Event()
        self._left = threading.Event()
        self._state = threading.Lock()
        self._arrived: deque[tuple[int, dict[str, Any]]] = deque()
        self._failed: dict[str, int] = {}  # number of the latest call with an error text
        workers.start(self._main)

    def end(self) -> Exit:
        """Kill the interpreter's process, unless it ends by itself, and wait for the thread."""
        if not self._left.wait(0.05):  # it may be about to end by itself
            self._over.set()
            with self._state, suppress(OSError):
                if self._pid is not None:
                    os.kill(self._pid, signal.SIGKILL)
        with suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)
        self._left.wait(START_SECONDS)
        self.channel.close()
        return Exit(0, None, 0.0)

    finish = end

    def _main(self) -> None:
        try:
            with suppress(OSError, EOFError):  # the host closed its end
                self._frames.finish(self._run(self._frames.receive()))
        finally:
            self._own.close()
            self._left.set()

    def _run(self, start: dict[str, Any]) -> dict[str, Any]:
        self._tools = start["tools"]
        self._source, self._awaited = adapt_program(start["source"], self._tools)
        self._saved = start["saved"]
        pins = start["pins"]
        self._file = f"<python-input-{len(self._saved) + 1}>"  # `_PRINT` comes before
        seconds = max(min(self._limits.cpu_seconds, self._limits.wall_seconds, TURN_SECONDS), 0.001)
        limits = {
            "max_feed_duration_secs": seconds,
            "max_turn_duration_secs": seconds,
            "max_recursion_depth": 1000,
            "max_memory": min(self._limits.memory_bytes, MEMORY_BYTES),
            "max_suspensions": SUSPENSIONS,
        }
        policy = {
            # The program's clock does not advance.
            "datetime": datetime.datetime.fromtimestamp(pins["clock"], datetime.UTC),
            "timezone": pins["timezone"],
            "sleep": "call_host",
            "random_start": {"seed": pins["seed"]},
        }
        try:
            with self._pool.checkout(
                script_name="program.py",
                limits=limits,
                os_policy=policy,
                assert_message_annotations=False,
            ) as session:
                self._pid = session.worker_pid
                try:
                    return self._drive(session)
                finally:
                    with self._state:
                        self._pid = None
        except import_monty().MontyError as error:
            return self._describe_failure(error)
        except (OSError, EOFError):
            raise
        except Exception as error:  # noqa: BLE001 - the process sent nonsense
            return failure_frame(
                "exception", "Crash", f"the interpreter broke its protocol ({error})", []
            )

    def _drive(self, session: Any) -> dict[str, Any]:
        api = import_monty()
        for text in self._saved.values():
            session.feed_run(text)
        session.feed_run(_PRINT)
        step: Any = session.feed_start(self._source, print_callback=self._print)
        while not isinstance(step, api.MontyComplete):
            if self._over.is_set():
                raise EOFError
            if getattr(step, "object_id", None) is not None:
                step = step.resume_auto()  # an attribute or a method of a file
            elif (
                isinstance(step, api.FunctionSnapshot) and (given := self._answer(step)) is not None
            ):
                step = step.resume(given)
            elif isinstance(step, api.FutureSnapshot):
                step = step.resume(self._next_result())
            elif isinstance(step, api.FunctionSnapshot):
                step = step.resume_not_handled()
            elif isinstance(step, api.NameLookupSnapshot) and step.variable_name in (
                *self._tools,
                "pages",
                "with_headers",
            ):
                step = step.resume(value=function_named(step.variable_name))
            else:
                step = step.resume()
        try:
            note_files(require_bounded(step.output))
            return {"done": to_plain_json(with_texts(step.output))}
        except ValueError:
            return {"done": f"<{type(step.output).__name__}, which cannot be shown>"}

    def _sleep(self, seconds: float) -> dict[str, Any]:
        """Wait for some seconds, and return the result of `time.sleep`.

        Raises:
            EOFError: the execution ended meanwhile.
        """
        if seconds > 0 and self._over.wait(min(seconds, threading.TIMEOUT_MAX)):
            raise EOFError
        return {"return_value": None}

    def _answer(self, asked: Any) -> dict[str, Any] | None:
        """Return the result of a function call of the program, as a dict that monty understands.

        The dict has the value that the function returns, or the exception that it raises. Return
        None for a function of the operating system that monty must refuse. `asked` is the call as
        monty describes it.
        """
        name = asked.function_name
        args = asked.args
        if asked.is_os_function:
            return self._sleep(float(args[0])) if name.endswith("sleep") else None
        if name == "input":
            return exception_reply(
                "RuntimeError",
                "input() is not available: nobody is there to answer; print the result",
            )
        if name == "look" and name not in self._tools:
            self._look(args)
            return {"return_value": None}
        if name == "_file_text" and name not in self._tools:
            note_files(require_bounded(list(args)))
            return {"return_value": "".join(map(repr, args))}
        if name == "_note_print" and name not in self._tools:
            self._note_print(*args)
            return {"return_value": None}
        if name in ("pages", "with_headers") and name not in self._tools:
            return self._call_for(name, asked)
        if name not in self._tools:
            return exception_reply("NameError", f"name {shorten(name, 100)!r} is not defined")
        return self._call_tool(asked)

    def _look(self, values: Iterable[Any]) -> None:
        """Send values that the program looks at to the host. Of a file, a preview is sent."""
        for value in values:
            shown = value.preview() if type(value) is File else value
            self._frames.look(with_texts(require_bounded(shown)))

    def _call_tool(self, asked: Any) -> dict[str, Any]:
        """Send a call of a tool to the host, and return the result as `_answer` does."""
        name = asked.function_name
        if asked.args:
            return exception_reply(
                "TypeError",
                keywords_only_message(name, self._tools[name], asked.args, asked.kwargs),
            )
        own = asked.position.filename == self._file
        if own and asked.position.start in self._awaited:
            return self._begin(name, asked)
        return self._ask(name, asked, lambda site: [self._frames.call(name, asked.kwargs, site)])

    def _begin(self, name: str, asked: Any) -> dict[str, Any]:
        """Send a call that the program awaits, and return the future of its result for monty."""
        try:
            require_bounded([asked.args, asked.kwargs])
            number = asked.call_id
            self._frames.begin(
                name,
                asked.kwargs,
                self._site(asked),
                lambda reply: self._arrived.append((number, reply)),
            )
        except ValueError:
            return refused_arguments(name)
        return {"future": ...}

    def _next_result(self) -> dict[int, dict[str, Any]]:
        """Wait for the next reply to a call that was begun, and return its result for monty."""
        while not self._arrived:
            self._frames.wait(None)
        number, reply = self._arrived.popleft()
        result = self._failed_call(reply) if "error" in reply else value_reply(reply["value"])
        return {number: result}

    def _call_for(self, function: str, asked: Any) -> dict[str, Any]:
        """Return the result of `pages` or `with_headers`. All pages are read at once."""
        match asked.args:
            case [str(name)] if name in self._tools and asked.kwargs is not None:
                pass
            case _:
                how = f"write {function}(list_items, page=1)"
                return exception_reply(
                    "TypeError", f"{function}() takes a tool and its arguments: {how}"
                )
        frames = self._frames
        if function == "pages":
            return self._ask(
                name,
                asked,
                lambda site: frames.iter_pages(name, asked.kwargs, lambda: site),
                many=True,
            )
        return self._ask(
            name, asked, lambda site: [frames.call(name, asked.kwargs, site, headers=True)]
        )

    def _ask(
        self,
        name: str,
        asked: Any,
        send: Callable[[tuple[int, str]], Iterable[dict[str, Any]]],
        *,
        many: bool = False,
    ) -> dict[str, Any]:
        """Return the value of one reply of the host, or with `many` a list of the values of all."""
        values: list[Any] = []
        files: list[Any] = []
        try:
            require_bounded([asked.args, asked.kwargs])
            for reply in send(self._site(asked)):
                if "error" in reply:
                    return self._failed_call(reply)
                place = [len(values)] * many + [0] * ("headers" in reply)
                files += [[[*place, *path], number] for path, number in reply.get("files", ())]
                values.append(
                    [reply["value"], reply["headers"]] if "headers" in reply else reply["value"]
                )
        except ValueError:
            return refused_arguments(name)
        given = value_reply(values if many else values[0])
        if files:
            given["return_value"] = with_monty_files(self._frames, given["return_value"], files)
        return given

    def _site(self, asked: Any) -> tuple[int, str]:
        """Return the line of a call, and the saved tool that makes it ("" if the program does)."""
        if asked.position.filename != self._file:  # a saved tool; the line of its call is unknown
            return 0, list(self._saved)[int(re.sub(r"\D", "", asked.position.filename))]
        data = self._source.encode("utf-8", "replace")
        return data.count(b"\n", 0, asked.position.start) + 1, ""

    def _failed_call(self, reply: dict[str, Any]) -> dict[str, Any]:
        status = reply["status"]
        message = escape_lone_surrogates(
            reply["error"] if status is None else f"HTTP {status}: {reply['error']}"
        )
        self._failed[message] = reply["id"]
        return exception_reply("RuntimeError", message)

    def _note_print(self, value: Any, text: Any = "") -> None:
        """Remember the object of the first print. The program may call this with any values."""
        with suppress(ValueError):  # it cannot be sent
            self._frames.note_print(require_bounded(value), f"{text}")

    def _print(self, stream: str, text: str) -> None:
        if stream == "stdout":
            with suppress(OSError, EOFError):  # the host closed its end
                self._frames.output.write(escape_lone_surrogates(text))

    def _describe_failure(self, error: Any) -> dict[str, Any]:
        """Return the frame that reports to the host how a program ended, for an error of monty."""
        return failure_frame_of(import_monty(), error, file=self._file, failed=self._failed)
