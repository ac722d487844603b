"""Who works on a run: one process, told from every other one, and whether it still lives.

Two processes that share a store need not see each other: they may be in two containers over one folder. A process is
looked up only where its number means the same here as there. Of every other one nothing is known but its signs of life.
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
"""Without a sign of life for so long, a process that cannot be looked up has lost its runs."""
Life = Literal["living", "ended", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The process that holds a run. Equal values are the same process, and the same taking of the run."""

    host: str
    boot: str
    """Of the kernel, since it was started; empty where the system does not say."""
    pids: str
    """The namespace in which `pid` is its number."""
    clock: str
    """The namespace in which `started` is its time."""
    pid: int
    started: str
    """When the process began, in the kernel's ticks; empty where the system does not say."""
    taken: str
    """Drawn each time that a process takes a run."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def life(self) -> Life:
        """Return whether the process lives, as far as this process can tell."""
        mine = this_process()
        if (self.host, self.pids) == (
            mine.host,
            "",
        ) and sys.platform == "darwin":  # which has neither
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
    """A run's holder, and its last sign of life: when that was (Unix seconds, by its clock), and how many came."""

    holder: Holder
    seen: float
    beats: int = 0

    def is_over(self, now: float) -> bool:
        """Return True if the holder has ended, or cannot be looked up and was not heard of for `LEASE_SECONDS`."""
        life = self.holder.life()
        return life == "ended" or (life == "unknown" and now - self.seen > LEASE_SECONDS)


def this_process() -> Holder:
    """Return this process as the holder of a run that it takes now."""
    host, boot, pids, clock, started = _describe_process(os.getpid())
    taken = secrets.token_hex(8)
    return Holder(
        host=host, boot=boot, pids=pids, clock=clock, pid=os.getpid(), started=started, taken=taken
    )


@cache
def _describe_process(pid: int) -> tuple[str, str, str, str, str]:
    """Return host, boot, both namespaces and start of this process. `pid` is its own: a fork is another process."""
    assert pid
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return platform.node(), boot, _namespace("pid"), _namespace("time"), _process_start("self")


def _namespace(kind: str) -> str:
    """Return what tells this process's namespace of a kind; empty if the system has none."""
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
    """Return True if no process has this number, or one that only waits to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's process, which /proc may hide
        return False
    return sys.platform != "darwin"


def _process_start(pid: str) -> str:
    """Return when a process began, in the kernel's ticks; empty if there is none, or it only waits to be reaped."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields_after_name = stat.rpartition(")")[2].split()
    return "" if fields_after_name[0] in "ZX" else fields_after_name[19]
