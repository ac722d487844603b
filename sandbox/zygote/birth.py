"""From fork to program: what a child does to itself. Standard library alone."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Mapping
from typing import NoReturn

from sandbox.layers import privileges
from sandbox.zygote.layering import CHANNEL, Layering

Run = Callable[[int, int], object]
"""`sandbox.zygote.child.run`."""


class Birth:
    """All that is the same for every child of one warm process."""

    def __init__(self, run: Run, layering: Layering) -> None:
        self._run, self._layering = run, layering
        self._parent = os.pidfd_open(os.getpid())

    def __call__(self, channel: int, host: socket.socket, limits: Mapping[str, float]) -> NoReturn:
        """Run one program from `channel`, in a child that was forked just now; whatever fails on the way ends it.

        `host` is told when there is nothing left to do before the program comes.

        Every layer is there before the first byte from the host is read.
        """
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            privileges.die_with_parent(self._parent)
            self._layering.on_child()
            told = os.dup(host.fileno()) if host.fileno() == CHANNEL else host.fileno()
            if channel != CHANNEL:
                os.dup2(channel, CHANNEL)
            os.write(told, b'{"ready": true}')
            os.closerange(0, CHANNEL)
            os.closerange(CHANNEL + 1, 1 << 30)
            self._layering.last(limits)
            self._run(CHANNEL, CHANNEL)
            os._exit(0)
        finally:
            os._exit(1)
