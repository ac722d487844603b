"""What our side of the sandbox fails at, and how a tool's gate stops a run."""

from __future__ import annotations

from protocols.errors import AtcError


class SandboxUnavailable(AtcError):
    """The sandbox could not start, or died: nothing was learned about the program."""


class Diverged(AtcError):
    """A replay left its recording at call `index`: `expected` stood there, `got` was asked."""

    def __init__(self, index: int, expected: str, got: str) -> None:
        super().__init__(index, expected, got)
        self.index, self.expected, self.got = index, expected, got

    def __str__(self) -> str:
        return f"the replay left its recording at call {self.index}: expected {self.expected}, got {self.got}"


class Paused(Exception):
    """Raised by a tool's gate *before* the call is sent: a person must decide. Ends the run as `paused`.

    Not a `ToolError`: a program cannot catch it and go on.
    """
