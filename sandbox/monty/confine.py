"""The layers of the operating system around an interpreter's process, put on right before it is executed.

Required: no new privileges, seccomp, limits, no capabilities. Besides, where the system allows them: an unprivileged
user, namespaces without network, Landlock. Standard library and `sandbox.layers` alone.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Callable, Collection, Sequence

from sandbox.layers import kernel, landlock, privileges, seccomp
from sandbox.layers.names import REQUIRED, SWITCHED_OFF
from sandbox.monty import syscalls

ADDRESS_SPACE_BYTES = 4 * 2**30
"""Room for one interpreter: its own limit on a program's memory is far below."""

FILES = 16

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1  # the same on every architecture
_EXECUTE, _READ_FILE = 1, 4
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files the kernel knows, by the version of Landlock; two over TCP from 4, two scopes from 6."""


def confine(
    executable: int, files: Sequence[str], without: Collection[str], report: Callable[[dict[str, str]], object]
) -> dict[str, str]:
    """Put the layers on this process, which may then do no more than execute the descriptor `executable`.

    `files` may be read and executed: the loader and the libraries. Gives the layers that are not there, with the
    reason; `report` is told of them before the last one, after which only the standard streams can be written to.
    """
    machine = platform.machine()
    missing = dict.fromkeys(sorted(without), SWITCHED_OFF)
    if "no_new_privs" in missing:  # both may be put on by a process without rights only behind it
        missing |= dict.fromkeys(("landlock", "seccomp"), SWITCHED_OFF)
    opened = [executable, *(os.open(path, os.O_PATH | os.O_CLOEXEC) for path in files)]

    def put(name: str, layer: Callable[[], object]) -> None:
        if name in missing:
            return
        try:
            layer()
        except OSError as error:
            missing[name] = str(error.strerror or error)

    put("no_new_privs", privileges.no_new_privileges)
    put("user", privileges.leave_root)
    put("namespaces", _leave_namespaces)
    put("landlock", lambda: _allow_files(opened))
    put("capabilities", lambda: privileges.drop_capabilities(machine))
    put("limits", _limit)
    report(missing)
    numbers = syscalls.NUMBERS.get(machine)
    if numbers is None:
        missing.setdefault("seccomp", f"no table of system calls for {machine}")
    else:
        put("seccomp", lambda: seccomp.install(syscalls.program(machine, numbers, executable)))
    return missing


def refuses(missing: dict[str, str]) -> bool:
    """Whether a layer is missing without which nothing runs; one that was switched off is not missed."""
    return any(name in REQUIRED and why != SWITCHED_OFF for name, why in missing.items())


def _leave_namespaces() -> None:
    """No network, nobody to talk to, no rights outside; files are Landlock's affair, since the loader reads some."""
    uid, gid = os.getuid(), os.getgid()
    # After a change of user our own files under /proc belong to root until we may be looked at again.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{privileges.NOBODY} {uid} 1")
        _write("/proc/self/gid_map", f"{privileges.NOBODY} {gid} 1")
        kernel.unshare(kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS)
    finally:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _write(path: str, text: str) -> None:
    # Not a text file: the codec may have to be loaded, from where this process cannot read any more.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _allow_files(opened: Sequence[int]) -> None:
    """Forbid all that this kernel's Landlock knows of, but to read and execute these files."""
    version = landlock.version()
    if version == 0:
        raise OSError("this kernel has no Landlock")
    rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("=QQQ", rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = ctypes.c_size_t(8 if version < 4 else 16 if version < 6 else 24)
    rules = kernel.syscall(_CREATE_RULESET, attributes, size, ctypes.c_uint(0), name="landlock_create_ruleset")
    try:
        for descriptor in opened:
            rule = struct.pack("=Qi", _EXECUTE | _READ_FILE, descriptor)
            kernel.syscall(
                _ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0),
                name="landlock_add_rule",
            )  # fmt: skip
        kernel.syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint(0), name="landlock_restrict_self")
    finally:
        os.close(rules)


def _limit() -> None:
    for what, most in (
        (resource.RLIMIT_AS, ADDRESS_SPACE_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, FILES),
    ):
        # No limit on processes: the system counts a user's in all places together, and seccomp allows threads alone.
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard), min(most, hard)))
