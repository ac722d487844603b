"""A program that serves on loopback, started as a process of its own and ended with all that it started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from protocols.errors import SourceUnavailable

_POLL_SECONDS = 0.05
_GRACE_SECONDS = 5.0
_GONE_SECONDS = 1.0  # for killed processes to be gone; where nobody collects them they never are
_GUARD = f"""
import os, signal, subprocess, sys, threading

def watch():
    os.read(0, 1)
    child.terminate()
    try:
        child.wait({_GRACE_SECONDS})
    except subprocess.TimeoutExpired:
        pass
    os.killpg(0, signal.SIGKILL)

child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
threading.Thread(target=watch, daemon=True).start()
os._exit(child.wait() % 256)
"""
"""Ends the command and all of its process group when its own input ends: when we close it, and when we were killed."""


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], *, port: int, folder: Path, seconds: float = 60.0) -> Iterator[None]:
    """Run `command` with `folder` as its home and working folder, from the moment that it listens on `port`.

    What it says goes to `service.log` there. Its whole process group is ended at the end, whatever happens to us.

    Raises:
        SourceUnavailable: it ended, or did not listen within `seconds`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "service.log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - the bench's own commands
            [sys.executable, "-I", "-S", "-c", _GUARD, *command],
            cwd=folder,
            env={**os.environ, "HOME": str(folder)},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await(process, port, seconds, log)
        yield
    finally:
        _end(process)


def _await(process: subprocess.Popen[bytes], port: int, seconds: float, log: Path) -> None:
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return
        time.sleep(_POLL_SECONDS)
    ended = process.poll()
    why = "did not listen in time" if ended is None else f"ended with status {ended}"
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise SourceUnavailable(f"the service on port {port} {why}: {' '.join(said) or 'it said nothing'}; see {log}.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The service gets the time to end its workers; whoever of the group is left then is killed."""
    assert process.stdin is not None
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(2 * _GRACE_SECONDS)
    until = time.monotonic() + _GONE_SECONDS
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < until:
            os.killpg(process.pid, signal.SIGKILL)
            process.poll()
            time.sleep(_POLL_SECONDS / 10)
    process.wait()
