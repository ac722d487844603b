"""A fresh host process for one measurement, and a watch over what it and its descendants take."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolflow_bench.sandboxes import processes
from toolflow_bench.sandboxes.canaries import Canaries, environment
from toolflow_bench.sandboxes.processes import Process

SAMPLE_SECONDS = 0.02
STEADY = 4
"""Looks in a row that must agree."""
SETTLE_SECONDS = 2.0
ANSWER_SECONDS = 10.0
RUNAWAY_BYTES = 1536 * 2**20
RUNAWAY_PROCESSES = 256
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR")


class HostEnded(Exception):
    """The host process ended, or does not say what it should in time; the message says which."""


class HostProcess:
    """`python -m MODULE DESCRIPTOR` with secrets in its environment, and a channel to it."""

    def __init__(self, module: str, canaries: Canaries, order: Mapping[str, Any]) -> None:
        self._nonce = secrets.token_hex(16)
        self._root = canaries.folder.parent
        ours, theirs = socket.socketpair()
        self._channel, self._received = ours, b""
        self._peak_bytes = 0
        command = [sys.executable, "-P", "-s", "-B", "-m", module, str(theirs.fileno())]
        with theirs, self._path("stdout").open("wb") as out, self._path("stderr").open("wb") as err:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=_environment(canaries),
                cwd=canaries.work,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # a program that signals its process group must not end us
            )
        self.pid = self.process.pid
        self.tell({"nonce": self._nonce, **order})

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send one line. A host that is gone is found out by `hear`."""
        with suppress(OSError):
            self._channel.sendall((json.dumps(message) + "\n").encode("utf-8"))

    def hear(self, seconds: float) -> dict[str, Any]:
        """The host's next message.

        Raises:
            HostEnded: none came in time, or one that is not the host's.
        """
        until = time.monotonic() + seconds
        while b"\n" not in self._received:
            self._channel.settimeout(max(until - time.monotonic(), 0.001))
            try:
                data = self._channel.recv(1 << 20)
            except TimeoutError:
                raise HostEnded(f"the host process said nothing for {seconds:.1f} s: it hangs") from None
            except OSError:
                data = b""
            if not data:
                raise HostEnded(f"the host process died ({self._how_it_ended()})")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        try:
            message: dict[str, Any] = json.loads(line)
            genuine = message.pop("nonce") == self._nonce
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            genuine = False
        if not genuine:
            raise HostEnded("somebody else than the host wrote to its descriptor")
        return message

    def workers(self) -> frozenset[str]:
        """The commands that the host itself has started, as it starts workers of a pool; never its own command."""
        ours = {
            processes.name(pid) for pid in processes.quick_descendants(self.pid) if processes.parent(pid) == self.pid
        }
        return frozenset(ours - {processes.name(self.pid)})

    def lasting_processes(
        self, known: set[Process], *, most: int | None = None, workers: frozenset[str] = frozenset()
    ) -> set[Process]:
        """Our descendants but `known` and those that come and go: the ones that wait for a program, and `workers`.

        A worker is a child of the host process with one of these commands. What a program starts is no such child, or,
        where it runs in the host itself, has another command. Waits, for some seconds at most, until the number has
        not changed for a moment, and is not over `most`.

        Raises:
            HostEnded: the host, which knows those that wait, does not say.
        """
        until, steady, before = time.monotonic() + SETTLE_SECONDS, 0, -1
        while True:
            self.tell({"spares": True})
            spares = set(self.hear(ANSWER_SECONDS)["spares"])
            now = {
                process
                for process in processes.descendants(os.getpid()) - known
                if process.pid not in spares and not self._is_worker(process.pid, workers)
            }
            steady = steady + 1 if len(now) == before and (most is None or len(now) <= most) else 0
            if steady == STEADY or time.monotonic() > until:
                return now
            before = len(now)
            time.sleep(SAMPLE_SECONDS)

    def output(self) -> tuple[str, str]:
        """All that is on its stdout and its stderr by now."""
        out, err = (self._path(name).read_text("utf-8", "replace") for name in ("stdout", "stderr"))
        return out, err

    def end(self, seconds: float) -> tuple[int | None, int]:
        """Wait for its end. Gives the exit code (None: it does not end) and the most bytes that it, or one of the
        processes that it waited for, ever held.
        """
        until = time.monotonic() + seconds
        while self.process.returncode is None:
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            except ChildProcessError:  # it was killed as a runaway, and reaped there
                self.process.returncode = -signal.SIGKILL
                break
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self._peak_bytes = usage.ru_maxrss * 1024
            elif time.monotonic() > until:
                break
            else:
                time.sleep(0.005)
        return self.process.returncode, self._peak_bytes

    def close(self) -> None:
        """Kill what is left of it and hang up."""
        self._channel.close()
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()

    def _is_worker(self, pid: int, workers: frozenset[str]) -> bool:
        return processes.parent(pid) == self.pid and processes.name(pid) in workers

    def _how_it_ended(self) -> str:
        code, _ = self.end(2.0)
        last = (self.output()[1].strip().splitlines() or [""])[-1]
        how = "it closed its channel" if code is None else f"exit code {code}" if code >= 0 else f"signal {-code}"
        return f"{how}: {last[:200]}" if last else how

    def _path(self, stream: str) -> Path:
        return self._root / stream


