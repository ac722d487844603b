"""The host's side of a run, the same for every backend: it serves one hostile child over one channel.

Frames are JSON lines. The host opens with `{"source", "tools", "saved", "pins"}`. The child sends

    {"call": 0, "tool": alias, "args": {…}, "line": 3, "unsendable": {alias: repr}?, "waits": false?, "within": alias?}
    {"stdout": text}
    {"done": value}    or    {"fail": {"kind", "type", "message", "call": number?,
        "frames": [[line, function, column, end line, end column], …],
        "hints": [[frame, line, column, end line, end column, call, path, mark], …]?}}

and gets `{"id", "value"}` or `{"id", "error", "status"}` for each call, in the order of the calls, also where a program
did not wait for one before the next: what it sees does not depend on which tool is quicker. Anything else ends the run.
"""

from __future__ import annotations

import contextvars
import re
import signal
import socket
import threading
from collections import deque
from contextlib import suppress
from dataclasses import asdict, replace
from typing import NamedTuple, Protocol

from protocols.protocol import ProgramBinding
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox import wire, workers
from sandbox.base import SandboxUnavailable
from sandbox.calls import CallReply, Calls, OpenCall, RunOver, encode
from sandbox.journal import Journal
from sandbox.limits import (
    GLANCE_SECONDS,
    LONGEST_WAIT_SECONDS,
    Cancelled,
    Clock,
    Limits,
    cancelled,
    running,
)
from sandbox.trace import Failure, Trace


class Exit(NamedTuple):
    """How a child ended: its exit code or the signal that killed it, and the processor time that it took."""

    code: int | None
    signal: int | None
    cpu_seconds: float


class Child(Protocol):
    """A process that runs one program, as a backend offers it to `serve`."""

    @property
    def channel(self) -> wire.Stream:
        """The connected stream that frames go over."""

    def end(self) -> Exit:
        """Kill the child with all that it started, and give how it ended once nothing of it is left.

        Raises `SandboxUnavailable`: nobody can say what became of it.
        """

    def finish(self) -> object:
        """As `end`, where it has said its last word and nobody asks how it ended."""


def serve_program(
    child: Child, source: str, tools: Toolbox, *, limits: Limits, journal: Journal, backend: str
) -> Trace:
    """Open the journal, have `child` run the program, answer its calls, and end it.

    A thread of its own talks to the child; the caller's watches the clock, so that neither a program nor a tool that
    hangs keeps it longer than the run may take.

    Raises:
        SandboxUnavailable: the child was lost through no fault of the program.
        AtcError: a tool or the journal failed on our side.
    """
    clock = Clock(limits.wall_seconds)
    bindings = {alias: tool.protocol.binding for alias, tool in tools.items()}
    saved = {
        alias: own.source for alias, own in bindings.items() if isinstance(own, ProgramBinding)
    }
    tools = tools.only([alias for alias in tools if alias not in saved]) if saved else tools
    calls = Calls(tools, limits=limits, journal=journal, clock=clock)
    stop = cancelled.get()
    try:
        if stop is not None and stop.is_set():
            raise Cancelled  # noqa: TRY301 - the child ends below
        pins = journal.open()
        needed = {
            a: re.sub(r"^\s*def \w+", f"def {a}", text, count=1)
            for a, text in saved.items()
            if a in source
        }
        called = {alias: list(tool.arguments) for alias, tool in tools.items()}
        start = {"source": source, "tools": called, "saved": needed, "pins": asdict(pins)}
        run = _Run(child, source, calls, limits, clock, saved=frozenset(saved))
        ended = run.run_to_end((encode(start) + "\n").encode("ascii"))
        calls.wait_for_open_calls()
    except BaseException:
        calls.close("the run was stopped before it answered")
        with suppress(SandboxUnavailable):  # what happened first is what the caller must hear
            child.end()
        raise
    calls.close(f"no answer within the run's {limits.wall_seconds:g} s")
    if not isinstance(ended, wire.ChannelClosed):
        child.finish()
    return Trace(
        calls=tuple(calls.made),
        stdout="".join(run.stdout),
        value=run.value,
        failure=_explain(child.end(), limits) if isinstance(ended, wire.ChannelClosed) else ended,
        seconds=clock.elapsed(),
        backend=backend,
        pins=pins,
    )


