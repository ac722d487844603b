"""Runs one program on the host's side: sends it to a child process and answers its calls.

All backends use this module. The child is not trusted. Both sides send frames, that is, lines of
JSON. The host begins with `{"source", "tools", "saved", "pins"}`. The child sends

    {"call": 0, "tool": alias, "args": {…}, "line": 3, "unsendable": {alias: repr}?,
     "waits": false?, "within": alias?, "headers": true?, "pages": true?, "after": number?,
     "files": [[path, number], …]?}
    {"read": [number of a file, start, size]}
    {"stdout": text}
    {"look": value}
    {"done": value, "printed": [value, size]?, "files": [number, …]?}
    {"fail": {"kind", "type", "message", "call": number?,
     "frames": [[line, function, column, end line, end column], …],
     "hints": [[frame, line, column, end line, end column, call, path, mark], …]?}}

where `?` marks a key that may be missing, and receives `{"id", "value", "files"?}` or `{"id",
"error", "status"}` for each call, and `{"file", "data"}` with bytes as base64, or `{"file",
"error"}`, for each read. A reply to a call with `headers` has these, too. `pages` begins to read a
list page by page, and `after` asks for the page that follows the one of an earlier call: the host
derives its request. The reply then has `more`, true if there is a further page, and `skip`, true if
the page has no new rows. Replies are sent in the order of the calls, even if several calls run at
the same time, so that a program cannot find out which tool is faster. Any other frame from the
child ends the run.
"""

from __future__ import annotations

import contextvars
import re
import socket
import threading
from collections import deque
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Protocol

from protocols.files import FileInfo
from protocols.protocol import ProgramBinding
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox import wire, workers
from sandbox.base import SandboxUnavailable
from sandbox.calls import Calls, OpenCall, RunOver
from sandbox.exits import Exit, explain_exit, kernel_limit
from sandbox.file_frames import FileRead
from sandbox.frames import FRAME_BYTES
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
from sandbox.replies import CallReply, encode
from sandbox.trace import Failure, Trace
from sandbox.value_hints import confirm_hint


class Child(Protocol):
    """A child process that runs one program. Each backend implements this protocol."""

    @property
    def channel(self) -> wire.Stream:
        """The stream over which messages (frames) are sent to the child and received from it."""

    def end(self) -> Exit:
        """Kill the child and all processes that it started, and wait until they are gone.

        Return how the child ended.

        Raises:
            SandboxUnavailable: it is not known how the child ended.
        """

    def finish(self) -> object:
        """End a child process whose program has ended, that is, which has sent its last frame.

        Unlike `end`, this need not find out how the child ended, so it may be faster.
        """


