"""From fork to program: what a child does to itself, and the rehearsal that shows its parent what it will write.

Standard library alone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from sandbox.layers import privileges
from sandbox.zygote import faults
from sandbox.zygote.layering import CHANNEL, Layering

Run = Callable[[int, int], object]
"""`sandbox.zygote.child.run`."""

_START: dict[str, Any] = {"tools": {}, "limits": {}, "pins": {"seed": 0, "clock": 0.0, "timezone": "UTC"}}


class Birth:
    """All that is the same for every child of one warm process, which must still be able to read /proc."""

    def __init__(self, run: Run, layering: Layering) -> None:
        self._run, self._layering = run, layering
        self._parent = os.pidfd_open(os.getpid())
        self._pages = _rehearse(run)

    def __call__(self, channel: int, limits: Mapping[str, float]) -> NoReturn:
        """Run one program from `channel`, in a child that was forked just now; whatever fails on the way ends it.

        Every layer is there before the first byte from the host is read.
        """
        try:
            faults.populate(self._pages)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            privileges.die_with_parent(self._parent)
            self._layering.on_child()
            if channel != CHANNEL:
                os.dup2(channel, CHANNEL)
            os.closerange(0, CHANNEL)
            os.closerange(CHANNEL + 1, 1 << 30)
            self._layering.last(limits)
            self._run(CHANNEL, CHANNEL)
            os._exit(0)
        finally:
            os._exit(1)


def _rehearse(run: Run) -> faults.Ranges:
    """The pages that a child writes to run a program of one line."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        # A page that we write is the child's alone too when nobody else shares it. This one does, and writes little.
        bystander = os.fork()
        if bystander == 0:
            signal.pause()
        pid = os.fork()
        if pid == 0:
            try:
                run(theirs.fileno(), theirs.fileno())
                theirs.recv(1)  # our pages are looked at meanwhile
            finally:
                os._exit(0)
        theirs.close()
        try:
            ours.sendall(json.dumps({"source": "print(1)", **_START}).encode() + b"\n")
            said = b""
            while b'"done"' not in said and (data := ours.recv(4096)):
                said += data
            return faults.learn(pid)
        except OSError:
            return ()
        finally:
            for child in (pid, bystander):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
