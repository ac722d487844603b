"""The contract of every sandbox, and what it raises."""

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
    """The sandbox could not start, or died: nothing was learned about the program."""


class Paused(Exception):
    """Raised by a tool's gate *before* the call is sent: a person must decide. Ends the run as `paused`.

    Not a `ToolError`: a program cannot catch it and go on.
    """


class CallDeclined(Paused):
    """Raised in the place of `Paused` where a person has decided: they said no."""


class Sandbox(Protocol):
    """Runs programs that nobody trusts, and hosts their tool calls. Runs may overlap, from any threads.

    As a context manager it closes itself.
    """

    @property
    def name(self) -> str:
        """`zygote`, `docker`, …; stands in the trace."""

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine, in words."""

    @property
    def boundary(self) -> bool:
        """Whether the layers are meant to hold a hostile program."""

    def warm(self) -> None:
        """Start what takes time without waiting for it, so that the first run finds it ready."""

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run `source` with each tool bound to its alias as a blocking function of keyword arguments.

        A saved tool (`ProgramBinding`) is a function beside the program: the calls that it makes are the program's, on
        the line where the program calls it.

        Whatever the *program* does (syntax error, exception, limit) is in the Trace. The host checks each call's
        arguments, asks the journal, makes the call, and validates the response (a departure is recorded as drift).
        A tool's `Paused` ends the run with a failure of kind `paused`.

        Raises `SandboxUnavailable`: the sandbox could not start, or died: no verdict on the program.
        """

    def close(self) -> None:
        """Release processes and descriptors. The sandbox cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Runner = TypeVar("Runner")


class OnDemandSandbox(Sandbox, Generic[Runner]):
    """A sandbox that starts its runner when it is first needed, uses it for all runs, and stops it with itself.

    A runner's `stop` ends it and all that it started, and waits until that is gone; more than one does no harm.
    """

    name = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._stop: weakref.finalize[..., Any] | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the runner, without waiting for what it does ahead.

        Raises `SandboxUnavailable`: it cannot be had here.
        """
        self._current()

    def close(self) -> None:
        """Stop the runner. Runs that are under way end with `SandboxUnavailable`."""
        with self._lock:
            self._closed = True
            self._runner = None
        if self._stop is not None:
            self._stop()

    def _start(self) -> Runner:
        """A new runner. Raises `SandboxUnavailable` where it cannot be had."""
        raise NotImplementedError

    def _current(self) -> Runner:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable(f"the {self.name} sandbox was closed; make a new one")
            if self._runner is None:
                self._runner = self._start()
                self._stop = weakref.finalize(self, self._runner.stop)  # type: ignore[attr-defined]
            return self._runner
