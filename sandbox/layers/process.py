"""Restrictions that a process applies to itself and its children.

They concern rights, resources, files and namespaces. All functions raise `OSError` if the system
does not allow the restriction. The last functions of the module make system calls that Python's
standard library does not offer.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import select
import signal
import struct
from collections.abc import Mapping
from pathlib import Path

NOBODY = 65534
FILES = 4
"""Maximum number of descriptors that a program may have open.

They are for the channel, and for the standard streams of some backends."""

# ---- rights and resources


def no_new_privileges() -> None:
    """Prevent this process from getting more rights by executing a file, such as a setuid program.

    Seccomp and Landlock require this.
    """
    call_libc("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def leave_root() -> None:
    """Change to the user `NOBODY` if the process runs as root.

    Raises:
        OSError: the container in which the process runs does not allow it.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def drop_capabilities(machine: str) -> None:
    """Give up all capabilities, including those inside a user namespace.

    `machine` is the architecture, as `platform.machine` names it.
    """
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _syscall("capset", _CAPSET[machine], header, bytes(24))


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent ends. `parent` is a pidfd of the parent."""
    call_libc("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    poll = select.poll()
    poll.register(parent, select.POLLIN)
    if poll.poll(0):  # it ended before we asked
        os._exit(1)


def limit_resources(limits: Mapping[str, float]) -> None:
    """Set the limits that the kernel enforces: memory, processor time, files and processes.

    `limits` contains `memory_bytes` and `cpu_seconds`. The process can then write no files, start
    no processes, and have at most `FILES` descriptors.
    """
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
            soft = min(soft, most)
            hard = min(hard, most)
        resource.setrlimit(what, (soft, hard))


# ---- Landlock: no file, no TCP port, no abstract socket and no process outside may be reached


def landlock_version() -> int:
    """Return the version of the kernel's Landlock interface, or 0 if it has no Landlock."""
    try:
        return _syscall(
            "landlock", _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION)
        )
    except OSError:
        return 0


def deny_files_and_network() -> None:
    """Forbid this process all access to files, and to the network, that Landlock can forbid.

    All versions of Landlock can forbid access to files, newer ones also TCP, and the newest also
    abstract sockets and signals to other processes.
    """
    known = landlock_version()
    files = (1 << _FILE_RIGHTS.get(known, max(_FILE_RIGHTS.values()))) - 1
    network = (1 << _TCP_RIGHTS) - 1 if known >= 4 else 0
    scoped = (1 << _SCOPES) - 1 if known >= 6 else 0
    attributes = struct.pack("=QQQ", files, network, scoped)
    if known < 4:  # older kernels know fewer fields
        attributes = attributes[:8]
    elif known < 6:
        attributes = attributes[:16]
    size = ctypes.c_size_t(len(attributes))
    rules = _syscall("landlock_create_ruleset", _CREATE_RULESET, attributes, size, ctypes.c_uint(0))
    try:
        _syscall("landlock_restrict_self", _RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint(0))
    finally:
        os.close(rules)


# ---- empty namespaces (user, mount, network, IPC, UTS, processes) and an empty read-only root


def enter_namespaces(machine: str) -> None:
    """Move this process into new, empty namespaces, with an empty read-only root directory.

    The process becomes the user `NOBODY`, whose rights are limited to the new namespaces. Each
    child that `fork` creates with `alone` also gets a new process namespace. If an error occurs,
    the process stays in the namespaces that it has entered so far.

    `machine` is the architecture, as `platform.machine` names it.
    """
    uid = os.getuid()
    gid = os.getgid()
    # After a change of user, /proc/self belongs to root until the process is dumpable again.
    call_libc("prctl", _PR_SET_DUMPABLE, 1, 0, 0, 0)
    try:
        call_libc("unshare", _NEWUSER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1", encoding="ascii")
        call_libc("unshare", _NEWNS | _NEWNET | _NEWIPC | _NEWUTS)
        place = next(
            filter(os.path.isdir, (b"/tmp", b"/var", b"/usr", b"/proc"))
        )  # it is covered, not used
        quiet = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
        call_libc("mount", b"none", b"/", b"", _MS_REC | _MS_PRIVATE, b"")
        call_libc("mount", b"none", place, b"tmpfs", quiet, b"size=4k,nr_inodes=2,mode=555")
        os.chdir(place)
        _syscall("pivot_root", _PIVOT_ROOT[machine], b".", b".")
        call_libc("umount2", b".", _MNT_DETACH)
        os.chdir("/")
        call_libc("mount", b"none", b"/", b"", quiet | _MS_REMOUNT | _MS_BIND | _MS_RDONLY, b"")
    finally:
        call_libc("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def fork(machine: str, *, alone: bool, sibling: bool = False) -> int:
    """Fork this process like `os.fork`. Return 0 in the child, and the child's id in this process.

    Args:
        machine: the architecture, as `platform.machine` names it.
        alone: True to give the child a process namespace of its own. When the child ends, the
            kernel then kills all processes that it started.
        sibling: True to make the child a child of this process's parent. Then only the parent can
            wait for it.
    """
    # Python has no clone(). A process of one thread needs only these hooks around the call, which
    # keeps the interpreter's lock.
    ctypes.pythonapi.PyOS_BeforeFork()
    nothing = ctypes.c_void_p(None)
    wanted = (_NEWPID if alone else 0) | (_PARENT if sibling else 0) | signal.SIGCHLD
    number = ctypes.c_long(_CLONE[machine])
    flags = ctypes.c_ulong(wanted)
    pid = int(_syscall_with_lock(number, flags, nothing, nothing, nothing, nothing))
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    return _raise_on_error(pid, "clone")


# ---- system calls

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
_libc.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
_libc.unshare.argtypes = [ctypes.c_int]
_syscall_with_lock = ctypes.PyDLL(None, use_errno=True).syscall
_syscall_with_lock.restype = ctypes.c_long

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PARENT = 0x8000
_NEWNS = 0x20000
_NEWUTS = 0x4000000
_NEWIPC = 0x8000000
_NEWUSER = 1 << 28
_NEWPID = 1 << 29
_NEWNET = 1 << 30
_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_NOEXEC = 8
_MS_REMOUNT = 32
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18  # fmt: skip
_MNT_DETACH = 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}
# Landlock has the same numbers on every architecture.
_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_VERSION = 1
_TCP_RIGHTS = 2
_SCOPES = 2
_FILE_RIGHTS = {
    1: 13,
    2: 14,
    3: 15,
    4: 15,
    5: 16,
}  # number of rights by the interface's version


def call_libc(name: str, *arguments: object) -> int:
    """Call a function of the C library and return its result.

    Raises:
        OSError: the function returned a negative number.
    """
    return _raise_on_error(getattr(_libc, name)(*arguments), name)


def _syscall(name: str, number: int, *arguments: object) -> int:
    """Make a system call for which the C library has no function. `name` is for error messages."""
    return _raise_on_error(_libc.syscall(ctypes.c_long(number), *arguments), name)


def _raise_on_error(result: int, name: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
