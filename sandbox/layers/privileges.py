"""Rights and resources that a process gives up for itself and all that it starts."""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import struct
from collections.abc import Mapping

from sandbox.layers import kernel

NOBODY = 65534

FILES = 4
"""Descriptors that a program may have open: the channel, and the standard streams where a backend needs them."""

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


def no_new_privileges() -> None:
    """No program that is executed gives more rights than there are; seccomp and Landlock ask for this."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def leave_root() -> None:
    """Become `NOBODY` where we are root.

    Raises:
        OSError: we may not; a container can forbid it.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def drop_capabilities(machine: str) -> None:
    """Give up every capability, those within a user namespace included."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    kernel.syscall(_CAPSET[machine], header, bytes(24), name="capset")


def die_with_parent(parent: int) -> None:
    """Be killed when the process behind the pidfd `parent`, which forked us, ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    poll = select.poll()
    poll.register(parent, select.POLLIN)
    if poll.poll(0):  # it ended before we asked
        os._exit(1)


def limit_resources(limits: Mapping[str, float]) -> None:
    """Limits that the kernel keeps: `memory_bytes`, `cpu_seconds`, and no files, processes or core dumps."""
    memory = int(limits["memory_bytes"])
    cpu = math.ceil(min(max(limits["cpu_seconds"], 1), 1 << 30))
    for what, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu, cpu + 1),  # the first raises in the program, the second kills it
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, FILES, FILES),
    ):
        _, most = resource.getrlimit(what)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(what, (soft, hard))
