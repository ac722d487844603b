"""The host's side of a run, the same for every backend: it serves one hostile child over one channel.

Frames are JSON lines. The host opens with `{"source", "tools", "limits", "pins"}`. The child sends

    {"call": 0, "tool": alias, "args": {…}, "line": 3, "unsendable": {alias: repr}?, "waits": false?}
    {"stdout": text}
    {"done": value}    or    {"fail": {"kind", "type", "message", "call": number?,
        "frames": [[line, function, column, end line, end column], …],
        "hints": [[frame, line, column, end line, end column, call, path, mark], …]?}}

and gets `{"id", "value"}` or `{"id", "error", "status"}` for each call, in the order of the calls, also where a program
did not wait for one before the next: what it sees does not depend on which tool is quicker. Anything else ends the run.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import NamedTuple, Protocol

from protocols.toolbox import Toolbox
from sandbox.calls import Calls
from sandbox.clock import Clock
from sandbox.conversation import Conversation, kernel_limit
from sandbox.errors import SandboxUnavailable
from sandbox.frames import ChannelClosed, Stream
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.replies import encode
from sandbox.trace import Failure, Pins, Trace


class Exit(NamedTuple):
    """How a child ended: its exit code or the signal that killed it, and the processor time that it took."""

    code: int | None
    signal: int | None
    cpu_seconds: float


class Child(Protocol):
    """A process that runs one program, as a backend offers it to `serve`."""

    @property
    def channel(self) -> Stream:
        """The connected stream that frames go over."""

    def interrupt(self) -> None:
        """Ask the program to stop and say where it stands; it need not obey."""

    def end(self) -> Exit:
        """Kill the child with all that it started, and give how it ended once nothing of it is left.

        Raises:
            SandboxUnavailable: nobody can say what became of it.
        """

    def finish(self) -> None:
        """As `end`, where it has said its last word and nobody asks how it ended."""


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

    A thread of its own talks to the child; the caller's watches the clock, so that neither a program nor a tool that
    hangs keeps it longer than the run may take.

    Raises:
        SandboxUnavailable: the child was lost through no fault of the program.
        AtcError: a tool or the journal failed on our side.
    """
    clock = Clock(limits.wall_seconds)
    calls = Calls(tools, limits=limits, journal=journal, clock=clock)
    try:
        pins = journal.open()
        run = Conversation(child.channel, source, calls, limits=limits)
        ended = run.hold(start_frame(source, tools, limits=limits, pins=pins), child.interrupt, clock)
        calls.settle()
    except BaseException:
        calls.close("the run was stopped before it answered")
        with suppress(SandboxUnavailable):  # what happened first is what the caller must hear
            child.end()
        raise
    calls.close(f"no answer within the run's {limits.wall_seconds:g} s")
    if isinstance(ended, ChannelClosed):
        failure: Failure | None = _explain(child.end(), limits)
    else:
        failure = ended
        child.finish()
    return Trace(
        calls=tuple(calls.made),
        stdout="".join(run.stdout),
        value=run.value,
        failure=failure,
        seconds=clock.elapsed(),
        backend=backend,
        pins=pins,
    )


def start_frame(source: str, tools: Toolbox, *, limits: Limits, pins: Pins) -> bytes:
    """What the host opens with."""
    document = {
        "source": source,
        "tools": {alias: list(tool.arguments) for alias, tool in tools.items()},
        "limits": {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds},
        "pins": {"seed": pins.seed, "clock": pins.clock, "timezone": pins.timezone},
    }
    return (encode(document) + "\n").encode("ascii")


def _explain(exit_: Exit, limits: Limits) -> Failure:
    """Why a child stopped without a last word."""
    if exit_.signal == signal.SIGXCPU or exit_.cpu_seconds >= limits.cpu_seconds:
        return kernel_limit("cpu_seconds", limits)
    if exit_.signal in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSYS):
        name = signal.Signals(exit_.signal).name
        return Failure(kind="exception", type="Crash", message=f"the program crashed the interpreter ({name})")
    how = f"exit code {exit_.code}" if exit_.signal is None else f"signal {exit_.signal}"
    return Failure(kind="exception", type="ProcessExit", message=f"the program ended its own process ({how})")
