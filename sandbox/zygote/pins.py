"""Inside the child: a clock, a `random`, a `uuid` and a time zone that are the same in every run.

Standard library alone.
"""

from __future__ import annotations

import asyncio
import ctypes
import datetime
import functools
import gc
import os
import random
import time
import uuid
from collections.abc import Callable
from typing import Any

from sandbox.zygote import stdlib

TICK_SECONDS = 0.001
"""How far the program's clock moves each time that it is read. Sleeping moves it by the time slept."""

_monotonic, _sleep, _localtime, _gmtime, _strftime, _ctime, _asctime = (
    time.monotonic,
    time.sleep,
    time.localtime,
    time.gmtime,
    time.strftime,
    time.ctime,
    time.asctime,
)
_base = 0.0
_elapsed = 0.0
_seed_text = ""


def install() -> None:
    """Replace the sources of time and chance, for this process and those forked from it."""
    for name, function in _TIME.items():
        setattr(time, name, function)
    loop: Any = asyncio.BaseEventLoop
    loop.time = lambda self: _monotonic()  # noqa: ARG005 - a loop that waits needs time that really passes
    _patch_type(datetime.datetime, "now", _datetime_now)
    _patch_type(datetime.datetime, "utcnow", _datetime_utcnow)  # `today` reads time.time()
    urandom: Any = lambda size: _entropy().randbytes(size)  # noqa: E731
    os.urandom = urandom
    setattr(random, "_urandom", urandom)  # noqa: B010 - `secrets` reads it there
    setattr(random.Random, "seed", _seed)  # noqa: B010 - for instances that are given no seed
    random.seed = random._inst.seed  # noqa: SLF001
    start({"seed": 0, "clock": 0.0, "timezone": "UTC"})  # what has run before the fork takes less time after it
    uuid._generate_time_safe = None  # type: ignore[attr-defined]  # noqa: SLF001 - uuid1 then uses time and random
    uuid._node = 0x020000000000  # type: ignore[attr-defined]  # noqa: SLF001


def start(pins: dict[str, Any]) -> None:
    """Begin a run at its pinned state."""
    global _base, _elapsed, _seed_text
    _base, _elapsed = pins["clock"], 0.0
    _seed_text = f"entropy {pins['seed']}"
    _entropy.cache_clear()
    random.seed(pins["seed"])
    rule = stdlib.posix_rule(pins["timezone"])
    if rule != os.environ.get("TZ"):
        os.environ["TZ"] = rule
        time.tzset()


@functools.cache
def _entropy() -> random.Random:
    return random.Random(_seed_text)  # noqa: S311 - to be the same each time is its purpose


def _tick() -> float:
    global _elapsed
    _elapsed += TICK_SECONDS
    return _elapsed


def _now() -> float:
    return _base + _tick()


def _slept(seconds: float, /) -> None:
    global _elapsed
    _sleep(seconds)
    _elapsed += seconds


def _nanoseconds(clock: Callable[[], float]) -> Callable[[], int]:
    return lambda: round(clock() * 1e9)


def _clock_gettime(which: int, /) -> float:
    return _now() if which == time.CLOCK_REALTIME else _tick()


def _seconds_or_now(function: Callable[[float], Any]) -> Callable[..., Any]:
    return lambda seconds=None, /: function(_now() if seconds is None else seconds)


_TIME: dict[str, Callable[..., Any]] = {
    "time": _now,
    "time_ns": _nanoseconds(_now),
    "sleep": _slept,
    "clock_gettime": _clock_gettime,
    "clock_gettime_ns": lambda which, /: round(_clock_gettime(which) * 1e9),
    "localtime": _seconds_or_now(_localtime),
    "gmtime": _seconds_or_now(_gmtime),
    "ctime": _seconds_or_now(_ctime),
    "asctime": lambda moment=None, /: _asctime(_localtime(_now()) if moment is None else moment),
    "strftime": lambda text, moment=None, /: _strftime(text, _localtime(_now()) if moment is None else moment),
}
for _name in ("monotonic", "perf_counter", "process_time", "thread_time"):
    _TIME[_name] = _tick
    _TIME[_name + "_ns"] = _nanoseconds(_tick)


def _datetime_now(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
    return cls.fromtimestamp(_now(), tz)


def _datetime_utcnow(cls: Any) -> Any:
    return cls.fromtimestamp(_now(), datetime.UTC).replace(tzinfo=None)


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    _plain_seed(self, _entropy().getrandbits(64) if a is None else a, version)


_plain_seed = random.Random.seed


def _patch_type(kind: type, name: str, function: Callable[..., Any]) -> None:
    """Replace a class method of a type written in C.

    A subclass in its place would show: in `repr`, in `type(x) is datetime`, in what arithmetic gives.
    """
    gc.get_referents(kind.__dict__)[0][name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
