"""The warm process, as its host sees it: started once, asked for children, ended."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from sandbox.errors import SandboxUnavailable, Unsupported
from sandbox.layers.names import LAYERS, REQUIRED, SWITCHED_OFF
from sandbox.limits import Limits
from sandbox.zygote.offspring import DEATH_SECONDS, ZygoteChild, ZygoteLost

START_SECONDS = 30.0
# No -I: it would ignore PYTHONHASHSEED. The environment has nothing else to ignore.
_FLAGS = ("-s", "-S", "-B", "-P")
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
# The packages without their __init__ files, which import what is ours; they are gone before a program runs.
_BOOTSTRAP = """
import json, sys, types
options = json.loads(sys.argv[1])
for name, folder in (("sandbox", ""), ("sandbox.layers", "/layers"), ("sandbox.zygote", "/zygote")):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [options["package"] + folder]
from sandbox.zygote.server import serve
serve(options)
"""


class Zygote:
    """The warm process, as its host sees it."""

    def __init__(self, *, spares: int, without: Collection[str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._spares, self._waiting = spares, deque[ZygoteChild]()
        self._used: list[ZygoteChild] = []  # they serve runs, or were killed and are not dead yet
        self._coming = 0
        self._stopped = False
        self._pool = threading.Lock()
        self._ready = threading.Lock()
        self._missing: dict[str, str] | None = None
        options = {
            "package": str(Path(__file__).resolve().parent.parent),
            "control": theirs.fileno(),
            "without": sorted(without),
            "zones": _zone_folders(),
        }
        command = [sys.executable, *_FLAGS, "-c", _BOOTSTRAP, json.dumps(options)]
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
        with suppress(ZygoteLost):
            self._waiting.extend(
                self._fork(Limits()) for _ in range(spares)
            )  # it finds the requests when it has loaded

    def await_ready(self) -> Mapping[str, str]:
        """Wait until it can fork. Gives the layers that are missing, with the reasons.

        Raises:
            ZygoteLost: it cannot.
            Unsupported: a layer is missing without which nothing runs.
        """
        with self._ready:
            if self._missing is None:
                try:
                    self._control.settimeout(START_SECONDS)
                    greeting = self._control.recv(8192)
                except OSError as error:
                    raise ZygoteLost(f"the zygote sandbox did not start: {error}") from error
                if not greeting:
                    raise ZygoteLost(f"the zygote sandbox did not start: {sys.executable!r} ended at once")
                said = json.loads(greeting)
                if "failed" in said:
                    raise SandboxUnavailable(f"the zygote sandbox did not start: {said['failed']}")
                self._missing = dict(said["missing"])
        for name in LAYERS:
            if name in REQUIRED and self._missing.get(name, SWITCHED_OFF) != SWITCHED_OFF:
                raise Unsupported(
                    f"the zygote sandbox cannot have {LAYERS[name]}: {self._missing[name]}. "
                    f"It runs nothing without; use --sandbox docker or --sandbox monty"
                )
        return self._missing

    def take(self, limits: Limits) -> ZygoteChild:
        """A child that waits for its program: one forked ahead, or a new one.

        Raises:
            ZygoteLost: the zygote is dead.
        """
        with self._pool:
            child = None
            while self._waiting and child is None:
                child = self._waiting.popleft()
                if not (child.fits(limits) and child.alive()):
                    child.close()
                    child = None
            child = child or self._fork(limits)
            self._used.append(child)
            return child

    def top_up(self, limits: Limits) -> None:
        """Have as many children forked ahead as there should be, for more runs within these limits.

        Once it was stopped it does nothing: the last run's top-up may come after the end.
        """
        with self._pool:
            if self._stopped:
                return
            self._bury()
            wanted = self._spares - len(self._waiting) - self._coming
            self._coming += wanted
        forked: list[ZygoteChild] = []
        with suppress(SandboxUnavailable):  # the next run will notice
            for _ in range(wanted):
                forked.append(self._fork(limits))
                forked[-1].await_ready()
        with self._pool:
            self._coming -= wanted
            if self._stopped:
                for child in forked:
                    child.close()
            else:
                self._waiting.extend(forked)

    def spare_pids(self) -> list[int]:
        """The processes of those that listen for their program."""
        with self._pool:
            return [child.pid for child in self._waiting if child.ready()]

    def _bury(self) -> None:
        """Let go of those that were killed and are dead by now; one that still serves a run is that run's affair."""
        dead = [child for child in self._used if child.killed and not child.alive()]
        for child in dead:
            child.close()
        self._used = [child for child in self._used if not child.closed]

    def _fork(self, limits: Limits) -> ZygoteChild:
        kept = {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds}
        with ExitStack() as stack:
            try:
                channel, their_channel = map(stack.enter_context, socket.socketpair())
                pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                status, their_status = map(stack.enter_context, pair)
            except OSError as error:
                raise SandboxUnavailable(f"the zygote sandbox cannot open a channel: {error.strerror}") from error
            try:
                theirs = [their_channel.fileno(), their_status.fileno()]
                socket.send_fds(self._control, [json.dumps(kept).encode()], theirs)
            except OSError as error:
                said = "the zygote sandbox's process died; see the kernel log for an out-of-memory kill"
                raise ZygoteLost(said) from error
            their_channel.close()
            their_status.close()
            stack.pop_all()
        alone = self._missing is not None and "namespaces" not in self._missing
        return ZygoteChild(channel, status, limits=limits, alone=alone)

    def stop(self) -> None:
        """Kill it and all its children, and wait until they are gone; does nothing when it is dead."""
        with self._pool:
            self._stopped = True
            while self._waiting:
                self._waiting.popleft().close()
        self._control.close()  # at this it kills its children, waits for them, and exits
        try:
            self._process.wait(DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._pool:
            for child in self._used:
                if child.killed:
                    child.close()


def _zone_folders() -> list[str]:
    """Where the package tzdata has its files, for a system that has none of its own."""
    found = importlib.util.find_spec("tzdata")
    return [str(Path(found.origin).parent / "zoneinfo")] if found is not None and found.origin else []
