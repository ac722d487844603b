"""The default backend on Linux: a CPython process, the zygote, forks a child for each program.

The zygote has already imported the modules that programs use, so a child starts quickly. This
module runs in the host. The module `server` runs in the zygote, and the package `child` in the same
process as a program.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.base import OnDemandSandbox, SandboxUnavailable
from sandbox.exits import Exit
from sandbox.host import serve_program
from sandbox.journal import Journal
from sandbox.layers.names import LAYERS, REQUIRED, SWITCHED_OFF
from sandbox.limits import Limits
from sandbox.trace import Trace

START_SECONDS = 30.0
DEATH_SECONDS = 5.0
"""Seconds to wait for a killed child to end. After that the zygote is considered dead."""

# No -I: it would ignore PYTHONHASHSEED. The environment has nothing else to ignore.
_FLAGS = ("-s", "-S", "-B", "-P")
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
# The packages without their __init__ files, which import the host's side. They are removed before
# a program runs.
_BOOTSTRAP = """
import json, sys, types
options = json.loads(sys.argv[1])
for folder in ("", "/layers", "/zygote", "/zygote/child"):
    name = "sandbox" + folder.replace("/", ".")
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [options["package"] + folder]
from sandbox.zygote.server import serve
serve(options)
"""


class ZygoteLost(SandboxUnavailable):
    """Raised if the zygote, the process that forks children, died or does not answer."""


class ZygoteSandbox(OnDemandSandbox["Zygote"]):
    """Runs each program in a child process that a warm parent process, the zygote, forks.

    The zygote is started when it is first used. A child is forked in advance, before the run that
    needs it. `without` are names of layers in `layers.names.LAYERS` that are switched off, for
    tests and measurements.
    """

    name = "zygote"

    def __init__(self, *, without: Collection[str] = ()) -> None:
        if unknown := set(without) - set(LAYERS):
            raise ValueError(f"no layer {min(unknown)!r}; there are {', '.join(LAYERS)}")
        super().__init__()
        self._without = frozenset(without)
        self.missing: Mapping[str, str] = dict.fromkeys(
            without, SWITCHED_OFF
        )  # each with the reason

    @property
    def layers(self) -> tuple[str, ...]:
        """Descriptions of the layers, i.e. the restrictions that isolate a program.

        Until the first run, layers may be included that turn out to be unavailable.
        """
        return tuple(text for name, text in LAYERS.items() if name not in self.missing)

    @property
    def boundary(self) -> bool:
        """True if even a hostile program is isolated: no required restriction is missing."""
        return not REQUIRED & set(self.missing)

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run the program `source` in a child of the zygote, and return the trace.

        The details are those of `sandbox.base.Sandbox.run`. If the zygote dies, a new one is
        started once, and the program runs again. Calls that the program made before are not made
        again, because the journal has their results.
        """
        for last in (False, True):
            zygote = self._current()
            try:
                self.missing = zygote.await_ready()
                child = zygote.take(limits)
                try:
                    return serve_program(
                        child, source, tools, limits=limits, journal=journal, backend=self.name
                    )
                finally:
                    workers.start(partial(zygote.top_up, limits))
            except ZygoteLost:
                with self._lock:
                    if self._runner is zygote:
                        self._runner = None
                zygote.stop()
                if last or self._closed:
                    raise
        raise AssertionError("unreachable")

    def _start(self) -> Zygote:
        if (reason := unavailable()) is not None:
            raise SandboxUnavailable(reason)
        return Zygote(self._without)


def unavailable() -> str | None:
    """Return why this machine cannot run a zygote, or None if it can."""
    if sys.platform != "linux":
        return (
            f"the zygote sandbox needs Linux, and this is {sys.platform}; "
            "run atc in a Linux container"
        )
    return None


