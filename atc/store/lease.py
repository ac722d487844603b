"""Leases of runs: a lease records which process works on a run, and whether it is still alive.

Two processes that share a store may not see each other, for example if they are in two containers
with a shared folder. A process is looked up by its process id only if both processes are in the
same PID namespace. Of any other process, only its heartbeats are known.
"""

from __future__ import annotations

import os
import platform
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

LEASE_SECONDS = 15.0
"""A process that cannot be looked up loses its runs after this many seconds without a heartbeat."""
Life = Literal["living", "ended", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The process that owns a run, that is, works on it.

    If a process takes the same run twice, there are two holders, which differ in `taken`.
    """

    host: str
    boot: str
    """The kernel's boot id, which changes at each reboot; empty if the system has none."""
    pids: str
    """Id of the PID namespace in which `pid` is valid; empty if the system has no namespaces."""
    clock: str
    """Id of the time namespace in which `started` is valid; empty if there are none."""
    pid: int
    started: str
    """When the process started, in the kernel's ticks; empty if the system does not provide it."""
    taken: str
    """Random token, new each time a process takes a run."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def life(self) -> Life:
        """Return whether the process is alive: `living` or `ended`.

        Return `unknown` if this process cannot find out.
        """
        mine = this_process()
        # macOS has neither namespaces nor /proc.
        if (self.host, self.pids) == (
            mine.host,
            "",
        ) and sys.platform == "darwin":
            return "ended" if _is_gone(self.pid) else "unknown"
        same = (self.boot, self.pids, self.clock) == (mine.boot, mine.pids, mine.clock)
        if not (same and self.boot and self.pids and self.started and _proc_is_ours()):
            return "unknown"
        started = _process_start(str(self.pid))
        if started == self.started:
            return "living"
        return "ended" if started or _is_gone(self.pid) else "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The process that owns a run, and the heartbeats that it has sent.

    `seen` is the time of the last heartbeat, in Unix seconds by the owner's clock. `beats` is the
    number of heartbeats.
    """

    holder: Holder
    seen: float
    beats: int = 0

    def is_over(self, now: float) -> bool:
        """Return True if another process may take over the run.

        This is so if the owner of the lease has ended. It may be impossible to find out whether the
        owner is still alive, for example if it runs in another container. Then its lease is over
        when its last heartbeat is more than `LEASE_SECONDS` old. `now` is the present Unix time.
        """
        life = self.holder.life()
        return life == "ended" or (life == "unknown" and now - self.seen > LEASE_SECONDS)


def this_process() -> Holder:
    """Return a description of this process, to record it as the owner of a run.

    Each call adds a new random token, so two runs that this process takes have different owners.
    """
    host, boot, pids, clock, started = _describe_process(os.getpid())
    taken = secrets.token_hex(8)
    return Holder(
        host=host, boot=boot, pids=pids, clock=clock, pid=os.getpid(), started=started, taken=taken
    )


@cache
def _describe_process(pid: int) -> tuple[str, str, str, str, str]:
    """Return the host, boot id, PID namespace, time namespace and start time of this process.

    `pid` is this process's id. It is a parameter only because the result is cached: a forked
    process has another id, and so gets its own entry in the cache.
    """
    assert pid
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return platform.node(), boot, _namespace("pid"), _namespace("time"), _process_start("self")


def _namespace(kind: str) -> str:
    """Return the id of this process's `pid` or `time` namespace; empty if the system has none."""
    with suppress(OSError):
        return str(Path(f"/proc/self/ns/{kind}").readlink())
    return ""


def _proc_is_ours() -> bool:
    """Return True if /proc shows the processes of this process's own namespace."""
    try:
        return str(Path("/proc/self").readlink()) == str(os.getpid())
    except OSError:
        return False


def _is_gone(pid: int) -> bool:
    """Return True if no process has this id, except perhaps a zombie that waits to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        # Another user's process, which /proc may hide.
        return False
    return sys.platform != "darwin"


def _process_start(pid: str) -> str:
    """Return when a process started, in the kernel's ticks, or "" if it has ended or is unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields_after_name = stat.rpartition(")")[2].split()
    return "" if fields_after_name[0] in "ZX" else fields_after_name[19]
