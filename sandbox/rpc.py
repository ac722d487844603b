"""The host's side of a run, the same for every backend: it serves one hostile child over one channel.

Frames are JSON lines. The host opens with `{"source", "tools", "limits", "pins"}`. The child sends

    {"call": 0, "tool": alias, "args": {…}, "line": 3, "unsendable": {alias: repr}?}
    {"stdout": text}
    {"done": value}    or    {"fail": {"kind", "type", "message", "frames": [[line, function], …], "call": number?}}

and gets `{"id", "value"}` or `{"id", "error", "status"}` for each call. Anything else ends the run.
"""

from __future__ import annotations

import json
import signal
import socket
from contextlib import suppress
from dataclasses import asdict, replace
from typing import NamedTuple, Protocol

from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.calls import Calls
from sandbox.clock import Clock
from sandbox.errors import SandboxUnavailable
from sandbox.frames import (
    FRAME_BYTES,
    Call,
    ChannelClosed,
    Done,
    Failed,
    Output,
    RunEnded,
    Wire,
    limit_exceeded,
    violation,
)
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Failure, FailureKind, Frame, Pins, Trace

LAST_WORD_SECONDS = 0.03
"""How long a program that ran into a limit has to say on which line it stood."""


class Exit(NamedTuple):
    """How a child ended: its exit code or the signal that killed it, and the processor time that it took."""

    code: int | None
    signal: int | None
    cpu_seconds: float


class Child(Protocol):
    """A process that runs one program, as a backend offers it to `serve`."""

    @property
    def channel(self) -> socket.socket:
        """The connected stream that frames go over."""

    def interrupt(self) -> None:
        """Ask the program to stop and say where it stands; it need not obey."""

    def end(self) -> Exit:
        """Kill the child with all that it started, and give how it ended once nothing of it is left.

        Raises:
            SandboxUnavailable: nobody can say what became of it.
        """


def serve(
    child: Child,
    source: str,
    tools: Toolbox,
    *,
    limits: Limits,
    journal: Journal,
    backend: str,
) -> Trace:
    """Open the journal, have `child` run the program, answer its calls, and end it.

    Raises:
        SandboxUnavailable: the child was lost through no fault of the program.
        AtcError: a tool or the journal failed on our side.
    """
    clock = Clock(limits.wall_seconds)
    run = _Run(child.channel, source, limits=limits, clock=clock)
    run.calls = calls = Calls(tools, limits=limits, journal=journal, clock=clock)
    try:
        pins = journal.open()
        ended = _conduct(run, child, _start(source, tools, limits=limits, pins=pins))
    except BaseException:
        with suppress(SandboxUnavailable):  # what happened first is what the caller must hear
            child.end()
        raise
    finally:
        calls.close()
    exit_ = child.end()
    failure = _explain(exit_, limits) if isinstance(ended, ChannelClosed) else ended
    return Trace(
        calls=tuple(calls.made),
        stdout="".join(run.stdout),
        value=run.value,
        failure=failure,
        seconds=clock.elapsed(),
        backend=backend,
        pins=pins,
    )


def _conduct(run: _Run, child: Child, start: bytes) -> Failure | ChannelClosed | None:
    """Serve the child until it is over, in whatever way."""
    try:
        return run.conduct(start)
    except RunEnded as ended:
        if not ended.locate:
            return ended.failure
        child.interrupt()
        return replace(ended.failure, frames=run.last_word() or ended.failure.frames)
    except ChannelClosed as closed:
        return closed


class _Run:
    """What one run has said so far."""

    calls: Calls

    def __init__(self, channel: socket.socket, source: str, *, limits: Limits, clock: Clock) -> None:
        self.stdout: list[str] = []
        self.value: Json = None
        self._limits = limits
        self._lines = source.count("\n") + 2  # an error may stand just past the end
        self._output_left = limits.output_bytes
        # Output costs up to six bytes of JSON for one; a call's arguments may take a whole frame, but not every time.
        self._wire = Wire(channel, clock, total_bytes=6 * limits.output_bytes + 16 * FRAME_BYTES)

    def conduct(self, start: bytes) -> Failure | None:
        """Serve the child until its last word. Gives how it failed, if it did."""
        self._wire.send(start)
        while True:
            match self._wire.next():
                case Call() as call:
                    self._wire.send(self.calls.answer(call))
                case Output(text):
                    self._print(text)
                case Done(value):
                    self.value = value
                    return None
                case Failed() as failed:
                    return self._failure(failed)

    def last_word(self) -> tuple[Frame, ...]:
        """The program's frames when it was interrupted; empty when it does not say in time."""
        self._wire.clock = Clock(LAST_WORD_SECONDS)
        try:
            while True:
                match self._wire.next():
                    case Output(text):
                        with suppress(RunEnded):
                            self._print(text)
                    case Failed() as failed:
                        return self._frames(failed)
                    case _:
                        return ()
        except (RunEnded, ChannelClosed):
            return ()

    def _print(self, text: str) -> None:
        size = len(text.encode("utf-8"))
        if size > self._output_left:
            self.stdout.append(text.encode("utf-8")[: self._output_left].decode("utf-8", "ignore"))
            self._output_left = 0
            raise limit_exceeded("output_bytes", f"the program printed more than {self._limits.output_bytes:,} bytes")
        self._output_left -= size
        self.stdout.append(text)

    def _failure(self, failed: Failed) -> Failure:
        frames = self._frames(failed)
        if failed.kind == "limit":
            if failed.type not in ("memory_bytes", "cpu_seconds"):
                raise violation("claims a limit that it cannot know")
            return replace(_limit(failed.type, self._limits), frames=frames)
        made = self.calls.made
        known = failed.call is not None and 0 <= failed.call < len(made) and made[failed.call].error is not None
        kind: FailureKind = "syntax" if failed.kind == "syntax" else "exception"
        call = failed.call if known else None
        return Failure(kind=kind, type=failed.type, message=failed.message, frames=frames, call=call)

    def _frames(self, failed: Failed) -> tuple[Frame, ...]:
        return tuple(frame for frame in failed.frames if frame.line <= self._lines)


def _start(source: str, tools: Toolbox, *, limits: Limits, pins: Pins) -> bytes:
    document = {
        "source": source,
        "tools": {alias: list(tool.arguments) for alias, tool in tools.items()},
        "limits": asdict(limits),
        "pins": asdict(pins),
    }
    return (json.dumps(document) + "\n").encode("ascii")


def _limit(name: str, limits: Limits) -> Failure:
    if name == "memory_bytes":
        text = f"the program needed more than {limits.memory_bytes / 2**20:,.0f} MiB of memory"
    else:
        text = f"the program used more than {limits.cpu_seconds:g} s of processor time"
    return Failure(kind="limit", type=name, message=f"{name}: {text}")


def _explain(exit_: Exit, limits: Limits) -> Failure:
    """Why a child stopped without a last word."""
    if exit_.signal == signal.SIGXCPU or exit_.cpu_seconds >= limits.cpu_seconds:
        return _limit("cpu_seconds", limits)
    if exit_.signal in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL):
        name = signal.Signals(exit_.signal).name
        return Failure(kind="exception", type="Crash", message=f"the program crashed the interpreter ({name})")
    how = f"exit code {exit_.code}" if exit_.signal is None else f"signal {exit_.signal}"
    return Failure(kind="exception", type="ProcessExit", message=f"the program ended its own process ({how})")
