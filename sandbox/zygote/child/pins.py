"""Replaces the clock, random numbers, UUIDs and the time zone by fixed ones.

They are the same each time a run is repeated. This module imports only the standard library.
"""

from __future__ import annotations

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

from sandbox.zygote.child import stdlib

TICK_SECONDS = 0.001
"""Number of seconds by which the clock advances each time when it is read.

Sleeping advances it by the duration of the sleep."""

_gmtime = time.gmtime
_strftime = time.strftime
_asctime = time.asctime
_plain_sleep = time.sleep
_plain_localtime = time.localtime
_plain_seed = random.Random.seed
_base = _elapsed = 0.0
_seed_text = ""


def tick() -> float:
    """Advance the program's clock by one tick, and return the seconds since the run began."""
    global _elapsed
    _elapsed += TICK_SECONDS
    return _elapsed


def pinned_time() -> float:
    """Return the Unix time of the program's clock, and advance the clock by one tick.

    This replaces `time.time`.
    """
    return _base + tick()


def sleep(seconds: float, /) -> None:
    """Sleep, and advance the program's clock by the same time. This replaces `time.sleep`."""
    global _elapsed
    _plain_sleep(seconds)
    _elapsed += seconds


def _functions() -> dict[str, Callable[..., Any]]:
    """Return the replacements for functions of the module `time`, keyed by name."""

    def localtime(seconds: float | None = None, /) -> time.struct_time:
        return _plain_localtime(pinned_time() if seconds is None else seconds)

    def clock_gettime(which: int, /) -> float:
        return pinned_time() if which == time.CLOCK_REALTIME else tick()

    found: dict[str, Callable[..., Any]] = {
        "time": pinned_time,
        "sleep": sleep,
        "localtime": localtime,
        "gmtime": lambda seconds=None, /: _gmtime(pinned_time() if seconds is None else seconds),
        "ctime": lambda seconds=None, /: _asctime(localtime(seconds)),
        "asctime": lambda given=None, /: _asctime(given or localtime()),
        "strftime": lambda text, given=None, /: _strftime(text, given or localtime()),
        "time_ns": lambda: round(pinned_time() * 1e9),
        "clock_gettime": clock_gettime,
        "clock_gettime_ns": lambda which, /: round(clock_gettime(which) * 1e9),
    }
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        found[name] = tick
        found[f"{name}_ns"] = lambda: round(tick() * 1e9)
    return found


def install() -> None:
    """Replace Python's functions for time and random numbers, in this process and its forks."""
    for name, function in _functions().items():
        setattr(time, name, function)
    _patch_type(datetime.datetime, "now", lambda cls, tz=None: cls.fromtimestamp(pinned_time(), tz))
    utc = datetime.UTC  # `today` reads time.time()
    _patch_type(
        datetime.datetime,
        "utcnow",
        lambda cls: cls.fromtimestamp(pinned_time(), utc).replace(tzinfo=None),
    )
    urandom: Any = lambda size: _entropy().randbytes(size)  # noqa: E731
    os.urandom = urandom
    setattr(random, "_urandom", urandom)  # noqa: B010 - `secrets` reads it there
    setattr(random.Random, "seed", _seed)  # noqa: B010 - for instances that are given no seed
    random.seed = random._inst.seed  # noqa: SLF001
    start({"seed": 0, "clock": 0.0, "timezone": "UTC"})  # a warm-up: it is faster after the fork
    uuid._generate_time_safe = None  # type: ignore[attr-defined]  # noqa: SLF001
    uuid._node = 0x020000000000  # type: ignore[attr-defined]  # noqa: SLF001


def start(pins: dict[str, Any]) -> None:
    """Begin a run: set the clock, the random seed and the time zone to those in `pins`."""
    global _base, _elapsed, _seed_text
    _base = pins["clock"]
    _elapsed = 0.0
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


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    _plain_seed(self, _entropy().getrandbits(64) if a is None else a, version)


def _patch_type(kind: type, name: str, function: Callable[..., Any]) -> None:
    """Replace a class method of a type that is written in C, such as `datetime.now`.

    A subclass is not used, because the program could notice it: in `repr`, in
    `type(x) is datetime`, and in results of arithmetic.
    """
    gc.get_referents(kind.__dict__)[0][name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
