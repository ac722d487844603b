"""What a host process is like inside, so that it can be seen whether a program changed it."""

from __future__ import annotations

import gc
import os
import random
import resource
import signal
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

KEPT_DESCRIPTORS = 4
"""Sockets and the like that a sandbox may keep of one child, dead by then, until its next run."""
SETTLE_SECONDS = 2.0
"""How long threads and descriptors of a run may take to be gone."""

_WATCHED = (
    *("builtins", "codecs", "collections", "functools", "io", "json", "json.decoder", "json.encoder", "math", "os"),
    *("pickle", "posixpath", "random", "re", "signal", "socket", "subprocess", "sys", "tempfile", "threading", "time"),
)
_OURS = ("sandbox", "protocols", "toolflow_bench")
_FIXED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, str, bytes, float)
_CHANGING = frozenset({("sys", "last_type"), ("sys", "last_value"), ("sys", "last_traceback"), ("sys", "last_exc")})


class State:
    """A look at this process. Holds what it saw, so that no new object can take an old one's place."""

    def __init__(self) -> None:
        self.modules = dict(sys.modules)
        self.attributes = {name: _fixed(module) for name, module in self.modules.items() if _is_watched(name)}
        self.values = _values()
        self.descriptors = _descriptors()
        self.threads = len(list(Path("/proc/self/task").iterdir()))

    def difference(self, now: State) -> list[str]:
        """What is otherwise in `now`; empty where nothing is."""
        return [
            *_difference("module", self.modules, now.modules),
            *(
                line
                for name, before in self.attributes.items()
                if name in now.attributes
                for line in _difference(f"{name} attribute", before, now.attributes[name])
            ),
            *(f"{name} changed" for name, value in self.values.items() if now.values.get(name) != value),
            *self._new_descriptors(now),
            *([f"{now.threads - self.threads} new threads"] if now.threads > self.threads else []),
        ]

    def _new_descriptors(self, now: State) -> list[str]:
        new = now.descriptors - self.descriptors
        files = [what for what in new if what.startswith("/")]
        nameless = sum(new.values()) - sum(new[what] for what in files)
        return [f"new descriptor: {what}" for what in (sorted(new) if nameless > KEPT_DESCRIPTORS else sorted(files))]


def settled_difference(before: State) -> list[str]:
    """How this process differs from `before`, once threads and descriptors have had time to go."""
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        found = before.difference(State())
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def settled() -> State:
    """A look at this process when its threads and descriptors have stopped changing."""
    until = time.monotonic() + SETTLE_SECONDS
    before = State()
    while True:
        time.sleep(0.05)
        now = State()
        same = (before.threads, before.descriptors) == (now.threads, now.descriptors)
        if same or time.monotonic() > until:
            return now
        before = now


def _is_watched(name: str) -> bool:
    return name in _WATCHED or name.partition(".")[0] in _OURS


def _fixed(module: Any) -> dict[str, Any]:
    """A module's functions, classes (with what they define) and constants: what nobody changes while it works."""
    found: dict[str, Any] = {}
    for name, value in list(getattr(module, "__dict__", {}).items()):
        if (getattr(module, "__name__", ""), name) in _CHANGING:
            continue
        if isinstance(value, _FIXED):
            found[name] = value
        if isinstance(value, types.FunctionType):
            found[f"{name}.__code__"] = value.__code__
        if isinstance(value, type) and value.__module__ == getattr(module, "__name__", None):
            found.update({f"{name}.{key}": item for key, item in list(vars(value).items()) if isinstance(item, _FIXED)})
    return found


def _values() -> dict[str, Any]:
    handlers = {}
    for number in range(1, signal.NSIG):
        with suppress(ValueError, OSError):
            handlers[number] = signal.getsignal(number)
    limits = {}
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            with suppress(ValueError, OSError):
                limits[name] = resource.getrlimit(getattr(resource, name))
    umask = os.umask(0o022)
    os.umask(umask)
    return {
        "random state": random.getstate(),
        "environment": dict(os.environ),
        "working folder": str(Path("/proc/self/cwd").readlink()),
        "signal handlers": handlers,
        "timer": signal.getitimer(signal.ITIMER_REAL)[1],
        "limits": limits,
        "umask": umask,
        "user": (os.getresuid(), os.getresgid()),
        "sys.path": list(sys.path),
        "sys.argv": list(sys.argv),
        "standard streams": (sys.stdin, sys.stdout, sys.stderr),
        "hooks": (sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile(), threading.excepthook),
        "import system": (list(sys.meta_path), list(sys.path_hooks)),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collector": (gc.isenabled(), gc.get_threshold()),
        "time zone": (time.tzname, time.timezone),
    }


def _descriptors() -> Counter[str]:
    """How many there are of each kind; files by path, since sockets and pipes have a new number each."""
    found: Counter[str] = Counter()
    for descriptor in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # the one that the list itself was read by
            target = str(descriptor.readlink())
            if not target.startswith("/proc/"):
                found[target.partition(":")[0] if not target.startswith("/") else target] += 1
    return found


def _difference(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        *(f"{what} {name} is new" for name in sorted(now.keys() - before.keys())),
        *(f"{what} {name} is gone" for name in sorted(before.keys() - now.keys())),
        *(f"{what} {name} was replaced" for name, value in before.items() if name in now and now[name] is not value),
    ]