class _Run:
    """What one run has said so far, and how it ended: the first end that anybody puts to it counts.

    Replies go out in the order of the calls, whoever has them and in whatever order they come.
    """

    def __init__(
        self,
        child: Child,
        source: str,
        calls: Calls,
        limits: Limits,
        clock: Clock,
        *,
        saved: frozenset[str],
    ) -> None:
        self.stdout: list[str] = []
        self.value: Json = None
        self._channel = child.channel
        self._calls = calls
        self._limits = limits
        self._clock = clock
        self._lines = source.count("\n") + 2  # an error may stand just past the end
        self._saved = saved
        self._output_left = limits.output_bytes
        # Output costs up to six bytes of JSON for one; a call's arguments may take a whole frame, but not every time.
        self._wire = wire.Wire(
            self._channel, total_bytes=6 * limits.output_bytes + 16 * wire.FRAME_BYTES
        )
        self._sending = threading.Lock()
        self._replies: dict[int, bytes] = {}
        self._next = 0
        self._context = contextvars.copy_context()
        self._context.run(running.set, clock)
        self._state = threading.Lock()
        self._backlog: deque[OpenCall] = deque()
        self._places = max(limits.concurrent_calls, 1)
        self._how: BaseException | None = None
        self._over = False
        self._ended = threading.Event()
        self._left = threading.Event()  # left: the thread has done with the channel
        self._in_tool = False

    def run_to_end(self, start: bytes) -> Failure | wire.ChannelClosed | None:
        """Talk until somebody ends it: the child by its last word, a tool, a limit, the clock.

        Raises `BaseException`: what a tool or the journal raised that is no answer to a call.
        """
        try:
            workers.start(lambda: self._context.run(self._talk, start))
            stop = cancelled.get()
            longest = LONGEST_WAIT_SECONDS if stop is None else GLANCE_SECONDS
            while not self._ended.wait(min(max(self._clock.remaining(), 0.0), longest)):
                if stop is not None and stop.is_set():
                    self._end(Cancelled())
                elif self._clock.remaining() <= 0:
                    seconds = f"{self._clock.wall_seconds:g} s"
                    self._end(
                        wire.limit_exceeded(
                            "wall_seconds", f"the program ran longer than {seconds}"
                        )
                    )
            how = self._how
        except BaseException as error:  # Ctrl-C
            self._end(error)
            raise
        finally:
            # No thread of ours may use the channel any more, but one that a tool keeps; it will not.
            if not self._left.is_set():
                with suppress(OSError):
                    self._channel.shutdown(socket.SHUT_RDWR)
                if not self._in_tool:
                    self._left.wait(1.0)
        if isinstance(how, wire.RunEnded):
            return how.failure
        if how is None or isinstance(how, wire.ChannelClosed):
            return how
        raise how

    def _talk(self, start: bytes) -> None:
        try:
            self._send(start)
            while not self._over:
                match self._wire.next_message():
                    case _ if self._over:  # it was ended meanwhile
                        break
                    case wire.CallRequest() as call:
                        self._answer(call)
                    case wire.Output(text):
                        self._print(text)
                    case wire.ProgramDone(value):
                        self.value = value
                        self._end(None)
                    case Failure() as told:
                        self._end(_ProgramFailed(self._failure(told)))
        except RunOver:  # it was ended while a tool worked
            pass
        except BaseException as end:  # noqa: BLE001 - the caller's thread raises what is not an end
            self._end(end)
        finally:
            self._left.set()

    def _answer(self, call: wire.CallRequest) -> None:
        # Whoever ends the run sets `_over` before looking at `_in_tool`; here it is the other way about.
        self._in_tool = True
        if self._over:
            raise RunOver
        begun = self._calls.begin(self._check_location(call))
        if call.waits and isinstance(begun, OpenCall):
            begun = self._calls.finish(begun)
        self._in_tool = False
        if self._over:
            raise RunOver
        if isinstance(begun, CallReply):
            self._reply(begun)
            return
        with self._state:  # the program does not wait for it: so many are made at a time, the others in their order
            self._backlog.append(begun)
            if self._places == 0:
                return
            self._places -= 1
        context = self._context.copy()
        workers.start(lambda: context.run(self._work))

    def _check_location(self, call: wire.CallRequest) -> wire.CallRequest:
        """A call with its place as far as it can be believed: line 0 where the program has no such line.

        Raises:
            RunEnded: it claims to come from a saved tool that the program was not given.
        """
        if call.within and call.within not in self._saved:
            raise wire.protocol_violation("claims a call for a saved tool that it was not given")
        return call if call.line <= self._lines else call._replace(line=0)

    def _work(self) -> None:
        """Make calls that the program does not wait for, until none is left."""
        while True:
            with self._state:
                if not self._backlog:
                    self._places += 1
                    return
                opened = self._backlog.popleft()
            try:
                self._reply(self._calls.finish(opened))
            except (RunOver, wire.ChannelClosed):  # the thread that reads will hear it too
                pass
            except BaseException as end:  # noqa: BLE001 - the caller's thread raises what is not an end
                self._end(end)

    def _reply(self, reply: CallReply) -> None:
        """Send a reply, and those that waited for it. Raises `ChannelClosed` where nobody takes them."""
        with self._sending:
            self._replies[reply.number] = reply.line()
            while (line := self._replies.pop(self._next, None)) is not None:
                self._next += 1
                self._send(line)

    def _send(self, data: bytes) -> None:
        try:
            self._channel.sendall(data)
        except OSError as error:
            raise wire.ChannelClosed from error

    def _end(self, how: BaseException | None) -> None:
        with self._state:
            if self._over:
                return
            self._over = True
            self._how = how
        try:
            if how is not None and not isinstance(how, _ProgramFailed):
                self._calls.stop_sending()
        except BaseException as error:  # noqa: BLE001 - the journal takes nothing: the caller's thread raises it
            self._how = error
        finally:
            self._ended.set()

    def _print(self, text: str) -> None:
        size = len(text.encode("utf-8"))
        if size > self._output_left:
            self.stdout.append(text.encode("utf-8")[: self._output_left].decode("utf-8", "ignore"))
            self._output_left = 0
            most = f"{self._limits.output_bytes:,} bytes"
            raise wire.limit_exceeded("output_bytes", f"the program printed more than {most}")
        self._output_left -= size
        self.stdout.append(text)

    def _failure(self, told: Failure) -> Failure:
        """What its process tells of a failure, as far as it can be believed."""
        made = self._calls.made
        own = tuple(frame for frame in told.frames if frame.line <= self._lines)
        if told.kind == "limit":
            if told.type not in ("memory_bytes", "cpu_seconds"):
                raise wire.protocol_violation("claims a limit that it cannot know")
            return replace(kernel_limit(told.type, self._limits), frames=own)
        known = (
            told.call is not None
            and 0 <= told.call < len(made)
            and made[told.call].error is not None
        )
        # Where a level is left out, the hints' levels are counted otherwise.
        found = map(self._calls.confirm_hint, told.hints if own == told.frames else ())
        hints = tuple(hint for hint in found if hint is not None)
        return replace(told, frames=own, call=told.call if known else None, hints=hints)


