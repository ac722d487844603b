"""Processes as Linux shows them in /proc: whose descendants they are, and what memory they hold."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """A process that cannot be mistaken for a later one of the same number."""

    pid: int
    started: int
    """In clock ticks since the machine started."""


@contextmanager
def adopting() -> Iterator[None]:
    """While this is open, whatever our descendants leave behind becomes a child of this process, and can be found."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]
    before = ctypes.c_int()
    prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def descendants(root: int) -> set[Process]:
    """All living descendants of `root`, from a look at every process of the machine. The dead are left out."""
    parents: dict[int, int] = {}
    found: dict[int, Process] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) is not None:
            pid = int(entry.name)
            parents[pid] = int(fields[1])
            if fields[0] not in "ZX":
                found[pid] = Process(pid, int(fields[19]))
    return {process for pid, process in found.items() if root in _ancestors(pid, parents)}


def quick_descendants(root: int) -> list[int]:
    """The same by the kernel's lists of children: fast enough to look often, and may miss some at a bad moment."""
    if not Path("/proc/thread-self/children").exists():  # a kernel without these lists
        return [process.pid for process in descendants(root)]
    found, todo = [], [root]
    while todo:
        with suppress(OSError):
            for task in Path(f"/proc/{todo.pop()}/task").iterdir():
                with suppress(OSError):
                    children = list(map(int, (task / "children").read_bytes().split()))
                    found += children
                    todo += children
    return found


def resident(pid: int) -> int:
    """Bytes of memory that the process holds now; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def peak_resident(pid: int) -> int:
    """The most bytes that the process ever held; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def private(pid: int) -> int | None:
    """Bytes that the process shares with no other; None where the kernel does not say."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


def name(pid: int) -> str:
    """The command by which a person would know the process."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").split()
    except OSError:
        return "gone"
    return " ".join(words)[:80] or "unnamed"


def parent(pid: int) -> int:
    """The process that it is a child of; 0 when it is gone."""
    fields = _stat(pid)
    return 0 if fields is None else int(fields[1])


def names(those: Iterable[Process]) -> str:
    """The first few by number and command, for a message."""
    return ", ".join(f"{process.pid} ({name(process.pid)})" for process in sorted(those)[:3])


def kill_all(processes: Iterable[Process]) -> None:
    """Kill these, with all that they have started, until none is left; reap those that are our own children.

    Gives up after five seconds: what cannot be killed by then is stuck in the kernel.
    """
    left = set(processes)
    until = time.monotonic() + 5.0
    while left and time.monotonic() < until:
        left |= {child for process in left for child in descendants(process.pid)}
        for process in left:
            if alive(process):
                with suppress(OSError):
                    os.kill(process.pid, signal.SIGKILL)
        for process in left:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
        left = {process for process in left if alive(process)}
        if left:
            time.sleep(0.005)


def alive(process: Process) -> bool:
    """Whether it runs; one that waits to be reaped does not."""
    fields = _stat(process.pid)
    return fields is not None and int(fields[19]) == process.started and fields[0] not in "ZX"


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (state) on; its name may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return None


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid
