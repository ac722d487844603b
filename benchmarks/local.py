"""Servers and processes of this machine, as the suites start, watch and end them."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from protocols.errors import SourceUnavailable

ROOT = Path(__file__).resolve().parents[1]
ATC = ("-c", "import sys; from atc.cli.main import main; sys.exit(main())")
"""The command `atc`, for this Python."""


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str], *, port: int, folder: Path, env: Mapping[str, str] | None = None, seconds: float = 90.0
) -> Iterator[int]:
    """Run a command in `folder`, from the moment that it listens on `port`; gives its process id.

    What it says goes to `service.log` there; `env` comes on top of our own variables. Its whole process group is ended
    at the end.

    Raises:
        SourceUnavailable: it ended, or did not listen within `seconds`.
    """
    log = folder / "service.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "HOME": str(folder), **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
                break
            time.sleep(0.05)
        else:
            raise SourceUnavailable(f"the service on port {port} ended or did not listen in time; see {log}.")
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def stat(process: int) -> list[str]:
    """The fields of a process from its state on, as the kernel shows them. Raises OSError: it is gone."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def family(process: int) -> list[int]:
    """A process and its descendants."""
    parents: dict[int, int] = {}
    for number in (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()):
        with suppress(OSError):
            parents[number] = int(stat(number)[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def cpu_seconds(processes: Sequence[int], *, ended: bool = False) -> float:
    """User and system time of the processes so far; with `ended`, that of their children that have ended, too."""
    ticks = 0
    for process in processes:
        with suppress(OSError):
            ticks += sum(map(int, stat(process)[11 : 15 if ended else 13]))
    return ticks / os.sysconf("SC_CLK_TCK")


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


def existing() -> set[int]:
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
    return {pid for pid in found if _lives(pid)}


def resident(pid: int) -> int:
    """Bytes of memory that the process holds now; 0 when it is gone."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
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
    """Kill and reap all descendants but those and theirs, and wait until they are dead, for five seconds at most."""
    until, killed = time.monotonic() + 5.0, set[int]()
    # While one of them ends, the kernel's lists may miss its children: what was killed is looked at by number, first.
    while (left := set(filter(_lives, killed)) | descendants(known)) and time.monotonic() < until:
        killed |= left
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _lives(pid: int) -> bool:
    with suppress(OSError, IndexError):
        return stat(pid)[0] not in "ZX"
    return False
