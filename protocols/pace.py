"""The pace of calls to a service: rate, number of parallel calls, and pauses that it asks for."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from protocols.call_limits import CallLimits

_SLOWER = 0.5
"""Minimum pause in seconds between two calls after a service asked to wait.

The pause becomes shorter with each call that is answered."""
_SLOWEST = 8.0
"""Maximum of that pause: a service that always asks must not stop the calls of later runs."""
_EPOCH = 1_000_000_000
"""A time of reset from this number on is a time since 1970, in seconds; others are a duration."""
_MILLISECONDS = 1_000 * _EPOCH
"""A time of reset from this number on is a time since 1970 in milliseconds."""
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_REMAINING = ("x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining")
_RESET = ("x-ratelimit-reset", "x-rate-limit-reset", "ratelimit-reset")
_DRAFT = re.compile(r"\b(remaining|reset|r|t)=(\d{1,15})\b")
"""Members of the header `RateLimit`: of its older form (`remaining=0, reset=30`), or `r=0;t=30`."""


class Pace:
    """Limits the rate of calls to one service, and the calls at the same time. Thread-safe."""

    def __init__(
        self,
        requests_per_second: float | None = None,
        concurrent_calls: int | None = None,
        *,
        sleep: Callable[[float], object] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a pace. None means that a rate or a number is not limited.

        `sleep` waits for a number of seconds, and `now` is the clock that measures them.
        """
        self._least = self._interval = 1 / requests_per_second if requests_per_second else 0.0
        self._places = threading.BoundedSemaphore(concurrent_calls) if concurrent_calls else None
        self._sleep = sleep
        self._now = now
        self._next = now()
        self._paused_until = self._next
        self._lock = threading.Lock()

    @contextmanager
    def call(self, *, most_seconds: float) -> Iterator[None]:
        """Wait until the next call may be sent, which the block sends.

        A pause that the service asked for is not kept if it is longer than `most_seconds`: the
        service then says itself what it thinks of the call.
        """
        if self._places is None:
            self.wait(most_seconds=most_seconds)
            yield
            return
        with self._places:
            self.wait(most_seconds=most_seconds)
            yield

    def wait(self, *, most_seconds: float | None = None) -> None:
        """Wait until the next call may be sent, and set the earliest time for the one after it.

        A pause that the service asked for is not kept if it is longer than `most_seconds`.
        """
        with self._lock:
            now = self._now()
            start = max(now, self._next)
            if most_seconds is None or self._paused_until - now <= most_seconds:
                start = max(start, self._paused_until)
            self._next = start + self._interval
        if start > now:
            self._sleep(start - now)

    def slow_down(self) -> None:
        """Make fewer calls per second, because the service asked to wait.

        In a pause nothing changes: calls that were sent before it get the same answer.
        """
        with self._lock:
            if self._paused_until <= self._now():
                slower = min(max(2 * self._interval, _SLOWER), _SLOWEST)
                self._interval = max(self._interval, slower)

    def speed_up(self) -> None:
        """Return a little towards the usual rate, because a call was answered."""
        with self._lock:
            self._interval = max(self._least, 0.98 * self._interval)

    def pause(self, seconds: float) -> None:
        """Send no call for some seconds from now."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._now() + seconds)


def announced_pause(
    headers: Mapping[str, str], *, now: Callable[[], float] = time.time
) -> float | None:
    """Return the seconds until a service takes the next call, or None if it takes one now.

    `headers` are those of a response, keyed by lower-case name. They say how many calls are left
    and when that number is reset, as `X-RateLimit-Remaining` and `X-RateLimit-Reset` do or the
    draft `RateLimit`. `now` returns the seconds since 1970.
    """
    draft = dict(_DRAFT.findall(headers.get("ratelimit", "")))
    left = _first_number([headers.get(name) for name in _REMAINING])
    reset = _first_number([headers.get(name) for name in _RESET])
    if left is None:
        left = _first_number([draft.get("remaining"), draft.get("r")])
    if reset is None:
        reset = _first_number([draft.get("reset"), draft.get("t")])
    if left is None or left >= 1 or reset is None:
        return None
    if reset >= _MILLISECONDS:
        reset /= 1_000
    return max(0.0, reset - now()) if reset >= _EPOCH else reset


def _first_number(texts: list[str | None]) -> float | None:
    """Return the first of the texts that is a number, as a number."""
    found = (text.strip() for text in texts if text is not None)
    return next((float(text) for text in found if _NUMBER.fullmatch(text)), None)


class Paces:
    """The paces of the services that a process calls, one for each. Thread-safe."""

    def __init__(self, *, sleep: Callable[[float], object]) -> None:
        """Create the paces. `sleep` waits for a number of seconds."""
        self._sleep = sleep
        self._known: dict[str, Pace] = {}
        self._lock = threading.Lock()

    def of(self, service: str, limits: CallLimits) -> Pace:
        """Return the pace of a service, which has these limits.

        `service` is its name, such as a host or that of an MCP server.
        """
        with self._lock:
            if service not in self._known:
                self._known[service] = Pace(
                    limits.requests_per_second, limits.concurrent_calls, sleep=self._sleep
                )
            return self._known[service]
