"""The backend without a boundary: a program runs in an ordinary Python process, as you, for development only.

The policy reviews the source. What passes runs as in the zygote, by the same code inside, but with no layer around it:
nothing but that review keeps a program from your files and your network.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

from protocols.toolbox import Toolbox
from sandbox.base import Closing
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy import LAYER, refused, review
from sandbox.rpc import Exit, serve
from sandbox.trace import Trace
from sandbox.zygote.host import start_inside

WARNING = (
    "the trusted sandbox is no boundary: programs run as you, with your files and your network; "
    "use the zygote, docker or monty sandbox for programs that you did not write"
)

_INSIDE = """
from sandbox.zygote import child, pins
pins.install()
child.install()
for name in [name for name in sys.modules if name.split(".")[0] == "sandbox"]:
    del sys.modules[name]
child.limit(options["memory_bytes"], options["cpu_seconds"])
child.os.write(options["channel"], b".")  # from now on the program's time counts
child.run(options["channel"], options["channel"])
"""


def _say(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr, flush=True)


class TrustedSandbox(Closing):
    """Runs each program in a process of its own. Runs may overlap, from any threads.

    `say` is told in one line, once, that this is no boundary.
    """

    name = "trusted"
    layers = (LAYER, "a process of its own, with your rights")
    """What stands between a program and this machine."""
    boundary = False
    """Whether the layers are meant to hold a hostile program: never."""

    def __init__(self, say: Callable[[str], None] = _say) -> None:
        self._closed = False
        say(WARNING)

    def warm(self) -> None:
        """Nothing is started ahead."""

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`. Of a program that the policy refuses nothing runs."""
        if self._closed:
            raise SandboxUnavailable("the trusted sandbox was closed; make a new one")
        if (reason := unavailable()) is not None:
            raise SandboxUnavailable(reason)
        violations = review(source)
        if violations:
            return refused(violations, backend=self.name, pins=journal.open())
        return serve(_Process(limits), source, tools, limits=limits, journal=journal, backend=self.name)

    def close(self) -> None:
        """The sandbox cannot be used afterwards. Runs that are under way go on to their end."""
        self._closed = True


def unavailable() -> str | None:
    """Why this machine cannot run it; `None` where it can."""
    if os.name != "posix":
        return f"the trusted sandbox needs Linux or macOS, and this is {sys.platform}; use the docker or monty sandbox"
    return None


class _Process:
    """A process that waits for its program, runs it, and is killed (`sandbox.rpc.Child`)."""

    def __init__(self, limits: Limits) -> None:
        self.channel, theirs = socket.socketpair()
        kept = {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds}
        try:
            self._process = start_inside(_INSIDE, theirs, **kept)
        except SandboxUnavailable:
            self.channel.close()
            raise
        if not self.channel.recv(1):
            self.end()
            raise SandboxUnavailable(f"the trusted sandbox cannot run programs with {sys.executable!r}")

    def end(self) -> Exit:
        """Kill it with what it started."""
        for kill in (os.killpg, os.kill):  # it may not have made its group yet
            with suppress(OSError):
                kill(self._process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self._process.pid, 0)
        self.channel.close()
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        return Exit(code if code >= 0 else None, -code if code < 0 else None, usage.ru_utime + usage.ru_stime)

    def finish(self) -> None:
        """As `end`."""
        self.end()
