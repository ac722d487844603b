"""Builds and installs a seccomp filter, which allows some system calls and refuses all others.

The filter consists of about sixty BPF instructions, which this module writes itself. It is tested
against a filter of libseccomp. The Python binding of that library, pyseccomp, is not used, because
it needs a shared library that pip does not install, and takes time to load at each start.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Mapping

from sandbox.layers import process

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "read": 0, "write": 1, "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
        "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24,
        "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "exit": 60, "gettimeofday": 96,
        "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "sigaltstack": 131,
        "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219, "clock_gettime": 228,
        "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "ppoll": 271,
        "getrandom": 318,
    },
    "aarch64": {
        "read": 63, "write": 64, "ppoll": 73, "exit": 93, "exit_group": 94, "futex": 98,
        "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115,
        "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "gettimeofday": 169, "getpid": 172,
        "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178, "brk": 214,
        "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233,
        "getrandom": 278,
    },
}  # fmt: skip
"""Numbers of the allowed system calls, keyed by architecture and name.

A program needs these calls for an event loop, timers, memory, its own signal handlers, and existing
descriptors. None of them opens a new descriptor."""

PROT_EXEC = 4
FUTEX_PRIVATE_FLAG = 128
OTHER_CLOCK = 0x80000000  # set in the numbers of other processes' clocks
_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_BITS = 0x45
_RETURN = 0x06
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16  # offsets in struct seccomp_data
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_KILL = 0x80000000
_X32 = 0x40000000
_PR_SET_SECCOMP = 22
_MODE_FILTER = 2


def program(machine: str, numbers: Mapping[str, int], *, reader: int, writer: int) -> bytes:
    """Return the seccomp filter as a sequence of BPF instructions.

    Only one descriptor may be read, and one written. Memory must not be executable. Calls by which
    a program could observe another one are refused: a `futex` that is not private, and the clocks
    of other processes. A refused call fails with EPERM, so Python raises a `PermissionError`. A
    call with a number of another architecture kills the process.

    Args:
        machine: the architecture, as `platform.machine` names it.
        numbers: the numbers of the allowed system calls, keyed by name.
        reader: the descriptor that may be read.
        writer: the descriptor that may be written.
    """
    # Argument, test, value, and whether a true test allows the call. The busiest two come first.
    tests = {
        "read": (0, _EQUAL, reader, True),
        "write": (0, _EQUAL, writer, True),
        "mmap": (2, _BITS, PROT_EXEC, False),
        "mprotect": (2, _BITS, PROT_EXEC, False),
        "futex": (1, _BITS, FUTEX_PRIVATE_FLAG, True),
        "clock_gettime": (0, _BITS, OTHER_CLOCK, False),
        "clock_getres": (0, _BITS, OTHER_CLOCK, False),
        "clock_nanosleep": (0, _BITS, OTHER_CLOCK, False),
    }
    checks = b"".join(
        _allow_if(numbers[name], *test) for name, test in tests.items() if name in numbers
    )
    for name in sorted(numbers.keys() - tests.keys()):
        checks += _jump(_EQUAL, numbers[name], 0, 1) + _return(_ALLOW)
    start = (
        _load(_ARCHITECTURE)
        + _jump(_EQUAL, AUDIT_ARCH[machine], 1, 0)
        + _return(_KILL)
        + _load(_NUMBER)
    )
    if machine == "x86_64":
        start += _jump(_AT_LEAST, _X32, 0, 1) + _return(_KILL)
    return start + checks + _return(_REFUSE)


def install(filter_: bytes) -> None:
    """Apply a seccomp filter to this process. It cannot be removed again.

    `process.no_new_privileges` must be called before.

    Raises:
        OSError: the kernel does not accept the filter.
    """
    instructions = ctypes.create_string_buffer(filter_, len(filter_))
    head = struct.pack("@HP", len(filter_) // 8, ctypes.addressof(instructions))
    header = ctypes.create_string_buffer(head, len(head))
    process.call_libc("prctl", _PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header), 0, 0)


def _allow_if(number: int, argument: int, test: int, value: int, allow_if: bool) -> bytes:
    """Return instructions that allow or refuse a system call, depending on one of its arguments.

    Args:
        number: the number of the system call.
        argument: the index of the argument. Only its low 32 bits are tested.
        test: the BPF jump that compares it with `value`: `_EQUAL`, `_AT_LEAST` or `_BITS`.
        value: the value with which the argument is compared.
        allow_if: the result of the test with which the call is allowed.
    """
    allowed, refused = (0, 1) if allow_if else (1, 0)
    body = (
        _load(_ARGUMENTS + 8 * argument)
        + _jump(test, value, allowed, refused)
        + _return(_ALLOW)
        + _return(_REFUSE)
    )
    return _jump(_EQUAL, number, 0, len(body) // 8) + body


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", test, if_true, if_false, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)
