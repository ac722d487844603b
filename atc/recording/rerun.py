"""Running recordings again, and saying whether each gave the same."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from atc.recording.recording import Recording
from sandbox.base import Sandbox
from sandbox.choose import AUTO, automatic, availability, open_sandbox
from sandbox.errors import Diverged
from sandbox.replay import Redacted, replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of running a recording again: the same, or where it departed. `seconds` is wall time."""

    recording: Recording
    backend: str
    departure: Diverged | None = None
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether it made the recorded calls and came to the recorded end."""
        return self.departure is None

    @property
    def kind(self) -> str:
        """`same`, `diverged`, or `redacted`: it needs characters that the recording does not hold."""
        return "same" if self.same else "redacted" if isinstance(self.departure, Redacted) else "diverged"


class Replayer:
    """Runs recordings again, each in the sandbox of `name`, or where that is `auto` in the recorded one if it is here.

    A context manager: sandboxes are opened once, and closed with it. A recording never chooses one that is no boundary.
    """

    def __init__(self, name: str = AUTO) -> None:
        self._name = name
        self._opened: dict[tuple[str, bool], Sandbox] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def rerun(self, recording: Recording) -> Verdict:
        """Run the program with its calls answered from the recording.

        Raises:
            SandboxUnavailable: no sandbox of that name is here, or it cannot run this program.
        """
        sandbox = self._sandbox(recording)
        began = time.monotonic()
        departure, backend = None, sandbox.name
        try:
            backend = replay(
                recording.program,
                recording.toolbox,
                recording.trace,
                sandbox=sandbox,
                limits=recording.limits,
                secrets=recording.secrets,
            ).backend
        except Diverged as error:
            departure = error
        return Verdict(recording=recording, backend=backend, departure=departure, seconds=time.monotonic() - began)

    def _sandbox(self, recording: Recording) -> Sandbox:
        recorded = recording.trace.backend
        here = self._name == AUTO and recorded in automatic() and availability(recorded).reason is None
        key = (recorded if here else self._name, recording.policy)
        if key not in self._opened:
            sandbox = open_sandbox(key[0], policy=key[1])
            self._stack.callback(sandbox.close)
            self._opened[key] = sandbox
        return self._opened[key]
