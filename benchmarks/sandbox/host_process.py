"""Starts the host process of a sandbox, and exchanges messages with it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from benchmarks import local
from benchmarks.sandbox.canaries import Canaries, environment
from benchmarks.sandbox.evidence import LIMITS
from sandbox.choose import NAMES


class HostEnded(Exception):
    """The host process ended, or did not answer in time. The message says which of the two."""


class HostProcess:
    """A host process with secrets in its environment. It exchanges JSON lines with this process."""

    def __init__(
        self, canaries: Canaries, source: str, backend: str, without: Sequence[str]
    ) -> None:
        self._nonce = secrets.token_hex(16)
        self._root = canaries.root
        self._received = b""
        self._channel, theirs = socket.socketpair()
        # Real sandboxes run as they are. Others get a PID namespace, so that their programs cannot
        # kill processes of this machine.
        isolate = backend == "unconfined" or backend not in NAMES
        command = ["unshare", "--pid", "--fork", "--kill-child"] if isolate else []
        command += [
            sys.executable,
            "-P",
            "-s",
            "-B",
            "-m",
            "benchmarks.sandbox.host",
            str(theirs.fileno()),
        ]
        passed = ("PATH", "LANG", "XDG_RUNTIME_DIR", "ATC_DOCKER_BASE", "DOCKER_HOST")
        variables = {name: os.environ[name] for name in passed if name in os.environ}
        variables |= environment(canaries.secrets["environment"])
        variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(local.ROOT), os.environ.get("PYTHONPATH")])
        )
        variables |= {"HOME": str(canaries.home), "TMPDIR": str(canaries.temporary)}
        with (
            theirs,
            (self._root / "stdout").open("wb") as out,
            (self._root / "stderr").open("wb") as err,
        ):
            pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            place: dict[str, Any] = {
                "cwd": canaries.work,
                "env": variables,
                "pass_fds": [theirs.fileno()],
            }
            # A session of its own: a program that signals its process group must not end us.
            self.process = subprocess.Popen(command, start_new_session=True, **pipes, **place)
        known = {
            "memory_secret": canaries.secrets["memory"],
            "admin_secret": canaries.secrets["admin"],
        }
        order = {
            "source": source,
            "backend": backend,
            "without": list(without),
            "limits": asdict(LIMITS),
        }
        self.send({"nonce": self._nonce, "isolate": isolate, **order, **known})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message. If the host has ended, this is not an error: `hear` will detect it."""
        with suppress(OSError):
            self._channel.sendall((json.dumps(message) + "\n").encode())

    def receive(self, seconds: float) -> dict[str, Any]:
        """Return the host's next message.

        Raises:
            HostEnded: no message came in time, or one that the host did not send.
        """
        until = time.monotonic() + seconds
        while b"\n" not in self._received:
            self._channel.settimeout(max(until - time.monotonic(), 0.001))
            try:
                data = self._channel.recv(1 << 20)
            except TimeoutError:
                raise HostEnded(
                    f"the host process said nothing for {seconds:.1f} s: it hangs"
                ) from None
            except OSError:
                data = b""
            if not data:
                raise HostEnded(f"the host process died ({self.describe_end(2.0)})")
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

    def describe_end(self, seconds: float) -> str:
        """Describe how the host ended, or that it did not end within `seconds` seconds."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "it does not end"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def output(self) -> list[str]:
        return [(self._root / name).read_text("utf-8", "replace") for name in ("stdout", "stderr")]

    def close(self) -> None:
        self._channel.close()
        self.process.kill()
        self.process.wait()
