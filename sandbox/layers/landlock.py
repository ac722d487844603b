"""Landlock: no file, no TCP port, no abstract socket and no process outside may be reached."""

from __future__ import annotations

import ctypes
import os
import struct

from sandbox.layers import kernel

# The same numbers on every architecture.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files the kernel knows, by the version of its interface."""
_TCP_RIGHTS, _SCOPES = 2, 2


def version() -> int:
    """The version of the kernel's interface, 0 where it has none."""
    try:
        return kernel.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION), name="landlock")
    except OSError:
        return 0


def deny_all() -> None:
    """Forbid all that this kernel's Landlock knows of, by rules that allow nothing.

    Raises:
        OSError: the kernel has no Landlock, or does not let us.
    """
    known = version()
    files = (1 << _FILE_RIGHTS.get(known, max(_FILE_RIGHTS.values()))) - 1
    network = (1 << _TCP_RIGHTS) - 1 if known >= 4 else 0
    scoped = (1 << _SCOPES) - 1 if known >= 6 else 0
    attributes = struct.pack("=QQQ", files, network, scoped)[: 8 if known < 4 else 16 if known < 6 else 24]
    size = ctypes.c_size_t(len(attributes))
    rules = kernel.syscall(_CREATE_RULESET, attributes, size, ctypes.c_uint(0), name="landlock_create_ruleset")
    try:
        kernel.syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint(0), name="landlock_restrict_self")
    finally:
        os.close(rules)
