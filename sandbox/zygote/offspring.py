"""One child of the zygote, as its host sees it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from contextlib import suppress
from typing import Any

from sandbox.errors import SandboxUnavailable
from sandbox.limits import Limits
from sandbox.rpc import Exit

DEATH_SECONDS = 5.0
"""How long a killed child may take to be gone before its zygote counts as lost."""


class ZygoteLost(SandboxUnavailable):
    """The zygote died, or does not answer."""


class ZygoteChild:
    """A process that waits for its program, runs it, and is killed (`sandbox.rpc.Child`).

    `limits` are those that the kernel keeps for it. `alone`: it is in a namespace of processes of its own, so that
    nothing that it started is left when it is dead.
    """

    def __init__(self, channel: socket.socket, status: socket.socket, *, limits: Limits, alone: bool) -> None:
        self.channel = channel
        self.killed = False
        """Whether its run has done with it; it may take a moment to be dead."""
        self._limits, self._alone = limits, alone
        self._status = status
        self._pidfd = -1
        self._told: dict[str, Any] = {}

    def fits(self, limits: Limits) -> bool:
        """Whether it may run a program within `limits`."""
        ours = self._limits
        return (ours.memory_bytes, ours.cpu_seconds) == (limits.memory_bytes, limits.cpu_seconds)

    def await_ready(self) -> None:
        """Wait until it has put on its layers and listens for its program.

        Raises:
            SandboxUnavailable: it cannot be forked.
        """
        self._hear("ready")

    def ready(self) -> bool:
        """Whether it is known, without waiting, to listen for its program and to be alive."""
        return self.alive() and "ready" in self._told

    def alive(self) -> bool:
        """Whether it has not ended, as far as is known without waiting; False once it was let go of."""
        if self.closed:
            return False
        try:
            while _readable(self._status):
                self._receive()
        except SandboxUnavailable:
            return False
        return self._pidfd < 0 or not _readable(self._pidfd)

    @property
    def pid(self) -> int:
        """Its process, 0 while that is not known."""
        return int(self._told.get("pid", 0))

    def interrupt(self) -> None:
        """See `sandbox.rpc.Child`, as for the next two."""
        self._signal(signal.SIGALRM)

    def end(self) -> Exit:
        """Kill it, wait until it and everything that it started is gone, and give how it ended."""
        try:
            self._kill()
            self._hear("status")
            code = int(self._told["status"])
            return Exit(code if code >= 0 else None, -code if code < 0 else None, float(self._told["cpu"]))
        finally:
            self.close()

    def finish(self) -> None:
        """Kill it: not one instruction of it is executed any more. The kernel takes its memory back meanwhile."""
        if self._alone:
            self._kill()
            self.killed = True
        else:
            self.end()

    def close(self) -> None:
        """Let go of it; if it still lives, its zygote ends it."""
        self.channel.close()
        self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self.channel.fileno() < 0

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        with suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)  # the zygote kills it too, and all that it started

    def _signal(self, number: signal.Signals) -> None:
        self._hear("pid")
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, number)

    def _hear(self, what: str) -> None:
        self._status.settimeout(DEATH_SECONDS)
        while what not in self._told:
            self._receive()

    def _receive(self) -> None:
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
        self._told |= message


def _readable(what: int | socket.socket) -> bool:
    poll = select.poll()
    poll.register(what, select.POLLIN)
    return bool(poll.poll(0))