def serve_program(
    child: Child, source: str, tools: Toolbox, *, limits: Limits, journal: Journal, backend: str
) -> Trace:
    """Let `child` run a program, answer its calls, end the child, and return the trace.

    A separate thread communicates with the child while the caller's thread watches the clock. So
    the time limit of the run is kept even if the program or a tool hangs.

    Raises:
        SandboxUnavailable: the child ended unexpectedly, and the program is not the cause.
        AtcError: a tool or the journal failed on the host's side.
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
        with suppress(SandboxUnavailable):  # the caller must get the first error
            child.end()
        raise
    calls.close(f"no answer within the run's {limits.wall_seconds:g} s")
    if not isinstance(ended, wire.ChannelClosed):
        child.finish()
    return Trace(
        calls=tuple(calls.made),
        stdout="".join(run.stdout),
        printed=run.printed,
        files=run.files,
        looked=tuple(run.looked),
        value=run.value,
        failure=explain_exit(child.end(), limits)
        if isinstance(ended, wire.ChannelClosed)
        else ended,
        seconds=clock.elapsed(),
        backend=backend,
        pins=pins,
    )


class _Run:
    """The communication with the child during one run, and how the run ended.

    If there are several reasons to end the run, only the first one counts. Replies are sent in the
    order of the calls, even if the calls finish in another order.
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
        self.looked: list[Json] = []
        self.printed: tuple[Json, ...] = ()
        self.files: tuple[FileInfo, ...] = ()
        self.value: Json = None
        self._channel = child.channel
        self._calls = calls
        self._limits = limits
        self._clock = clock
        self._lines = source.count("\n") + 2  # an error may be on the line after the last
        self._saved = saved
        self._output_left = limits.output_bytes
        # A byte of output takes up to six bytes of JSON. Some calls may fill a frame, but not all.
        self._wire = wire.Wire(
            self._channel, total_bytes=6 * limits.output_bytes + 16 * FRAME_BYTES
        )
        self._sending = threading.Lock()
        self._replies: dict[int, bytes] = {}
        self._next_reply = 0
        self._context = contextvars.copy_context()
        self._context.run(running.set, clock)
        self._state = threading.Lock()
        self._waiting_calls: deque[OpenCall] = deque()
        self._free_places = max(limits.concurrent_calls, 1)
        self._end_reason: BaseException | None = None
        self._over = False
        self._ended = threading.Event()
        self._channel_released = threading.Event()  # set when the thread is done with the channel
        self._in_tool = False

    def run_to_end(self, start: bytes) -> Failure | wire.ChannelClosed | None:
        """Communicate with the child until the run ends.

        `start` is the first frame that is sent. Return the failure, or None if the program
        succeeded. Return `ChannelClosed` if the child closed its end without sending a last frame.

        Raises:
            BaseException: a tool or the journal raised an exception that the program must not get
                as the reply to a call, or a person pressed Ctrl-C.
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
            how = self._end_reason
        except BaseException as error:  # Ctrl-C
            self._end(error)
            raise
        finally:
            # Our thread must stop using the channel. One that a tool keeps busy does not use it.
            if not self._channel_released.is_set():
                with suppress(OSError):
                    self._channel.shutdown(socket.SHUT_RDWR)
                if not self._in_tool:
                    self._channel_released.wait(1.0)
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
                    case _ if self._over:  # the run ended meanwhile
                        break
                    case wire.CallRequest() as call:
                        self._answer(call)
                    case wire.Output(text):
                        self._print(text)
                    case wire.LookedValue(value):
                        self._charge_output(len(encode(value)))
                        self.looked.append(value)
                    case FileRead() as asked:
                        piece = self._calls.files.read(asked)
                        with self._sending:
                            self._send(piece)
                    case wire.ProgramDone(value, printed, files):
                        self.value = value
                        self.files = self._calls.files.infos(files)
                        self.printed = self._confirm_printed(printed)
                        self._end(None)
                    case Failure() as told:
                        self._end(wire.RunEnded(self._failure(told), makes_calls=True))
        except RunOver:  # the run ended while a tool worked
            pass
        except BaseException as end:  # noqa: BLE001 - raised by the caller's thread
            self._end(end)
        finally:
            self._channel_released.set()

    def _answer(self, call: wire.CallRequest) -> None:
        # `_end` sets `_over` before it reads `_in_tool`; here the order is reversed.
        self._in_tool = True
        if self._over:
            raise RunOver
        begun = self._calls.begin(self._check_location(call))
        if call.waits and isinstance(begun, OpenCall):
            begun = self._calls.finish(begun)
        self._in_tool = False
        if isinstance(begun, CallReply):
            if self._over:
                raise RunOver
            self._reply(begun)
            return
        # The program does not wait for this call. A limited number run at once, the others wait.
        # If the run has ended meanwhile, it is made unless `Calls` refuses it.
        with self._state:
            self._waiting_calls.append(begun)
            if self._free_places == 0:
                return
            self._free_places -= 1
        context = self._context.copy()
        workers.start(lambda: context.run(self._make_waiting_calls))

    def _check_location(self, call: wire.CallRequest) -> wire.CallRequest:
        """Check where in the program a tool call claims to come from, and return the call.

        Its `line` becomes 0 if the program has no line with this number.

        Raises:
            RunEnded: the call claims to come from a saved tool that the program does not use.
        """
        if call.within and call.within not in self._saved:
            raise wire.protocol_violation("claims a call for a saved tool that it was not given")
        return call if call.line <= self._lines else call._replace(line=0)

    def _make_waiting_calls(self) -> None:
        """Make the queued tool calls, for which the program does not wait, until none is left."""
        while True:
            with self._state:
                if not self._waiting_calls:
                    self._free_places += 1
                    return
                opened = self._waiting_calls.popleft()
            try:
                self._reply(self._calls.finish(opened))
            except (RunOver, wire.ChannelClosed):  # the reading thread gets it as well
                pass
            except BaseException as end:  # noqa: BLE001 - raised by the caller's thread
                self._end(end)

    def _reply(self, reply: CallReply) -> None:
        """Send the reply to a tool call, unless a reply to an earlier call is still missing.

        In that case, hold the reply back. When a reply is sent, later ones that were held back
        follow.

        Raises:
            ChannelClosed: the child has closed its end.
        """
        with self._sending:
            self._replies[reply.number] = reply.line()
            while (line := self._replies.pop(self._next_reply, None)) is not None:
                self._next_reply += 1
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
            self._end_reason = how
        try:
            if how is not None and not getattr(how, "makes_calls", False):
                self._calls.stop_sending()
        except BaseException as error:  # noqa: BLE001 - raised by the caller's thread
            self._end_reason = error
        finally:
            self._ended.set()

    def _print(self, text: str) -> None:
        data = text.encode("utf-8")
        self.stdout.append(data[: self._output_left].decode("utf-8", "ignore"))
        self._charge_output(len(data))

    def _confirm_printed(self, claimed: wire.PrintedObject | None) -> tuple[Json, ...]:
        """Return the object that the program claims to have printed, if its output may be that."""
        size = len("".join(self.stdout).strip())
        return (claimed.value,) if claimed is not None and claimed.size == size else ()

    def _charge_output(self, size: int) -> None:
        """Subtract `size` from the bytes that the program may still print or show by `look`.

        Raises:
            RunEnded: fewer bytes are left.
        """
        if size > self._output_left:
            self._output_left = 0
            most = f"{self._limits.output_bytes:,} bytes"
            raise wire.limit_exceeded("output_bytes", f"the program printed more than {most}")
        self._output_left -= size

    def _failure(self, reported: Failure) -> Failure:
        """Return the failure that the child reported, without parts that cannot be true.

        Raises:
            RunEnded: the child reported a limit that only the host can know.
        """
        made = self._calls.made
        own = tuple(frame for frame in reported.frames if frame.line <= self._lines)
        if reported.kind == "limit":
            if reported.type not in ("memory_bytes", "cpu_seconds"):
                raise wire.protocol_violation("claims a limit that it cannot know")
            return replace(kernel_limit(reported.type, self._limits), frames=own)
        known = (
            reported.call is not None
            and 0 <= reported.call < len(made)
            and made[reported.call].error is not None
        )
        # If a level was left out, the hints' level numbers are wrong.
        claimed = reported.hints if own == reported.frames else ()
        found = (confirm_hint(hint, made, self._calls.tools) for hint in claimed)
        hints = tuple(hint for hint in found if hint is not None)
        return replace(reported, frames=own, call=reported.call if known else None, hints=hints)
