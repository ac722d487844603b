"""How fast a host is asked while it is probed: as the settings say, and slower where it asks for that."""

from __future__ import annotations

from collections.abc import Callable

MOST_WAITS = 7
"""Refusals in a row after which a host is given up; without `Retry-After` they take a minute and a half."""
LONGEST_WAIT = 120.0
"""Seconds that a host may ask to wait; one that asks for more is given up until another day."""
_FIRST_WAIT, _LONGEST_GUESS = 1.0, 30.0
_SLOWEST = 5.0
"""Longest learned time between two calls. Where a host bears even less, each call waits as long as it is told to."""


class Pace:
    """Turns at calling one host, seconds on the clock `now`.

    Calls begin at least `interval` apart. When the host had refused some and takes one again, the interval becomes
    what it bore since it last refused any, so that a limit that nobody announced is met after a refusal or two.
    """

    def __init__(
        self, requests_per_second: float | None, *, sleep: Callable[[float], object], now: Callable[[], float]
    ) -> None:
        self.interval = 1 / requests_per_second if requests_per_second else 0.0
        self._sleep, self._now = sleep, now
        self._next = self._since = self._began = now()
        self._taken = self._waits = 0

    @property
    def waiting(self) -> bool:
        """Whether the last call was refused for now."""
        return self._waits > 0

    def wait(self) -> None:
        """Wait for the next turn, and take it."""
        pause = self._next - self._now()
        if pause > 0:
            self._sleep(pause)
        else:
            self._since -= pause  # nobody called: that time says nothing of what the host bears
        self._began = max(self._now(), self._next)
        self._next = self._began + self.interval

    def taken(self) -> bool:
        """The host took a call. Gives whether it is asked more slowly from now on."""
        waits, self._waits = self._waits, 0
        self._taken += 1
        if not waits:
            return False
        borne = (self._began - self._since) / max(self._taken - 1, 1)
        before, self.interval = self.interval, max(self.interval, min(borne, _SLOWEST))
        self._since, self._taken = self._began, 1
        self._next = self._began + self.interval
        return self.interval > before

    def put_off(self, asked: float | None) -> float | None:
        """The host refused a call for now, and asked to wait so many seconds.

        Gives the seconds until the next turn; `None` where it refuses too often or asks for too long a wait.
        """
        self._waits += 1
        if self._waits > MOST_WAITS or (asked is not None and asked > LONGEST_WAIT):
            return None
        guess = min(_FIRST_WAIT * 2 ** (self._waits - 1), _LONGEST_GUESS)
        # A wait that was asked for and not enough is followed by a longer one.
        pause = guess if asked is None else max(asked, 0.1 if self._waits == 1 else guess)
        return self.pause(pause)

    def pause(self, seconds: float) -> float:
        """No turn before so many seconds are over."""
        self._next = max(self._next, self._now() + seconds)
        return seconds
