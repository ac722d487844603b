"""The host's side of the zygote: start it, ask it for children, end them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from protocols.toolbox import Toolbox
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.rpc import Exit, serve
from sandbox.trace import Trace

START_SECONDS = 30.0
DEATH_SECONDS = 5.0
"""How long a killed child may take to be gone before its zygote counts as lost."""

# No -I: it would ignore PYTHONHASHSEED. The environment has nothing else to ignore.
_FLAGS = ("-s", "-S", "-B", "-P")
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
# The two packages without their __init__ files, which import what is ours; they are gone before a program runs.
_BOOTSTRAP = """
import sys, types
for name, path in (("sandbox", sys.argv[1]), ("sandbox.zygote", sys.argv[1] + "/zygote")):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [path]
from sandbox.zygote.server import serve
serve(int(sys.argv[2]))
"""


class ZygoteLost(SandboxUnavailable):
    """The zygote died, or does not answer."""


class ZygoteSandbox:
    """Runs programs in children of one warm process, which is started when first needed and reused for all runs.

    Runs may overlap, from any threads. Close it, or use it as a context manager.
    """

    name = "zygote"
    layers = ("clean process and environment", "one descriptor", "limits kept by the kernel", "no root user")
    """What stands between a program and this machine."""
    boundary = False
    """Whether the layers are meant to hold a hostile program: not yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: _Zygote | None = None
        self._closed = False
        self._holder: list[_Zygote] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._holder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start the zygote without waiting for it, so that the first run finds it ready.

        Raises:
            SandboxUnavailable: it cannot be had here.
        """
        self._current()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. A zygote that dies is replaced once, and the program run again: the calls
        that it had made are answered by the journal.
        """
        for last in (False, True):
            zygote = self._current()
            try:
                zygote.await_ready()
                return serve(zygote.fork(), source, tools, limits=limits, journal=journal, backend=self.name)
            except ZygoteLost:
                self._discard(zygote)
                if last or self._closed:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Kill the zygote and every child. Runs that are under way end with `SandboxUnavailable`."""
        with self._lock:
            self._closed = True
            self._zygote = None
        self._finalizer()

    def _current(self) -> _Zygote:
        reason = unavailable()
        if reason is not None:
            raise SandboxUnavailable(reason)
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the zygote sandbox was closed; make a new one")
            if self._zygote is None:
                self._zygote = _Zygote()
                self._holder.append(self._zygote)
            return self._zygote

    def _discard(self, zygote: _Zygote) -> None:
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None
            if zygote in self._holder:
                self._holder.remove(zygote)
        zygote.stop()


def unavailable() -> str | None:
    """Why this machine cannot run a zygote; `None` where it can."""
    if sys.platform != "linux":
        return f"the zygote sandbox needs Linux, and this is {sys.platform}; run atc in a Linux container"
    if not sys.executable:
        return "the zygote sandbox needs the path of the Python interpreter, and sys.executable is empty"
    return None


class _Zygote:
    """The warm process, as its host sees it."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ready = threading.Lock()
        self._is_ready = False
        package = str(Path(__file__).resolve().parent.parent)
        command = [sys.executable, *_FLAGS, "-c", _BOOTSTRAP, package, str(theirs.fileno())]
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=_ENVIRONMENT,
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C at the terminal is for the host alone
                )
            except OSError as error:
                self._control.close()
                raise SandboxUnavailable(f"the zygote sandbox cannot start {sys.executable!r}: {error}") from error

    def await_ready(self) -> None:
        """Wait until it can fork.

        Raises:
            ZygoteLost: it cannot.
        """
        with self._ready:
            if self._is_ready:
                return
            try:
                self._control.settimeout(START_SECONDS)
                greeting = self._control.recv(64)
            except OSError as error:
                raise ZygoteLost(f"the zygote sandbox did not start: {error}") from error
            if greeting != b"ready":
                raise ZygoteLost(f"the zygote sandbox did not start: {sys.executable!r} ended at once")
            self._is_ready = True

    def fork(self) -> _Child:
        """A new child that waits for its program.

        Raises:
            ZygoteLost: the zygote is dead.
        """
        channel, their_channel = socket.socketpair()
        status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with their_channel, their_status:
            try:
                socket.send_fds(self._control, [b"fork"], [their_channel.fileno(), their_status.fileno()])
            except OSError as error:
                channel.close()
                status.close()
                raise ZygoteLost(
                    "the zygote sandbox's process died; see the kernel log for an out-of-memory kill"
                ) from error
        return _Child(channel, status)

    def stop(self) -> None:
        """Kill it and all its children; does nothing when it is dead."""
        self._control.close()  # at this it kills its children and exits
        try:
            self._process.wait(DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Child:
    """One child of the zygote (`sandbox.rpc.Child`)."""

    def __init__(self, channel: socket.socket, status: socket.socket) -> None:
        self.channel = channel
        self._status = status
        self._pidfd = -1
        self._announced = False

    def interrupt(self) -> None:
        self._signal(signal.SIGALRM)

    def end(self) -> Exit:
        try:
            self._signal(signal.SIGKILL)
            with suppress(OSError):
                self._status.shutdown(socket.SHUT_WR)  # the zygote kills it too, and all that it started
            ended = self._receive()
            code = int(ended["status"])
            return Exit(code if code >= 0 else None, -code if code < 0 else None, float(ended["cpu"]))
        finally:
            self.channel.close()
            self._status.close()
            if self._pidfd >= 0:
                os.close(self._pidfd)

    def _signal(self, number: signal.Signals) -> None:
        if not self._announced:
            self._receive()
            self._announced = True
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, number)

    def _receive(self) -> dict[str, Any]:
        self._status.settimeout(DEATH_SECONDS)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._status, 256, 1)
        except OSError as error:
            raise ZygoteLost(f"the zygote sandbox does not answer: {error}") from error
        if descriptors:
            self._pidfd = descriptors[0]
        if not data:
            raise ZygoteLost("the zygote sandbox's process died while it ran the program")
        message: dict[str, Any] = json.loads(data)
        if "error" in message:
            raise SandboxUnavailable(f"the zygote sandbox cannot start a child: {message['error']}")
        return message


def _stop_all(zygotes: list[_Zygote]) -> None:
    while zygotes:
        zygotes.pop().stop()