class Zygote:
    """The host's side of the zygote: starts its process, asks it for children, and stops it."""

    def __init__(self, without: Collection[str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._waiting: ZygoteChild | None = None  # forked in advance
        self._stopped = False
        self._pool = threading.Lock()
        self._ready = threading.Lock()
        self._missing: dict[str, str] | None = None
        tzdata = importlib.util.find_spec("tzdata")  # for systems without time zones
        options = {
            "without": sorted(without),
            "zones": [str(Path(tzdata.origin).parent / "zoneinfo")]
            if tzdata is not None and tzdata.origin
            else [],
            "package": str(Path(__file__).resolve().parent.parent),
            "channel": theirs.fileno(),
        }
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                    [sys.executable, *_FLAGS, "-c", _BOOTSTRAP, json.dumps(options)],
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
            raise SandboxUnavailable(
                f"the sandbox cannot start {sys.executable!r}: {error}"
            ) from error
        self.top_up(Limits())  # read as soon as the process has loaded its modules

    def await_ready(self) -> Mapping[str, str]:
        """Wait until the zygote can fork children.

        Return the reason for each missing layer (restriction of programs), keyed by the layer's
        name.

        Raises:
            ZygoteLost: the zygote did not start.
            SandboxUnavailable: a required layer is missing.
        """
        with self._ready:
            if self._missing is None:
                try:
                    self._control.settimeout(START_SECONDS)
                    report = json.loads(self._control.recv(8192) or "{}")
                except OSError as error:
                    raise ZygoteLost(f"the zygote sandbox did not start: {error}") from error
                if not report:
                    raise ZygoteLost(
                        f"the zygote sandbox did not start: {sys.executable!r} ended at once"
                    )
                if "failed" in report:
                    raise SandboxUnavailable(
                        f"the zygote sandbox did not start: {report['failed']}"
                    )
                self._missing = dict(report["missing"])
        for name in LAYERS:
            if name in REQUIRED and self._missing.get(name, SWITCHED_OFF) != SWITCHED_OFF:
                raise SandboxUnavailable(
                    f"the zygote sandbox cannot have {LAYERS[name]}: {self._missing[name]}. "
                    f"It runs nothing without; use --sandbox docker or --sandbox monty"
                )
        return self._missing

    def take(self, limits: Limits) -> ZygoteChild:
        """Return a child process that waits for its program.

        It was forked in advance if possible, and otherwise it is forked now.

        Raises:
            ZygoteLost: the zygote is dead.
        """
        with self._pool:
            child = self._waiting
            self._waiting = None
            if child is not None and not (child.limits == _kernel_limits(limits) and child.alive()):
                child.close()
                child = None
            child = child or self._fork(limits)
            child.alone = self._missing is not None and "namespaces" not in self._missing
            return child

    def top_up(self, limits: Limits) -> None:
        """Fork a child in advance for a later run with these limits, unless one is waiting already.

        Do nothing if `stop` was called before: a run that is ending may still call this method.
        """
        with self._pool, suppress(SandboxUnavailable):  # the next run will notice
            if not self._stopped and self._waiting is None:
                self._waiting = self._fork(limits)

    def stop(self) -> None:
        """Kill the zygote and all its children, and wait until they are gone."""
        with self._pool:
            self._stopped = True
            if self._waiting is not None:
                self._waiting.close()
                self._waiting = None
        self._control.close()  # it then kills its children, waits for them, and exits
        try:
            self._process.wait(DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _fork(self, limits: Limits) -> ZygoteChild:
        with ExitStack() as stack:
            try:
                channel, their_channel = map(stack.enter_context, socket.socketpair())
                pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                status, their_status = map(stack.enter_context, pair)
            except OSError as error:
                raise SandboxUnavailable(
                    f"the zygote sandbox cannot open a channel: {error.strerror}"
                ) from error
            try:
                theirs = [their_channel.fileno(), their_status.fileno()]
                socket.send_fds(
                    self._control, [json.dumps(_kernel_limits(limits)).encode()], theirs
                )
            except OSError as error:
                raise ZygoteLost(
                    "the zygote sandbox's process died; "
                    "see the kernel log for an out-of-memory kill"
                ) from error
            stack.pop_all()
        their_channel.close()
        their_status.close()
        return ZygoteChild(channel, status, _kernel_limits(limits))


def _kernel_limits(limits: Limits) -> dict[str, float]:
    """Return the limits of a run that the kernel enforces, keyed by their names."""
    return {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds}


class ZygoteChild:
    """A child of the zygote: it waits for one program, runs it, and is then killed.

    It implements `sandbox.host.Child`. `alone` is True if it has a process namespace of its own, so
    that no process that it started survives it.
    """

    def __init__(
        self, channel: socket.socket, status: socket.socket, limits: Mapping[str, float]
    ) -> None:
        self.channel = channel
        self.limits = limits
        self.alone = False
        self._status = status
        self._pidfd = -1
        self.reports: dict[
            str, Any
        ] = {}  # merged reports of its zygote, see `sandbox.zygote.server`

    def alive(self) -> bool:
        """Return False if the child is known to have ended, else True. This does not wait."""
        try:
            while _readable(self._status):
                self._receive()
        except SandboxUnavailable:
            return False
        return self._pidfd < 0 or not _readable(self._pidfd)

    def end(self) -> Exit:
        """Kill the child and all processes that it started, and return how the child ended."""
        try:
            self._kill()
            code = int(self._await_report("status"))
            return Exit(
                code if code >= 0 else None, -code if code < 0 else None, float(self.reports["cpu"])
            )
        finally:
            self.close()

    def finish(self) -> None:
        """Kill the child. Wait until it has ended only if other processes could outlive it.

        These are processes that the child started.
        """
        if not self.alone:
            self.end()
            return
        try:
            self._kill()
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection to the child. If it is still running, its zygote kills it."""
        self.channel.close()
        self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _kill(self) -> None:
        self._await_report("pid")
        with suppress(OSError):  # it is dead
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        with suppress(OSError):
            self._status.shutdown(
                socket.SHUT_WR
            )  # the zygote kills it too, and all that it started

    def _await_report(self, what: str) -> Any:
        self._status.settimeout(DEATH_SECONDS)
        while what not in self.reports:
            self._receive()
        return self.reports[what]

    def _receive(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._status, 256, 1)
        except OSError as error:
            raise ZygoteLost(f"the zygote sandbox does not answer: {error}") from error
        if descriptors:
            self._pidfd = descriptors[0]
        if not data:
            raise ZygoteLost("the zygote sandbox's process died while it ran the program")
        self.reports |= json.loads(data)
        if "error" in self.reports:
            raise SandboxUnavailable(
                f"the zygote sandbox cannot start a child: {self.reports['error']}"
            )


def _readable(what: int | socket.socket) -> bool:
    poll = select.poll()
    poll.register(what, select.POLLIN)
    return bool(poll.poll(0))