@dataclass
class Taken:
    """What the watched processes took at most, beyond what they held at first."""

    first_bytes: int = 0
    peak_bytes: int = 0
    """Of all together, at one time."""
    peak_one_bytes: int = 0
    """The high-water mark of one process that came later, as its kernel keeps it: no peak is missed."""
    first_processes: int = 0
    peak_processes: int = 0
    runaway: str = ""
    """Why everything was killed; empty where nothing was."""
    samples: int = field(default=0)

    @property
    def grown_bytes(self) -> int:
        """By how much the memory of all together grew, or what one new process held, whichever is more."""
        return max(self.peak_bytes - self.first_bytes, self.peak_one_bytes, 0)


@contextmanager
def watching(known: set[Process]) -> Iterator[Taken]:
    """Look at our own descendants but `known` every 20 ms, and kill them all when they take far too much."""
    skipped = {process.pid for process in known}
    taken, done = Taken(), threading.Event()
    first = {pid for pid in processes.quick_descendants(os.getpid()) if pid not in skipped}
    taken.first_bytes = sum(map(processes.resident, first))
    taken.first_processes = len(first)

    def look() -> None:
        while True:
            pids = [pid for pid in processes.quick_descendants(os.getpid()) if pid not in skipped]
            taken.peak_bytes = max(taken.peak_bytes, sum(map(processes.resident, pids)))
            taken.peak_processes = max(taken.peak_processes, len(pids))
            for pid in pids:
                if pid not in first:
                    taken.peak_one_bytes = max(taken.peak_one_bytes, processes.peak_resident(pid))
            taken.samples += 1
            if taken.peak_bytes - taken.first_bytes > RUNAWAY_BYTES or len(pids) > RUNAWAY_PROCESSES:
                taken.runaway = f"{taken.peak_bytes >> 20} MiB, {len(pids)} processes: all were killed"
                processes.kill_all(processes.descendants(os.getpid()) - known)
                return
            if done.wait(SAMPLE_SECONDS):
                return

    thread = threading.Thread(target=look, name="watch", daemon=True)
    thread.start()
    try:
        yield taken
    finally:
        done.set()
        thread.join()


def _environment(canaries: Canaries) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(("ATC_", "DOCKER_", "CONTAINER_"))
    }
    root = str(Path(__file__).resolve().parents[2])
    return {
        **kept,
        **environment(canaries.secrets),
        "PYTHONPATH": os.pathsep.join(filter(None, [root, *sys.path[:0], kept.get("PYTHONPATH", "")])),
        "HOME": str(canaries.home),
        "TMPDIR": str(canaries.temporary),
    }
