"""The command `atc` as a process, forked from one that has imported the command line.

Starting Python and importing what a command needs takes most of a second; a fork takes some
milliseconds. Everything else is as after `python -c "from atc.cli.main import main; main()"`:
arguments, variables, folder, umask, streams, signals, session, exit status. What a command does
WHILE it starts (which modules it imports, which folder is on its path) is tested with a real
process: `REAL`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests.labs.paths import LABS, ROOT

MAIN = "from atc.cli.main import main; main()"
REAL = (sys.executable, "-P", "-c", MAIN)
"""The command as words for `subprocess`: a new Python, which imports everything itself."""


class Command(subprocess.Popen):
    """A running `atc`, with the interface of `subprocess.Popen`.

    With `script`, the process runs that file of Python in place of `atc`. `controlling` makes
    stdin, which must be a terminal, the one that controls the new session. Options of `Popen` that
    change the program, the user or further descriptors have no effect. Once it has ended,
    `cpu_seconds` has the processor time of the process and of its ended children.
    """

    def __init__(
        self,
        words: Iterable[object],
        *,
        script: Path | str | None = None,
        controlling: bool = False,
        **options: Any,
    ) -> None:
        self._script, self._controlling = script, controlling
        super().__init__([str(word) for word in words], **options)

    def _execute_child(
        self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo,
        creationflags, shell, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
        restore_signals, gid, gids, uid, umask, start_new_session, process_group,
    ):  # fmt: skip
        request = {
            "words": args,
            "script": None if self._script is None else os.fspath(self._script),
            "folder": os.fspath(cwd or Path.cwd()),
            "variables": dict(os.environ if env is None else env),
            "session": start_new_session or self._controlling,
            "terminal": self._controlling,
            "umask": current_umask() if umask < 0 else umask,
        }
        streams = [max(p2cread, 0), 1 if c2pwrite < 0 else c2pwrite]
        streams.append(2 if errwrite < 0 else errwrite)
        self._answers, theirs = socket.socketpair()
        with theirs:
            server().start([*streams, theirs.fileno()])
        self._answers.sendall(json.dumps(request).encode() + b"\n")
        (self.pid,) = self._answer("q")
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _answer(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize(form)
        packed = self._answers.recv(size, socket.MSG_WAITALL)
        if len(packed) < size:
            raise RuntimeError("the fork server has gone")
        return struct.unpack(form, packed)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags & os.WNOHANG and not select.select([self._answers], [], [], 0)[0]:
            return 0, 0
        status, self.cpu_seconds = self._answer("qd")
        self._answers.close()
        return self.pid, status

    def _internal_poll(self, _deadstate: int | None = None, **_: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)
        return self.returncode


def run(
    words: Iterable[object], *, capture_output: bool = False, check: bool = False, **options: Any
) -> subprocess.CompletedProcess:
    """Run `atc` with these words, as `subprocess.run` runs a command."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Command(words, **options) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


@contextmanager
def in_background(
    words: Iterable[object], *, port: int, folder: Path, env: Mapping[str, str]
) -> Iterator[int]:
    """Run `atc` while the context is open; yield its process id once it listens on `port`.

    `env` is added to this process's variables. At the end the command's process group is killed.
    """
    with (
        (folder / "service.log").open("ab") as log,
        Command(
            words,
            cwd=folder,
            env={**os.environ, "HOME": str(folder), **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            while process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
                    break
                time.sleep(0.02)
            assert process.returncode is None, (folder / "service.log").read_text()
            yield process.pid
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def current_umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


class Server:
    """The process that forks, and our end of its socket."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ATC_", "XDG_", "OPENAI_"))
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", LABS / "fork_server.py", str(theirs.fileno())],
                cwd="/",
                env=kept | {"PYTHONPATH": str(ROOT)},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def start(self, descriptors: list[int]) -> None:
        with self._lock:
            socket.send_fds(self._control, [b"start"], descriptors)

    def close(self) -> None:
        """End the server; commands that still run go on."""
        self._control.close()
        self._process.wait()


@cache
def server() -> Server:
    """Return this process's server of commands, started at the first use."""
    started = Server()
    atexit.register(started.close)
    return started
