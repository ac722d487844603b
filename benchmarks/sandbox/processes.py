"""Processes as Linux shows them in /proc: whose descendants they are, and what memory they hold."""

import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def adopting() -> Iterator[None]:
    """While this is open, whatever our descendants leave behind becomes a child of this process, and can be found."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    try:
        yield
    finally:
        prctl(36, 0, 0, 0, 0)


def running() -> set[int]:
    """All processes of this machine; the kernel's lists of children alone may miss one while others end."""
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()}


def descendants(known: Collection[int]) -> set[int]:
    """All living descendants of this process but the `known` ones and what those start. The dead are left out."""
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        with suppress(OSError):
            for task in Path(f"/proc/{todo.pop()}/task").iterdir():
                with suppress(OSError):
                    children = map(int, (task / "children").read_bytes().split())
                    todo += [pid for pid in children if pid not in known]
        found |= set(todo)
    return {pid for pid in found if _state(pid) not in "ZX"}


def resident(pid: int) -> int:
    """Bytes of memory that the process holds now; 0 when it is gone."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def private(pid: int) -> int:
    """Bytes that the process shares with no other; 0 where the kernel does not say."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
    return 0


def names(pids: Iterable[int]) -> str:
    """The first few by number and command, for a message."""
    told = []
    for pid in sorted(pids)[:3]:
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            told.append(f"{pid} ({command[:80]})")
    return ", ".join(told)


def kill_all(known: set[int]) -> None:
    """Kill and reap all descendants but those and theirs, for five seconds at most."""
    until = time.monotonic() + 5.0
    while (left := descendants(known)) and time.monotonic() < until:
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return "X"
