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
    """The sandbox could not start, or died. This says nothing about the program."""


class Paused(Exception):
    """Raised by a tool's gate before a call is sent, if a person must decide. It ends the run.

    The run's status is then `paused`. It is no `ToolError`, so a program cannot catch it.
    """


class CallDeclined(Paused):
    """Raised instead of `Paused` if a person has declined the call."""


class Sandbox(Protocol):
    """Runs untrusted programs and answers their tool calls. Runs may overlap, from any threads.

    It is a context manager that closes itself.
    """

    @property
    def name(self) -> str:
        """Name of the backend: `zygote`, `docker`, … It is recorded in the trace."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Descriptions of the layers between a program and this machine."""

    @property
    def boundary(self) -> bool:
        """True if the layers are meant to hold a hostile program."""

    def warm(self) -> None:
        """Start slow parts without waiting for them, so that the first run finds them ready."""

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run `source` with each tool bound to its alias as a blocking function of keyword
        arguments.

        A saved tool (`ProgramBinding`) is a function beside the program. Its calls count as the
        program's, on the line where the program calls it.

        What the program does (syntax error, exception, limit) is recorded in the trace. For each
        call the host checks the arguments, asks the journal, calls the tool, and validates the
        response; a response that breaks its schema is recorded as drift. A tool's `Paused` ends the
        run with a failure of kind `paused`.

        Raises:
            SandboxUnavailable: the sandbox could not start, or died. This says nothing about the
                program.
        """

    def close(self) -> None:
        """Release processes and descriptors. The sandbox cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Runner = TypeVar("Runner")


class OnDemandSandbox(Sandbox, Generic[Runner]):
    """A sandbox that starts its runner at the first use, and stops it when it is closed.

    The runner's `stop` ends it with everything that it started, and waits until that is gone. It
    may be called more than once.
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
            SandboxUnavailable: it cannot be started here.
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
        """Return a new runner.

        Raises:
            SandboxUnavailable: it cannot be started here.
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
