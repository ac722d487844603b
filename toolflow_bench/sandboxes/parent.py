"""A host process's line to the measurement that started it. Standard library alone."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
from json import dumps, loads  # by name: a program that gets here may replace what the module holds
from typing import Any

PR_SET_PDEATHSIG = 1


class Parent:
    """JSON lines over one descriptor. Each of ours carries the nonce of the order, which a forger does not know."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        prctl = ctypes.CDLL(None).prctl
        prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # nobody is to hear of anything when the parent is gone
        self._channel = socket.socket(fileno=descriptor)
        self._reader = self._channel.makefile("r", encoding="utf-8")
        self.order: dict[str, Any] = loads(self._reader.readline())
        """What is to be done."""

    def tell(self, **message: Any) -> None:
        """Send one message."""
        line = dumps({"nonce": self.order["nonce"], **message}) + "\n"
        self._channel.sendall(line.encode("utf-8"))

    def await_word(self, sandbox: object) -> None:
        """Answer questions about the sandbox's waiting processes until the word comes to go on."""
        while "spares" in loads(self._reader.readline()):
            self.tell(spares=list(getattr(sandbox, "spare_pids", list)()))
