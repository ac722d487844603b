"""User, mount, network, IPC, UTS and process namespaces with nothing in them, and an empty read-only root."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

from sandbox.layers import kernel
from sandbox.layers.privileges import NOBODY

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}


def enter(machine: str) -> None:
    """Leave the host's namespaces, as an unprivileged user: `NOBODY` inside, with rights over what is inside alone.

    Children that `fork` makes are in namespaces of processes of their own besides.

    Raises:
        OSError: the system does not allow it. What was entered until then stays entered; it holds nothing.
    """
    uid, gid = os.getuid(), os.getgid()
    # After a change of user our own files under /proc belong to root until we may be looked at again.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1", encoding="ascii")
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS)
        _empty_root(machine)
    finally:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def fork(machine: str) -> int:
    """As `os.fork`, with the child alone in a namespace of processes: when it dies, all that it started dies too.

    Raises:
        OSError: the system does not allow it, or has no room.
    """
    # Python has no clone(). A process of one thread needs no more than this around it.
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = kernel.clone(_CLONE[machine], kernel.CLONE_NEWPID | signal.SIGCHLD)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    return kernel.checked(pid, "clone")


def _empty_root(machine: str) -> None:
    place = next(path for path in ("/tmp", "/var", "/usr", "/proc") if Path(path).is_dir())  # noqa: S108 - hidden, not used
    quiet = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("none", place, "tmpfs", quiet, "size=4k,nr_inodes=2,mode=555")
    os.chdir(place)
    kernel.syscall(_PIVOT_ROOT[machine], b".", b".", name="pivot_root")
    kernel.unmount(".")
    os.chdir("/")
    kernel.mount("none", "/", "", quiet | kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)
