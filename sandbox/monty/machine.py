"""The machine that a program sees: a clock, chance and a time zone that are the same in every run, and nothing else."""

from __future__ import annotations

import datetime
import random
import zoneinfo
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sandbox.trace import Pins

if TYPE_CHECKING:
    import pydantic_monty

TICK_SECONDS = 0.001
"""How far the program's clock moves each time that it is read. Sleeping moves it by the time slept."""

MOST_ENTROPY = 1 << 20

_STEADY = ("time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns")


class Machine:
    """Answers what a program asks of its system. `wait` sleeps, and is charged to the run."""

    def __init__(self, pins: Pins, wait: Callable[[float], None]) -> None:
        self._pins, self._wait = pins, wait
        self._elapsed = 0.0
        self._entropy: random.Random | None = None

    def answer(self, name: str, args: tuple[Any, ...]) -> dict[str, Any] | None:
        """What a call to the system gives, None where there is no such thing."""
        match name:
            case "time.time":
                steady = bool(args) and args[0] in _STEADY
                return {"return_value": self._tick() if steady else self._pins.clock + self._tick()}
            case "datetime.now":
                return {"return_value": self._now(args[0] if args else None)}
            case "date.today":
                return {"return_value": self._now(None).date()}
            case "time.sleep" | "system.sleep":
                self.sleep(float(args[0]))
                return {"return_value": None}
            case "os.urandom" if args and type(args[0]) is int and 0 <= args[0] <= MOST_ENTROPY:
                if self._entropy is None:
                    self._entropy = random.Random(f"entropy {self._pins.seed}")  # noqa: S311 - the same in each run
                return {"return_value": self._entropy.randbytes(args[0])}
            case "os.environ":
                return {"return_value": {}}
            case "os.getenv":
                return {"return_value": args[1] if len(args) > 1 else None}
        return None

    def due(self, seconds: float) -> float:
        """When a sleep that begins now is over, for `sleep_until`."""
        return self._elapsed + max(seconds, 0.0)

    def sleep_until(self, due: float) -> None:
        """Sleep until then, by the program's clock."""
        self.sleep(due - self._elapsed)

    def sleep(self, seconds: float) -> None:
        """Sleep, and move the program's clock."""
        if seconds > 0:
            self._wait(seconds)
            self._elapsed += seconds

    def _tick(self) -> float:
        self._elapsed += TICK_SECONDS
        return self._elapsed

    def _now(self, zone: datetime.tzinfo | None) -> datetime.datetime:
        moment = self._pins.clock + self._tick()
        if zone is not None:
            return datetime.datetime.fromtimestamp(moment, zone)
        local = zoneinfo.ZoneInfo(self._pins.timezone)
        return datetime.datetime.fromtimestamp(moment, local).replace(tzinfo=None)


def policy(timezone: str, seed: int) -> pydantic_monty.OSPolicy:
    """The `os_policy` of a session: the host answers for time and waits; `random` starts from the seed."""
    return {
        "datetime": "call_host",
        "timezone": timezone,
        "sleep": "call_host",
        "process_time": "zero",
        "random_start": {"seed": seed},
    }
