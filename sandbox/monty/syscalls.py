"""The seccomp filter of an interpreter's process: to load itself, to compute, to talk over its standard streams.

It is on before the interpreter is executed, since that cannot put it on itself; so the loader's calls are in it too,
and files are opened for reading alone (which ones is Landlock's affair).
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Mapping
from typing import NamedTuple

from sandbox.layers.syscalls import AUDIT_ARCH

WRITE_BYTES = 16 << 20
"""The interpreter writes each message at once, so this is how large one can be; the host would take any."""

_LOAD, _EQUAL, _ABOVE, _BITS, _RETURN, _AT_LEAST = 0x20, 0x15, 0x25, 0x45, 0x06, 0x35
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000
_O_WRONLY, _O_RDWR, _O_CREAT, _O_TRUNC = 1, 2, 0o100, 0o1000
_CLONE_THREAD, _PR_SET_NAME, _AT_EMPTY_PATH = 0x10000, 15, 0x1000

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
        "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "access": 21, "sched_yield": 24,
        "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "clone": 56, "exit": 60, "sigaltstack": 131,
        "prctl": 157, "arch_prctl": 158, "gettid": 186, "futex": 202, "sched_getaffinity": 204, "set_tid_address": 218,
        "restart_syscall": 219, "clock_gettime": 228, "clock_nanosleep": 230, "exit_group": 231, "openat": 257,
        "newfstatat": 262, "ppoll": 271, "set_robust_list": 273, "prlimit64": 302, "getrandom": 318, "execveat": 322,
        "rseq": 334, "clone3": 435,
    },
    "aarch64": {
        "faccessat": 48, "openat": 56, "close": 57, "read": 63, "write": 64, "pread64": 67, "ppoll": 73,
        "newfstatat": 79, "fstat": 80, "exit": 93, "exit_group": 94, "set_tid_address": 96, "futex": 98,
        "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_nanosleep": 115,
        "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "prctl": 167, "getpid": 172, "gettid": 178, "brk": 214,
        "munmap": 215, "mremap": 216, "clone": 220, "mmap": 222, "mprotect": 226, "madvise": 233, "prlimit64": 261,
        "getrandom": 278, "execveat": 281, "rseq": 293, "clone3": 435,
    },
}  # fmt: skip


class _Test(NamedTuple):
    """Pass where an argument's low half compares to `value` as told; the high half is looked at where it `matters`."""

    argument: int
    how: int
    value: int
    passes: bool = True
    whole: bool = False


def program(machine: str, numbers: Mapping[str, int], executable: int) -> bytes:
    """The filter as the kernel takes it. Only the descriptor `executable` may be executed, and no process started."""
    tests: dict[str, tuple[_Test, ...]] = {
        "write": (_Test(0, _ABOVE, 2, passes=False), _Test(2, _ABOVE, WRITE_BYTES, passes=False, whole=True)),
        "openat": (_Test(2, _BITS, _O_WRONLY | _O_RDWR | _O_CREAT | _O_TRUNC, passes=False),),
        "clone": (_Test(0, _BITS, _CLONE_THREAD),),
        "prctl": (_Test(0, _EQUAL, _PR_SET_NAME),),
        "execveat": (_Test(0, _EQUAL, executable), _Test(4, _EQUAL, _AT_EMPTY_PATH)),
    }
    body = b""
    for name in sorted(numbers, key=lambda name: name not in ("read", "write", "mprotect", "futex")):
        # Flags of clone3 cannot be seen from here; without it the C library takes clone.
        verdict = _ERRNO | errno.ENOSYS if name == "clone3" else _ALLOW
        body += _when(numbers[name], tests.get(name, ()), verdict)
    start = _load(_ARCHITECTURE) + _jump(_EQUAL, AUDIT_ARCH[machine], 1, 0) + _return(_KILL) + _load(_NUMBER)
    if machine == "x86_64":
        start += _jump(_AT_LEAST, _X32, 0, 1) + _return(_KILL)
    return start + body + _return(_ERRNO | errno.EPERM)


def _when(number: int, tests: tuple[_Test, ...], verdict: int) -> bytes:
    """Give `verdict` for the call `number` where all tests pass, else refuse it."""
    checks = b""
    for test in tests:
        refuse = _return(_ERRNO | errno.EPERM)
        low = _ARGUMENTS + 8 * test.argument
        if test.whole:
            checks += _load(low + 4) + _jump(_EQUAL, 0, 1, 0) + refuse
        checks += _load(low) + _jump(test.how, test.value, *((1, 0) if test.passes else (0, 1))) + refuse
    body = checks + _return(verdict)
    return _jump(_EQUAL, number, 0, len(body) // 8) + body


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", test, if_true, if_false, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)
