"""The warm processes: they load what programs import, put the layers on, and fork a child for each program.

The first one greets the host with the layers that it could not have. Then it listens on one sequenced-packet socket for
messages `{"memory_bytes", "cpu_seconds"}` with two descriptors: the program's channel, and a socket on which the host
is told how the child fares: `{"pid"}` with a pidfd, and `{"status", "cpu"}` at its end. When the host closes either
that socket or the first one, the children concerned are killed.

A child can read all memory of the process that forked it. So the first process, which knows of all children, forks none
of them: it has them forked by a second one, the template, which knows of none. The template gets a channel and limits,
forks, says the child's number and forgets it; the child is the first process's by parentage, which alone hears of its
end. Standard library alone.
"""

from __future__ import annotations

import errno
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
        layering.apply_layer("no_new_privs", process.no_new_privileges)
        run = load(options["zones"])
        layering.enter()
    except Exception as error:  # noqa: BLE001 - whatever it is, the host must hear it
        control.send(json.dumps({"failed": f"{type(error).__name__}: {error}"[:2000]}).encode())
        control.recv(
            1
        )  # the host's first request: left unread, it would reset the connection before this is heard
        os._exit(1)
    if any(name in REQUIRED and why != SWITCHED_OFF for name, why in layering.missing.items()):
        control.send(json.dumps({"missing": layering.missing}).encode())
        control.recv(1)
        os._exit(1)
    template = _start_template(control, layering, run)
    control.send(json.dumps({"missing": layering.missing}).encode())
    _Server(control, template).listen()
    os._exit(0)


