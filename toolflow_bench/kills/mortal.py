"""A store whose process is killed at a moment that only the host itself can see."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atc import events
from atc.store import Store
from sandbox.journal import Sink
from sandbox.trace import ToolCall
from toolflow_bench.kills.cases import Kill, Moment

BeforeDeath = Callable[[Moment, ToolCall | None], object]
"""Told of the moment and of the call that it interrupts, just before the process is killed."""


class MortalStore(Store):
    """A store of runs that kills its process by SIGKILL at the moment of `kill`; None, or a service's moment: never.

    `writes` says whether a call's tool writes.
    """

    def __init__(self, path: Path, *, kill: Kill | None, writes: Callable[[str], bool], told: BeforeDeath) -> None:
        super().__init__(path)
        self._kill, self._writes, self._told = kill, writes, told
        self._seen = 0

    def journal_sink(self, run: str) -> Sink:
        """As any store's."""
        stored = super().journal_sink(run)

        def sink(execution: int, call: ToolCall, complete: bool) -> None:
            before, after = _MOMENTS[complete]
            self._reach(before, call)
            stored(execution, call, complete)
            self._reach(after, call)

        return sink

    def observer(self, run: str) -> events.Observer:
        """As any store's."""
        stored = super().observer(run)

        def observe(event: events.Event) -> None:
            if isinstance(event, events.AttemptEnded):
                self._reach("attempted")
            stored(event)

        return observe

    def finish(self, *given: Any, **named: Any) -> None:
        """As any store's."""
        self._reach("finished")
        super().finish(*given, **named)

    def _reach(self, moment: Moment, call: ToolCall | None = None) -> None:
        """Kill the process if this is the moment."""
        if self._kill is None or moment != self._kill.moment:
            return
        if call is not None:
            if self._kill.writes and (call.reused or not self._writes(call.tool)):
                return
            self._seen += 1
            if self._seen - 1 != self._kill.nth:
                return
        self._told(moment, call)
        os.kill(os.getpid(), signal.SIGKILL)


_MOMENTS: dict[bool, tuple[Moment, Moment]] = {False: ("asked", "intended"), True: ("replied", "stored")}
