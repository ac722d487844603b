"""The contract of every sandbox."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace


class Sandbox(Protocol):
    """Runs programs that nobody trusts, and hosts their tool calls."""

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

        Whatever the *program* does (syntax error, exception, limit) is in the Trace. The host checks each call's
        arguments, asks the journal, makes the call, and validates the response (a departure is recorded as drift).
        A tool's `Paused` ends the run with a failure of kind `paused`.

        Raises:
            SandboxUnavailable: the sandbox could not start, or died: no verdict on the program.
        """

    def close(self) -> None:
        """Release processes and descriptors. The sandbox cannot be used afterwards."""


class Closing:
    """What makes a sandbox a context manager."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """See `Sandbox.close`."""
