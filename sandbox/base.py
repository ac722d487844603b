"""The interface of every sandbox, and the exceptions that it raises."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Generic, Protocol, Self, TypeVar

from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace


class SandboxUnavailable(AtcError):
    """Raised if the sandbox could not start, or ended unexpectedly.

    The program is not the cause.
    """


class Paused(Exception):
    """Raised before a tool call is sent if a person must decide whether it may be sent.

    The function `admit` of a tool raises this exception. The run then ends as `paused`. A program
    cannot catch the exception, because it is not a `ToolError`.
    """


class CallDeclined(Paused):
    """Raised instead of `Paused` if a person has declined the call."""


class Sandbox(Protocol):
    """Runs untrusted programs and answers their tool calls.

    Several threads may run programs at the same time. As a context manager, it is closed at the end
    of the block.
    """

    @property
    def name(self) -> str:
        """Name of the backend, such as `zygote` or `docker`. It is recorded in the trace."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Descriptions of the layers, i.e. the restrictions that isolate a program."""

    @property
    def boundary(self) -> bool:
        """True if the layers are a security boundary: they isolate even a hostile program."""

    def warm(self) -> None:
        """Start slow parts in the background, so that the first run need not wait."""

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run the program `source`, answer its tool calls, and return the trace.

        In the program, each tool is a function that is named by its alias, takes keyword arguments,
        and returns the response. A saved tool (`ProgramBinding`) runs together with the program.
        The calls that it makes are recorded with the line where the program calls it.

        A syntax error, an exception or an exceeded limit is recorded in the trace. For each call
        the host validates the arguments, calls the tool, and validates the response. If the journal
        has the result of an equal earlier call, it is used and the tool is not called. A response
        that violates its schema is recorded as drift. If a tool raises `Paused`, the run ends with
        a failure of kind `paused`.

        Raises:
            SandboxUnavailable: the sandbox could not start, or ended unexpectedly. The program is
                not the cause.
        """

    def close(self) -> None:
        """End all processes and close all descriptors. The sandbox cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Runner = TypeVar("Runner")


class OnDemandSandbox(Sandbox, Generic[Runner]):
    """A sandbox that starts its runner when it is first used, and stops the runner on `close`.

    The runner is what the backend needs for all runs, such as a parent process or a connection to
    Docker. The runner has a method `stop`, which ends all processes that it started, and waits
    until they are gone. This method may be called more than once.
    """

    name = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._stop: weakref.finalize[..., Any] | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the runner, without waiting until it is ready.

        Raises:
            SandboxUnavailable: the runner cannot be started on this machine.
        """
        self._current()

    def close(self) -> None:
        """Stop the runner. Running programs end with `SandboxUnavailable`."""
        with self._lock:
            self._closed = True
            self._runner = None
        if self._stop is not None:
            self._stop()

    def _start(self) -> Runner:
        """Start and return a new runner: the parent process or connection that all runs use.

        Raises:
            SandboxUnavailable: the runner cannot be started on this machine.
        """
        raise NotImplementedError

    def _current(self) -> Runner:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(f"the {self.name} sandbox was closed; make a new one")
            if self._runner is None:
                self._runner = self._start()
                self._stop = weakref.finalize(self, self._runner.stop)  # type: ignore[attr-defined]
            return self._runner
