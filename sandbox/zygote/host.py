"""The sandbox: runs programs in children of a warm process, and replaces that process when it is lost."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Collection, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.layers.names import LAYERS, REQUIRED, SWITCHED_OFF
from sandbox.limits import Limits
from sandbox.rpc import serve
from sandbox.trace import Trace
from sandbox.zygote.offspring import ZygoteLost
from sandbox.zygote.warm import Zygote


class ZygoteSandbox:
    """Runs programs in children of one warm process, which is started when first needed and reused for all runs.

    `spares` children are forked ahead of the runs that need them. `without` switches layers off, by their names in
    `layering.LAYERS`: for tests, and for a look at what each is worth. Runs may overlap, from any threads. Close it,
    or use it as a context manager.
    """

    name = "zygote"

    def __init__(self, *, spares: int = 1, without: Collection[str] = ()) -> None:
        if unknown := set(without) - set(LAYERS):
            raise ValueError(f"no layer {min(unknown)!r}; there are {', '.join(LAYERS)}")
        self._spares, self._without = spares, frozenset(without)
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._missing: Mapping[str, str] = dict.fromkeys(self._without, SWITCHED_OFF)
        self._closed = False
        self._holder: list[Zygote] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._holder)

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine; known for sure after the first run."""
        return tuple(text for name, text in LAYERS.items() if name not in self._missing)

    @property
    def missing(self) -> Mapping[str, str]:
        """The layers that are not there, each with the reason."""
        return self._missing

    @property
    def boundary(self) -> bool:
        """Whether the layers are meant to hold a hostile program: not where a required one was switched off."""
        return not REQUIRED & set(self._missing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start the zygote without waiting for it, so that the first run finds it ready.

        Raises:
            SandboxUnavailable: it cannot be had here.
        """
        self._current()

    def spares_ready(self) -> int:
        """How many children are forked and wait for a program."""
        return len(self.spare_pids())

    def spare_pids(self) -> list[int]:
        """The processes of the children that are forked and wait for a program."""
        with self._lock:
            return [] if self._zygote is None else self._zygote.spare_pids()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. A zygote that dies is replaced once, and the program run again: the calls
        that it had made are answered by the journal.
        """
        for last in (False, True):
            zygote = self._current()
            try:
                self._missing = zygote.await_ready()
                child = zygote.take(limits)
                try:
                    return serve(child, source, tools, limits=limits, journal=journal, backend=self.name)
                finally:
                    workers.start(partial(zygote.top_up, limits))
            except ZygoteLost:
                self._discard(zygote)
                if last or self._closed:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Kill the zygote and every child. Runs that are under way end with `SandboxUnavailable`."""
        with self._lock:
            self._closed = True
            self._zygote = None
        self._finalizer()

    def _current(self) -> Zygote:
        reason = unavailable()
        if reason is not None:
            raise SandboxUnavailable(reason)
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the zygote sandbox was closed; make a new one")
            if self._zygote is None:
                self._zygote = Zygote(spares=self._spares, without=self._without)
                self._holder.append(self._zygote)
            return self._zygote

    def _discard(self, zygote: Zygote) -> None:
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None
            if zygote in self._holder:
                self._holder.remove(zygote)
        zygote.stop()


def unavailable() -> str | None:
    """Why this machine cannot run a zygote; `None` where it can."""
    if sys.platform != "linux":
        return f"the zygote sandbox needs Linux, and this is {sys.platform}; run atc in a Linux container"
    if not sys.executable:
        return "the zygote sandbox needs the path of the Python interpreter, and sys.executable is empty"
    return None


def _stop_all(zygotes: list[Zygote]) -> None:
    while zygotes:
        zygotes.pop().stop()
