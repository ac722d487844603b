"""The warm process: loads what programs import, puts the layers on, and forks a child for each program.

It greets the host with the layers that it could not have. Then it listens on one sequenced-packet socket for messages
`{"memory_bytes", "cpu_seconds"}` with two descriptors: the program's channel, and a socket on which the host is told
how the child fares: `{"pid"}` with a pidfd, and `{"status", "cpu"}` at its end. When the host closes either that socket
or the first one, the children concerned are killed. Standard library alone.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.layers import process, seccomp
from sandbox.layers.names import REQUIRED, SWITCHED_OFF
from sandbox.zygote import stdlib

CHANNEL = 3  # the descriptor of the channel in a child, the only one that it has

Run = Callable[[int, int], object]  # `sandbox.zygote.child.run`


def serve(options: dict[str, Any]) -> NoReturn:
    """Load, put the layers on, greet the host, and fork on request until it is gone."""
    control = socket.socket(fileno=options["channel"])
    try:
        layering = Layering(options["without"])
        layering.put("no_new_privs", process.no_new_privileges)
        run = load(options["zones"])
        layering.enter()
    except Exception as error:  # noqa: BLE001 - whatever it is, the host must hear it
        control.send(json.dumps({"failed": f"{type(error).__name__}: {error}"[:2000]}).encode())
        control.recv(1)  # the host's first request: left unread, it would reset the connection before this is heard
        os._exit(1)
    control.send(json.dumps({"missing": layering.missing}).encode())
    if any(name in REQUIRED and why != SWITCHED_OFF for name, why in layering.missing.items()):
        control.recv(1)
        os._exit(1)
    _Server(control, layering, run).listen()
    os._exit(0)


def load(zone_folders: list[str]) -> Run:
    """Load what programs may import and what runs them. Gives the latter; nothing of ours is left to import."""
    stdlib.load(zone_folders)
    from sandbox.zygote import child, pins  # after what programs import, of which they keep what is not patched yet

    pins.install()
    child.install()
    stdlib.leave_files()
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that it marks
    return child.run


class Layering:
    """The layers of one warm process and of its children.

    `missing` says of each layer that is not there why: a kernel or a container may not allow it.
    """

    def __init__(self, without: Collection[str]) -> None:
        self.machine = platform.machine()
        self.missing = dict.fromkeys(sorted(without), SWITCHED_OFF)
        self._filter = b""

    def put(self, name: str, layer: Callable[[], object]) -> None:
        """Put a layer on this process, unless it is switched off."""
        if name in self.missing:
            return
        try:
            layer()
        except OSError as error:
            self.missing[name] = str(error.strerror or error)

    def enter(self) -> None:
        """What takes files and rights from the warm process itself."""
        self.put("user", process.leave_root)
        self.put("namespaces", lambda: process.enter_namespaces(self.machine))
        if process.landlock_version() == 0:
            self.missing.setdefault("landlock", "this kernel has no Landlock")
        numbers = seccomp.NUMBERS.get(self.machine)
        if numbers is None:
            self.missing.setdefault("seccomp", f"no table of system calls for {self.machine}")
        else:
            self._filter = seccomp.program(self.machine, numbers, reader=CHANNEL, writer=CHANNEL)
            self.put("seccomp", self._try_filter)

    def fork(self) -> int:
        """As `os.fork`; the child is alone in a namespace of processes where there are namespaces."""
        return os.fork() if "namespaces" in self.missing else process.fork_alone(self.machine)

    def on_child(self) -> None:
        """What a child puts on while it still has descriptors to spare."""
        if "landlock" not in self.missing:
            process.deny_files_and_network()
        if "capabilities" not in self.missing:
            process.drop_capabilities(self.machine)

    def last(self, limits: Mapping[str, float]) -> None:
        """What a child puts on last. After it there is only talk with the host."""
        if "limits" not in self.missing:
            process.limit_resources(limits)
        if "seccomp" not in self.missing:
            seccomp.install(self._filter)

    def _try_filter(self) -> None:
        """Raise `OSError` where a child of ours may not have a filter."""
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


class _Server:
    """The event loop: requests, the host's hang-ups, the deaths of children."""

    def __init__(self, control: socket.socket, layering: Layering, run: Run) -> None:
        self._control, self._layering, self._run = control, layering, run
        self._self = os.pidfd_open(os.getpid())
        self._children: dict[int, tuple[int, socket.socket]] = {}  # by pidfd, until they are reaped
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def listen(self) -> None:
        """Serve the host until it hangs up; then kill every child, and wait until none is left."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._children:
                    self._reap(descriptor)
                elif descriptor != self._control.fileno():
                    self._hung_up(descriptor)
                elif not self._accept():
                    for pid, _ in self._children.values():
                        _kill_group(pid)
                    with suppress(ChildProcessError):
                        while True:
                            os.wait()
                    return

    def _accept(self) -> bool:
        """Take one request. False when the host is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 256, 2)
        if not data:
            return False
        if len(descriptors) != 2:  # we are out of descriptors; the host will see its ends closed
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        channel, host = descriptors[0], socket.socket(fileno=descriptors[1])
        try:
            pid = self._layering.fork()
        except OSError as error:
            host.send(json.dumps({"error": f"fork: {error.strerror}"}).encode())
            host.close()
            os.close(channel)
            return True
        if pid == 0:
            self._be_child(channel, json.loads(data))
        os.close(channel)
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid, host
        for source in (pidfd, host.fileno()):
            self._poll.register(source, select.POLLIN)
        with suppress(OSError):  # when it has hung up already the poll will say so
            socket.send_fds(host, [json.dumps({"pid": pid}).encode()], [pidfd])
        return True

    def _be_child(self, channel: int, limits: Mapping[str, float]) -> NoReturn:
        """Run one program in this child, which was forked just now; whatever fails on the way ends it.

        Every layer is on before the first byte from the host is read.
        """
        try:
            os.setsid()
            process.die_with_parent(self._self)
            self._layering.on_child()
            if channel != CHANNEL:
                os.dup2(channel, CHANNEL)
            os.closerange(0, CHANNEL)
            os.closerange(CHANNEL + 1, 1 << 30)
            self._layering.last(limits)
            self._run(CHANNEL, CHANNEL)
            os._exit(0)
        finally:
            os._exit(1)

    def _hung_up(self, descriptor: int) -> None:
        """The host lets go of a child: kill it. It stays in `_children` until it is reaped."""
        for pid, host in self._children.values():
            if host.fileno() == descriptor:
                try:
                    host.recv(1, socket.MSG_DONTWAIT)
                except BlockingIOError:  # a newer socket's number, and the event was for one closed just now
                    return
                except OSError:  # it hung up without having heard all
                    pass
                self._poll.unregister(descriptor)
                _kill_group(pid)
                return

    def _reap(self, pidfd: int) -> None:
        """Tell the host of a child that ended. Its group is killed before its number may be somebody else's."""
        ended = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:  # a newer child's number, as above
            return
        pid, host = self._children.pop(pidfd)
        _kill_group(pid)
        _, status, usage = os.wait4(pid, 0)
        for descriptor in (pidfd, host.fileno()):
            with suppress(KeyError):  # it was taken from the poll when the host hung up
                self._poll.unregister(descriptor)
        os.close(pidfd)
        cpu = usage.ru_utime + usage.ru_stime
        with suppress(OSError):
            host.send(json.dumps({"status": os.waitstatus_to_exitcode(status), "cpu": cpu}).encode())
        host.close()


def _kill_group(pid: int) -> None:
    """Kill a child that was not reaped, and all of its process group, which it may not have made yet."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)
