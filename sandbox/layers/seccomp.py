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

_LOAD, _EQUAL, _AT_LEAST, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_X32 = 0x40000000
_MODE_FILTER = 2


def program(machine: str, numbers: Mapping[str, int], *, reader: int, writer: int) -> bytes:
    """The filter: `numbers` are allowed, reading and writing on these descriptors alone, memory without execution.

    A refused call fails with EPERM, so that a program sees a `PermissionError` on its own line. A call by the
    numbers of another architecture kills.
    """
    checks = b""
    for name in sorted(numbers, key=lambda name: name not in ("read", "write")):  # the busiest two first
        if name in ("read", "write"):
            descriptor = reader if name == "read" else writer
            checks += _when(numbers[name], argument=0, test=_EQUAL, value=descriptor, allow_if=True)
        elif name in ("mmap", "mprotect"):
            checks += _when(numbers[name], argument=2, test=_BITS, value=PROT_EXEC, allow_if=False)
        else:
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


def _when(number: int, *, argument: int, test: int, value: int, allow_if: bool) -> bytes:
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
