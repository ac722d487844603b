"""The process that forks host processes, which the benchmark then kills."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import psutil

from benchmarks.kills.cases import Kill, Trap
from benchmarks.kills.host import serve_forks

SILENCE_SECONDS = 120.0
"""A host that sends no message for this time counts as hung."""


class HostLost(Exception):
    """A host process hangs, or requests to a service stay open after the host has ended."""


class HostForker(ExitStack):
    """A process that forks host processes one at a time. They use the tools of `sources`."""

    def __init__(self, sources: Sequence[str]) -> None:
        super().__init__()
        processes = multiprocessing.get_context("forkserver")
        self._server, theirs = processes.Pipe()
        process = processes.Process(target=serve_forks, args=(theirs, list(sources)))
        process.start()
        theirs.close()
        self.callback(process.join)
        self.callback(self._server.close)

    def host(
        self,
        order: Mapping[str, Any],
        kill: Kill | None,
        trap: Trap,
        *,
        taken: Callable[[], object] = int,
    ) -> dict[str, Any]:
        """Let a host carry out the instructions `order`, and return what it reports.

        The reports end when the host ends or is stopped. `taken` is called when the host has taken
        over the run from another host.

        Raises:
            HostLost: the host hangs.
        """
        self._server.send((order, kill))
        self._pid = pid = self._next_report()["pid"]

        def end() -> None:
            os.kill(pid, signal.SIGSTOP if order.get("cut") else signal.SIGKILL)
            while _state(pid) not in (psutil.STATUS_STOPPED, ""):
                time.sleep(0.002)

        trap.arm(kill, end)
        self._server.send("go")
        reports: dict[str, Any] = {}
        while "over" not in reports and _state(pid) != psutil.STATUS_STOPPED:
            if order.get("cut") and not self._server.poll(0.02):
                continue
            reports |= self._next_report()
            if reports.pop("taken", False):
                taken()
        trap.disarm()
        return reports

    def wake(self) -> None:
        with suppress(ProcessLookupError):  # it was woken before, and has ended
            os.kill(self._pid, signal.SIGCONT)

    def rest(self) -> dict[str, Any]:
        """Return the messages that a suspended host sends after it was resumed, until it ends."""
        reports: dict[str, Any] = {}
        while "over" not in reports:
            reports |= self._next_report()
        return reports

    def _next_report(self) -> dict[str, Any]:
        if not self._server.poll(SILENCE_SECONDS):
            raise HostLost(f"a host says nothing for {SILENCE_SECONDS:.0f} s.")
        reports: dict[str, Any] = self._server.recv()
        return reports


def _state(pid: int) -> str:
    """Return the status of a process as psutil names it; empty if there is no such process."""
    try:
        return str(psutil.Process(pid).status())
    except psutil.NoSuchProcess:
        return ""