def _start_template(control: socket.socket, layering: Layering, run: Run) -> socket.socket:
    """Fork the template, and return the socket over which it is asked for children."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parent = os.pidfd_open(os.getpid())
    if os.fork() == 0:
        try:
            process.die_with_parent(parent)
            ours.close()
            control.close()
            _be_template(theirs, parent, layering, run)
        finally:
            os._exit(1)
    theirs.close()
    os.close(parent)
    return ours


def _be_template(requests: socket.socket, parent: int, layering: Layering, run: Run) -> None:
    """Fork a child for each request, until the first process is gone.

    What is kept here every program can read: nothing of a request may stay.
    """
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 256, 1)
        if not data:
            return
        channel = descriptors[0]
        try:
            number = layering.fork()
        except OSError as error:
            number = -(error.errno or errno.EAGAIN)
        if number == 0:
            _be_child(channel, json.loads(data), parent, layering, run)
        os.close(channel)
        requests.send(number.to_bytes(4, "little", signed=True))


def _be_child(
    channel: int, limits: Mapping[str, float], parent: int, layering: Layering, run: Run
) -> NoReturn:
    """Run one program in this child, which was forked just now; whatever fails on the way ends it.

    Every layer is on before the first byte from the host is read.
    """
    try:
        os.setsid()
        process.die_with_parent(parent)
        layering.apply_to_child()
        if channel != CHANNEL:
            os.dup2(channel, CHANNEL)
        os.closerange(0, CHANNEL)
        os.closerange(CHANNEL + 1, 1 << 30)
        layering.apply_last(limits)
        run(CHANNEL, CHANNEL)
        os._exit(0)
    finally:
        os._exit(1)


def load(zone_folders: list[str]) -> Run:
    """Load what programs may import and what runs them. Gives the latter; nothing of ours is left to import."""
    stdlib.load(zone_folders)
    from sandbox.zygote import (
        child,
        pins,
    )  # after what programs import, of which they keep what is not patched yet

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

    def apply_layer(self, name: str, layer: Callable[[], object]) -> None:
        """Put a layer on this process, unless it is switched off."""
        if name in self.missing:
            return
        try:
            layer()
        except OSError as error:
            self.missing[name] = str(error.strerror or error)

    def enter(self) -> None:
        """What takes files and rights from the warm process itself."""
        self.apply_layer("user", process.leave_root)
        self.apply_layer("namespaces", lambda: process.enter_namespaces(self.machine))
        if process.landlock_version() == 0:
            self.missing.setdefault("landlock", "this kernel has no Landlock")
        numbers = seccomp.NUMBERS.get(self.machine)
        if numbers is None:
            self.missing.setdefault("seccomp", f"no table of system calls for {self.machine}")
        else:
            self._filter = seccomp.program(self.machine, numbers, reader=CHANNEL, writer=CHANNEL)
            self.apply_layer("seccomp", self._try_filter)

    def fork(self, *, sibling: bool = True) -> int:
        """Fork; the child is alone in a namespace of processes where there are namespaces.

        A `sibling` is a child of our parent.
        """
        return process.fork(self.machine, alone="namespaces" not in self.missing, sibling=sibling)

    def apply_to_child(self) -> None:
        """What a child puts on while it still has descriptors to spare."""
        if "landlock" not in self.missing:
            process.deny_files_and_network()
        if "capabilities" not in self.missing:
            process.drop_capabilities(self.machine)

    def apply_last(self, limits: Mapping[str, float]) -> None:
        """What a child puts on last. After it there is only talk with the host."""
        if "limits" not in self.missing:
            process.limit_resources(limits)
        if "seccomp" not in self.missing:
            seccomp.install(self._filter)

    def _try_filter(self) -> None:
        """Raise `OSError` where a child of ours may not have a filter."""
        child = self.fork(sibling=False)
        if child == 0:
            try:
                seccomp.install(self._filter)
                os._exit(0)
            except OSError as error:
                os._exit(error.errno or 255)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise OSError(
                code,
                os.strerror(code)
                if code > 0
                else f"the filter killed its test with signal {-code}",
            )


class _Server:
    """The event loop: requests, the host's hang-ups, the deaths of children."""

    def __init__(self, control: socket.socket, template: socket.socket) -> None:
        self._control = control
        self._template = template
        self._children: dict[int, tuple[int, socket.socket]] = {}  # by pidfd, until they are reaped
        self._poll = select.poll()
        for source in (control, template):
            self._poll.register(source, select.POLLIN)

    def listen(self) -> None:
        """Serve the host until it hangs up, or the template dies; then kill all, and wait until nothing is left."""
        while all(map(self._handle, [descriptor for descriptor, _ in self._poll.poll()])):
            pass
        self._template.close()  # at this the template exits
        for pid, _ in self._children.values():
            _kill_group(pid)
        with suppress(ChildProcessError):
            while True:
                os.wait()

    def _handle(self, descriptor: int) -> bool:
        """Handle one event. False at the end of the host or the template."""
        if descriptor in self._children:
            self._reap(descriptor)
        elif descriptor == self._control.fileno():
            return self._accept()
        elif descriptor == self._template.fileno():
            return False
        else:
            self._kill_released_child(descriptor)
        return True

    def _accept(self) -> bool:
        """Take one request. False when the host is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 256, 2)
        if not data:
            return False
        if len(descriptors) != 2:  # we are out of descriptors; the host will see its ends closed
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        channel = descriptors[0]
        host = socket.socket(fileno=descriptors[1])
        answer = b""
        with suppress(OSError):  # the template is dead
            socket.send_fds(self._template, [data], [channel])
            answer = self._template.recv(4)
        os.close(channel)
        if not answer:
            return False
        pid = int.from_bytes(answer, "little", signed=True)
        if pid < 0:
            host.send(json.dumps({"error": f"fork: {os.strerror(-pid)}"}).encode())
            host.close()
            return True
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = pid, host
        for source in (pidfd, host.fileno()):
            self._poll.register(source, select.POLLIN)
        with suppress(OSError):  # when it has hung up already the poll will say so
            socket.send_fds(host, [json.dumps({"pid": pid}).encode()], [pidfd])
        return True

    def _kill_released_child(self, descriptor: int) -> None:
        """The host lets go of a child: kill it. It stays in `_children` until it is reaped."""
        for pid, host in self._children.values():
            if host.fileno() == descriptor:
                try:
                    host.recv(1, socket.MSG_DONTWAIT)
                except (
                    BlockingIOError
                ):  # a newer socket's number, and the event was for one closed just now
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
            host.send(
                json.dumps({"status": os.waitstatus_to_exitcode(status), "cpu": cpu}).encode()
            )
        host.close()


def _kill_group(pid: int) -> None:
    """Kill a child that was not reaped, and all of its process group, which it may not have made yet."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)
