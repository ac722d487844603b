"""The limits of a run, the clock that measures its time, and its cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

GLANCE_SECONDS = 0.1
"""Seconds between two checks whether a run was cancelled."""
LONGEST_WAIT_SECONDS = 3600.0
"""Maximum number of seconds between two checks of the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run. If a limit is exceeded, the run ends with a failure that names it.

    The exceptions are `concurrent_calls` and `result_bytes`, which end no run.
    """

    wall_seconds: float = 120.0
    """Maximum duration of the run. Waiting for tools counts, but waiting for people does not."""
    cpu_seconds: float = 30.0
    memory_bytes: int = 512 * 2**20
    output_bytes: int = 1 * 2**20
    tool_calls: int = 500
    concurrent_calls: int = 8
    result_bytes: int = 8 * 2**20
    """Maximum size of a response, as JSON. The program gets a larger one as a file."""
    files: int = 500
    """Maximum number of files that the tools of one run return."""
    file_bytes: int = 1 * 2**30
    """Maximum size of all files of one run together."""


class Clock:
    """Measures the time since a run began, and how much of its `wall_seconds` is left."""

    def __init__(self, wall_seconds: float) -> None:
        self.wall_seconds = wall_seconds
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._waits = 0  # questions that are open; concurrent calls may each ask one
        self._waited = 0.0
        self._since = 0.0

    def elapsed(self) -> float:
        """Return the seconds since the run began, including the time of waiting for people."""
        return time.monotonic() - self._began

    def remaining(self) -> float:
        """Return how many seconds the run may still take; negative if its time is over."""
        with self._lock:
            now = self._since if self._waits else time.monotonic()
            return self.wall_seconds + self._waited - (now - self._began)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock of the run's time limit (`wall_seconds`) inside the block."""
        with self._lock:
            if not self._waits:
                self._since = time.monotonic()
            self._waits += 1
        try:
            yield
        finally:
            with self._lock:
                self._waits -= 1
                if not self._waits:
                    self._waited += time.monotonic() - self._since


running: ContextVar[Clock | None] = ContextVar("running", default=None)
"""The clock of the run that makes the current tool call; None outside of a run."""


@contextmanager
def waiting_on_person() -> Iterator[None]:
    """Stop the clock of the current run's time limit (`wall_seconds`) inside the block.

    It is used while a person is asked about a tool call.
    """
    clock = running.get()
    with clock.pause() if clock is not None else nullcontext():
        yield


class Cancelled(Exception):
    """Raised if a run was cancelled from outside. Its program is not the cause."""

    def __str__(self) -> str:
        return "the run was cancelled."


cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancel_when(stop: threading.Event) -> Iterator[None]:
    """Cancel the runs that this thread starts inside the block as soon as `stop` is set.

    Another thread sets it. `Cancelled` is raised in each of the runs. A run that begins after
    `stop` was set ends at once.
    """
    token = cancelled.set(stop)
    try:
        yield
    finally:
        cancelled.reset(token)
