"""A program's own clock and chance: pinned, without a touch to the host's."""

from __future__ import annotations

import datetime
import random
import time
import zoneinfo
from collections.abc import Callable
from typing import Any

from sandbox.trace import Pins

TICK_SECONDS = 0.001
"""How far the program's clock moves each time that it is read, as in the zygote."""


class Clockwork:
    """The time and the entropy of one run."""

    def __init__(self, pins: Pins, sleep: Callable[[float], None]) -> None:
        self.seed = pins.seed
        self._base, self._elapsed = pins.clock, 0.0
        self._zone = zoneinfo.ZoneInfo(pins.timezone) if pins.timezone != "UTC" else datetime.UTC
        self._sleep = sleep
        self._random = random.Random(f"entropy {pins.seed}")  # noqa: S311 - to be the same each time is its purpose

    def entropy(self, size: int) -> bytes:
        """What `os.urandom` gives."""
        return self._random.randbytes(size)

    def seed_of(self, given: Any) -> Any:
        """The seed of a generator that is given this one, or none."""
        return self._random.getrandbits(64) if given is None else given

    def tick(self) -> float:
        """Seconds since the run began."""
        self._elapsed += TICK_SECONDS
        return self._elapsed

    def now(self) -> float:
        """What `time.time` gives."""
        return self._base + self.tick()

    def sleep(self, seconds: float, /) -> None:
        """Really sleep, and let the clock move as far."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self._sleep(seconds)
        self._elapsed += seconds

    def localtime(self, seconds: float | None = None, /) -> time.struct_time:
        """In the pinned time zone."""
        moment = datetime.datetime.fromtimestamp(self.now() if seconds is None else seconds, self._zone)
        return time.gmtime(moment.timestamp() + (moment.utcoffset() or datetime.timedelta()).total_seconds())

    def of(self, value: Any) -> Any:
        """`value`, or what stands for a class whose `now` and `today` read the clock."""
        if value is datetime.datetime:
            return _Datetime(self)
        return _Date(self) if value is datetime.date else value

    def local(self, tz: datetime.tzinfo | None = None) -> datetime.datetime:
        """What `datetime.now` gives."""
        moment = datetime.datetime.fromtimestamp(self.now(), tz or self._zone)
        return moment if tz is not None else moment.replace(tzinfo=None)

    def overrides(self) -> dict[str, Any]:
        """What the program's module `time` has instead of the real one's."""
        names: dict[str, Any] = {
            "time": self.now,
            "time_ns": lambda: round(self.now() * 1e9),
            "sleep": self.sleep,
            "localtime": self.localtime,
            "gmtime": lambda seconds=None, /: time.gmtime(self.now() if seconds is None else seconds),
            "ctime": lambda seconds=None, /: time.asctime(self.localtime(seconds)),
            "asctime": lambda moment=None, /: time.asctime(self.localtime() if moment is None else moment),
            "strftime": lambda text, moment=None, /: time.strftime(
                text, self.localtime() if moment is None else moment
            ),
        }
        for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
            names[name] = self.tick
            names[f"{name}_ns"] = lambda: round(self.tick() * 1e9)
        return names


class _Datetime:
    """Stands for `datetime.datetime` where one of these is read."""

    def __init__(self, clockwork: Clockwork) -> None:
        self._clockwork = clockwork
        self.now = clockwork.local

    def utcnow(self) -> datetime.datetime:
        return self._clockwork.local(datetime.UTC).replace(tzinfo=None)

    def today(self) -> datetime.datetime:
        return self._clockwork.local()


class _Date:
    """Stands for `datetime.date` where `today` is read."""

    def __init__(self, clockwork: Clockwork) -> None:
        self._clockwork = clockwork

    def today(self) -> datetime.date:
        return self._clockwork.local().date()
