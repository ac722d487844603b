"""Limits of one run: quantities, the clock, and cancellation from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

GLANCE_SECONDS = 0.1
"""Seconds after which a cancelled run notices that it was cancelled."""
LONGEST_WAIT_SECONDS = 3600.0
"""Longest wait before the clock is checked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one run. Exceeding one ends the run with a failure that names it."""

    wall_seconds: float = 120.0
    """Includes waiting for tools, but not for people."""
    cpu_seconds: float = 30.0
    memory_bytes: int = 512 * 2**20
    output_bytes: int = 1 * 2**20
    tool_calls: int = 500
    concurrent_calls: int = 8
    result_bytes: int = 8 * 2**20
    """Size as JSON above which a program gets a preview of a response instead of the response."""


class Clock:
    """Seconds since a run began, and how many of its `wall_seconds` are left."""

    def __init__(self, wall_seconds: float) -> None:
        self.wall_seconds = wall_seconds
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._waits = 0  # questions that are open; concurrent calls may each ask one
        self._waited = 0.0
        self._since = 0.0

    def elapsed(self) -> float:
        """Return the seconds since the run began, including waits for people."""
        return time.monotonic() - self._began

    def remaining(self) -> float:
        """Return the seconds that the program may still take; negative after the end."""
        with self._lock:
            now = self._since if self._waits else time.monotonic()
            return self.wall_seconds + self._waited - (now - self._began)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop counting the time inside the block."""
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
"""The clock of the run that makes the current call."""


@contextmanager
def waiting_on_person() -> Iterator[None]:
    """Stop the run's clock inside the block, while a tool's gate asks a person."""
    clock = running.get()
    with clock.pause() if clock is not None else nullcontext():
        yield


class Cancelled(Exception):
    """The run was cancelled from outside, so nothing is known about the program."""

    def __str__(self) -> str:
        return "the run was cancelled."


cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancel_when(stop: threading.Event) -> Iterator[None]:
    """End runs of this thread with `Cancelled` once `stop` is set, also those that begin later."""
    token = cancelled.set(stop)
    try:
        yield
    finally:
        cancelled.reset(token)
