"""A seccomp filter that allows a list of system calls and refuses the rest, as a program of the kernel's BPF machine.

Written by hand, with libseccomp as its oracle in the tests: a filter of this kind is sixty instructions, while the
library's binding, pyseccomp, needs a shared object that pip does not install and costs its loading in each start.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Mapping

from sandbox.layers import kernel
from sandbox.layers.syscalls import AUDIT_ARCH

PROT_EXEC = 4
FUTEX_PRIVATE_FLAG = 128
OTHER_CLOCK = 0x80000000
"""The bit of the numbers of clocks that measure a chosen process."""

_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_X32 = 0x40000000
_MODE_FILTER = 2


def program(machine: str, numbers: Mapping[str, int], *, reader: int, writer: int) -> bytes:
    """The filter: `numbers` are allowed, reading and writing on these descriptors alone, memory without execution.

    What would let one program notice another is refused: a `futex` that is not private, which processes share in the
    files that both have mapped, and the clocks of other processes. A refused call fails with EPERM, so that a program
    sees a `PermissionError` on its own line. A call by the numbers of another architecture kills.
    """
    tests = {  # argument, test, value, whether the call is allowed if the test is true; the busiest two first
        "read": (0, _EQUAL, reader, True),
        "write": (0, _EQUAL, writer, True),
        "mmap": (2, _BITS, PROT_EXEC, False),
        "mprotect": (2, _BITS, PROT_EXEC, False),
        "futex": (1, _BITS, FUTEX_PRIVATE_FLAG, True),
        "clock_gettime": (0, _BITS, OTHER_CLOCK, False),
        "clock_getres": (0, _BITS, OTHER_CLOCK, False),
        "clock_nanosleep": (0, _BITS, OTHER_CLOCK, False),
    }
    checks = b"".join(_when(numbers[name], *test) for name, test in tests.items() if name in numbers)
    for name in sorted(numbers.keys() - tests.keys()):
        checks += _jump(_EQUAL, numbers[name], 0, 1) + _return(_ALLOW)
    start = _load(_ARCHITECTURE) + _jump(_EQUAL, AUDIT_ARCH[machine], 1, 0) + _return(_KILL) + _load(_NUMBER)
    if machine == "x86_64":
        start += _jump(_AT_LEAST, _X32, 0, 1) + _return(_KILL)
    return start + checks + _return(_REFUSE)


def install(filter_: bytes) -> None:
    """Put the filter on this process for good. `no_new_privileges` must come before it.

    Raises:
        OSError: the kernel does not let us.
    """
    instructions = ctypes.create_string_buffer(filter_, len(filter_))
    head = struct.pack("@HP", len(filter_) // 8, ctypes.addressof(instructions))
    header = ctypes.create_string_buffer(head, len(head))
    kernel.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header))


def _when(number: int, argument: int, test: int, value: int, allow_if: bool) -> bytes:
    """Allow the call `number` by a test of the low half of one argument; the kernel looks at no more of these."""
    allowed, refused = (0, 1) if allow_if else (1, 0)
    body = _load(_ARGUMENTS + 8 * argument) + _jump(test, value, allowed, refused) + _return(_ALLOW) + _return(_REFUSE)
    return _jump(_EQUAL, number, 0, len(body) // 8) + body


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", test, if_true, if_false, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)
