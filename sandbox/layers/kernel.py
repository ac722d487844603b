"""System calls that Python's standard library has no function for."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
_libc.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
_libc.unshare.argtypes = [ctypes.c_int]
_fork_syscall = ctypes.PyDLL(None, use_errno=True).syscall
_fork_syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
MNT_DETACH = 2


def prctl(option: int, *arguments: int) -> int:
    """Raises `OSError`, as all here."""
    return checked(_libc.prctl(option, *arguments, *[0] * (4 - len(arguments))), "prctl")


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones."""
    checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount, or change a mount."""
    checked(_libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), "mount")


def unmount(target: str) -> None:
    """Take a mount out of the tree at once; it goes when nobody uses it any more."""
    checked(_libc.umount2(target.encode(), MNT_DETACH), "umount2")


def syscall(number: int, *arguments: object, name: str) -> int:
    """A system call by its number; `name` stands in the error."""
    return checked(_libc.syscall(ctypes.c_long(number), *arguments), name)


def clone(number: int, flags: int) -> int:
    """The system call of that number, Python's lock kept over it; -1 where it fails (`checked` raises then)."""
    nothing = ctypes.c_void_p(None)
    return int(_fork_syscall(ctypes.c_long(number), ctypes.c_ulong(flags), nothing, nothing, nothing, nothing))


def checked(result: int, name: str) -> int:
    """`result`, or the `OSError` that errno tells of when it is negative."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