class _ProgramFailed(wire.RunEnded):
    """The program's own failure, as its process told it. What it began goes on, as after its last line."""


def kernel_limit(name: str, limits: Limits) -> Failure:
    """The failure of a program that ran into `memory_bytes` or `cpu_seconds`, which the kernel keeps."""
    if name == "memory_bytes":
        text = f"the program needed more than {limits.memory_bytes / 2**20:,.0f} MiB of memory"
    else:
        text = f"the program used more than {limits.cpu_seconds:g} s of processor time"
    return Failure(kind="limit", type=name, message=f"{name}: {text}")


def _explain(exit_: Exit, limits: Limits) -> Failure:
    """Why a child stopped without a last word."""
    if exit_.signal == signal.SIGXCPU or exit_.cpu_seconds >= limits.cpu_seconds:
        return kernel_limit("cpu_seconds", limits)
    if exit_.signal in (
        signal.SIGSEGV,
        signal.SIGBUS,
        signal.SIGABRT,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSYS,
    ):
        name = signal.Signals(exit_.signal).name
        return Failure(
            kind="exception", type="Crash", message=f"the program crashed the interpreter ({name})"
        )
    how = f"exit code {exit_.code}" if exit_.signal is None else f"signal {exit_.signal}"
    return Failure(
        kind="exception", type="ProcessExit", message=f"the program ended its own process ({how})"
    )
