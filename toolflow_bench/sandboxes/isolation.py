"""What keeps a host process from taking the machine with it when a hostile program gets hold of it."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from contextlib import suppress
from typing import NoReturn

CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000


def confine(memory_bytes: int) -> None:
    """Set limits for this process and its descendants, for programs that no sandbox stops."""
    for what, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 1 << 30)):
        _, hard = resource.getrlimit(what)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (value, value))


def isolate() -> None:
    """Go on in a process namespace of our own, out of which no signal reaches the rest of the machine.

    Raises:
        OSError: this machine does not allow it.
    """
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    if unshare(CLONE_NEWPID) != 0 and unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0:
        raise OSError(ctypes.get_errno(), "unshare failed; run it as root, or in a container that may make namespaces")
    for _ in range(2):  # the first child is the namespace's init, which signals from within do not kill
        child = os.fork()
        if child:
            _await(child)


def _await(child: int) -> NoReturn:
    """Pass on how `child` ends, and reap what else becomes ours."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        with suppress(ChildProcessError):
            pid, status = os.wait()
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)
            continue
        time.sleep(0.01)
