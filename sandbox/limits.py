"""What one run of a program may use, and what ends it from outside: its wall clock, and whoever cancels it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

GLANCE_SECONDS = 0.1  # how long a cancelled run may go on
LONGEST_WAIT_SECONDS = (
    3600.0  # after so long the clock is looked at again, also in a run without a limit
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps on one run. Exceeding any of them ends the run with a `Failure` that names the limit and its value.

    Wall time includes waits on tools, but not on people. `result_bytes` is the size (as JSON) above which a tool's
    response reaches the program as a preview instead of in full.
    """

    wall_seconds: float = 120.0
    cpu_seconds: float = 30.0
    memory_bytes: int = 512 * 2**20
    output_bytes: int = 1 * 2**20
    tool_calls: int = 500
    concurrent_calls: int = 8
    result_bytes: int = 8 * 2**20


class Clock:
    """Seconds since a run began, and how many of its `wall_seconds` are left."""

    def __init__(self, wall_seconds: float) -> None:
        self.wall_seconds = wall_seconds
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._waits = 0  # under way: concurrent calls may each ask somebody
        self._waited = 0.0
        self._since = 0.0

    def elapsed(self) -> float:
        """Seconds since the run began, waits on people included."""
        return time.monotonic() - self._began

    def remaining(self) -> float:
        """Seconds that the program may still take; negative when it is over."""
        with self._lock:
            now = self._since if self._waits else time.monotonic()
            return self.wall_seconds + self._waited - (now - self._began)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Within the block nothing is counted against the program."""
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


running: ContextVar[Clock | None] = ContextVar(
    "running", default=None
)  # of the run that the current call belongs to


@contextmanager
def waiting_on_person() -> Iterator[None]:
    """What a tool's gate wraps around a question to a person: the run's wall time does not count in the block."""
    clock = running.get()
    with clock.pause() if clock is not None else nullcontext():
        yield


class Cancelled(Exception):
    """Somebody outside ended the run. It is no verdict on the program."""

    def __str__(self) -> str:
        return "the run was cancelled."


cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancel_when(stop: threading.Event) -> Iterator[None]:
    """Within the block, runs of this thread end with `Cancelled` once `stop` is set, those that begin later too."""
    token = cancelled.set(stop)
    try:
        yield
    finally:
        cancelled.reset(token)
