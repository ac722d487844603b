"""How fast a host is asked: so many requests at once, and so many begun in a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pacing:
    """Turns at talking to a host, shared by all tools and threads of one invoker.

    At most `concurrency` turns of a host overlap; with `requests_per_second` they begin at least its inverse apart.
    Hosts do not wait for each other.
    """

    def __init__(
        self, *, concurrency: int, requests_per_second: float | None, sleep: Callable[[float], object]
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency_per_host must be at least 1, got {concurrency}.")
        if requests_per_second is not None and not requests_per_second > 0:
            raise ValueError(f"requests_per_second must be above 0, got {requests_per_second}.")
        self._concurrency, self._sleep = concurrency, sleep
        self._interval = 1 / requests_per_second if requests_per_second else 0.0
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane] = {}

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for a turn with `host` (`name:port`), and hold it for the block."""
        with self._lock:
            lane = self._lanes.get(host)
            if lane is None:
                lane = self._lanes[host] = _Lane(self._concurrency)
        with lane.slots:
            # The start is reserved only once a slot is held: one reserved earlier would lapse while waiting for it,
            # and the calls that waited would then begin in a burst.
            if self._interval and (wait := lane.reserve(self._interval)) > 0:
                self._sleep(wait)
            yield


class _Lane:
    def __init__(self, concurrency: int) -> None:
        self.slots = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._next = 0.0  # on the monotonic clock

    def reserve(self, interval: float) -> float:
        """Take the next start, and give the seconds until then."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + interval
            return start - now
