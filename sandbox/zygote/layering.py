"""Which layers the warm process and its children put on, in which order. Standard library alone.

A layer that the kernel or a container does not allow is told by name with the reason.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Mapping

from sandbox.layers import landlock, namespaces, privileges, rlimits, seccomp, syscalls
from sandbox.layers.names import REQUIRED, SWITCHED_OFF

CHANNEL = 3
"""The descriptor of the channel in a child, the only one that it has."""


class Layering:
    """The layers of one warm process. `missing` says of each that is not there why."""

    def __init__(self, without: Collection[str]) -> None:
        self.machine = platform.machine()
        self.missing = dict.fromkeys(sorted(without), SWITCHED_OFF)
        self._filter = b""

    @property
    def refuses(self) -> bool:
        """Whether a layer is missing without which nothing runs; one that was switched off is not missed."""
        return any(name in REQUIRED and why != SWITCHED_OFF for name, why in self.missing.items())

    @property
    def may_leave_orphans(self) -> bool:
        """Whether what a child started may outlive it; not where each is alone in a namespace of processes."""
        return "namespaces" in self.missing

    def before_loading(self) -> None:
        """What does not hinder the import of modules."""
        self._put("no_new_privs", privileges.no_new_privileges)

    def after_loading(self) -> None:
        """What takes files and rights from the warm process itself."""
        self._put("user", privileges.leave_root)
        self._put("namespaces", lambda: namespaces.enter(self.machine))
        if "landlock" not in self.missing and landlock.version() == 0:
            self.missing["landlock"] = "this kernel has no Landlock"
        numbers = syscalls.NUMBERS.get(self.machine)
        if numbers is None:
            self.missing.setdefault("seccomp", f"no table of system calls for {self.machine}")
        else:
            self._filter = seccomp.program(self.machine, numbers, reader=CHANNEL, writer=CHANNEL)
            self._put("seccomp", self._try_filter)

    def fork(self) -> int:
        """As `os.fork`; the child is alone in a namespace of processes where there are namespaces."""
        return os.fork() if "namespaces" in self.missing else namespaces.fork(self.machine)

    def on_child(self) -> None:
        """What a child puts on while it still has descriptors to spare."""
        if "landlock" not in self.missing:
            landlock.deny_all()
        if "capabilities" not in self.missing:
            privileges.drop_capabilities(self.machine)

    def last(self, limits: Mapping[str, float]) -> None:
        """What a child puts on last. After it there is only talk with the host."""
        if "limits" not in self.missing:
            rlimits.confine(limits)
        if "seccomp" not in self.missing:
            seccomp.install(self._filter)

    def _put(self, name: str, layer: Callable[[], object]) -> None:
        if name in self.missing:
            return
        try:
            layer()
        except OSError as error:
            self.missing[name] = str(error.strerror or error)

    def _try_filter(self) -> None:
        """Whether a child of ours may have a filter."""
        child = self.fork()
        if child == 0:
            try:
                seccomp.install(self._filter)
                os._exit(0)
            except OSError as error:
                os._exit(error.errno or 255)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise OSError(code, os.strerror(code) if code > 0 else f"the filter killed its test with signal {-code}")
