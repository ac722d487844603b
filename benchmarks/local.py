"""Functions that start, observe and end local servers and processes."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from protocols.errors import SourceUnavailable

ROOT = Path(__file__).resolve().parents[1]
ATC = (
    "-c",
    "import sys; from atc.cli.main import main; sys.exit(main())",
)  # the command `atc`, for this Python


def free_port() -> int:
    """Return a free loopback port below the range from which systems assign ports."""
    while True:
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", 15_000 + secrets.randbelow(15_000)))
            return int(probe.getsockname()[1])


@contextmanager
def run_in_background(
    command: Sequence[str],
    *,
    port: int,
    folder: Path,
    env: Mapping[str, str] | None = None,
    seconds: float = 90.0,
) -> Iterator[int]:
    """Run a command while the context is open; yield its process id once it listens on `port`.

    The command's output goes to the file service.log in `folder`. When the context closes, its
    process group is killed.
    """
    log = folder / "service.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "HOME": str(folder), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
                break
            time.sleep(0.05)
        else:
            raise SourceUnavailable(
                f"the service on port {port} ended or did not listen in time; see {log}."
            )
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def measure_command(
    command: Sequence[str],
    folder: Path,
    out: Path,
    *,
    env: Mapping[str, str] | None = None,
    limit: float = 3600.0,
) -> dict[str, Any]:
    """Run a command and return its wall and CPU seconds, peak memory in MB and exit status.

    The exit status is negative if the command was killed. Its stdout goes to the file `out`, its
    stderr to a file with the same name and the suffix .log.
    """
    with out.open("wb") as stdout, out.with_suffix(".log").open("wb") as stderr:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=stdout, stderr=stderr, cwd=folder, env=env, start_new_session=True
        )
        timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = round(time.perf_counter() - begun, 1)
    cpu = round(used.ru_utime + used.ru_stime, 1)
    return {
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": round(used.ru_maxrss / 1024),
        "exit": process.returncode,
    }


def process_family(process: int, known: Collection[int] = ()) -> list[int]:
    """Return the ids of a living process and its living descendants.

    The processes in `known` and their children are left out.
    """
    seen: dict[int, tuple[str, int]] = {}  # psutil's own search takes three times as long
    for pid in psutil.pids():
        with suppress(OSError), open(f"/proc/{pid}/stat", errors="replace") as file:  # noqa: PTH123
            state, parent = file.read().rpartition(")")[2].split(maxsplit=2)[:2]
            seen[pid] = state, int(parent)
    found = [process]
    for one in found:
        found += [pid for pid, (_, parent) in seen.items() if parent == one and pid not in known]
    return [pid for pid in found if pid in seen and seen[pid][0] not in "ZX"]


def descendants(known: Collection[int]) -> set[int]:
    """Return the ids of all living descendants of this process.

    The processes in `known` and their children are left out.
    """
    return {*process_family(os.getpid(), known)} - {os.getpid()}


def existing_processes() -> set[int]:
    return set(psutil.pids())


def cpu_seconds(processes: Sequence[int], *, ended: bool = False) -> float:
    """Return the sum of the user and system time of the processes.

    If `ended` is True, the time of their ended children is included.
    """
    seconds = 0.0
    for process in processes:
        with suppress(psutil.Error):
            seconds += sum(psutil.Process(process).cpu_times()[: 4 if ended else 2])
    return seconds


@contextmanager
def adopt_descendants() -> Iterator[None]:
    """Make orphaned descendants children of this process while the context is open."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    try:
        yield
    finally:
        prctl(36, 0, 0, 0, 0)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process in bytes, or 0 if the process has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def name_processes(pids: Iterable[int]) -> str:
    """Return the ids and commands of the first three processes, as text for a message."""
    lines = []
    for pid in sorted(pids)[:3]:
        with suppress(psutil.Error):
            lines.append(f"{pid} ({' '.join(psutil.Process(pid).cmdline())[:80]})")
    return ", ".join(lines)


def kill_all(known: Collection[int]) -> None:
    """Kill all descendants of this process except `known`.

    Wait up to 5 seconds until they are dead.
    """
    until = time.monotonic() + 5.0
    while (left := descendants(known)) and time.monotonic() < until:
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        psutil.wait_procs([one for one in psutil.process_iter() if one.pid in left], timeout=1.0)
