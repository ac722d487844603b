"""The warm processes: they import what programs use, put the layers on, and fork the children.

The first process sends the host the layers that are missing. Then it listens on a sequenced-packet
socket for messages `{"memory_bytes", "cpu_seconds"}` with two descriptors: the program's channel,
and a socket for reports on the child: `{"pid"}` with a pidfd, and `{"status", "cpu"}` at its end.
When the host closes that socket, the child is killed; when it closes the first one, all are.

A child can read all memory of the process that forked it. So the first process, which knows all
children, forks none of them. A second one, the template, knows none: it gets a channel and limits,
forks, reports the child's number and forgets it. The child becomes a child of the first process,
which alone can wait for it. Standard library alone.
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
from sandbox.zygote.child import stdlib

CHANNEL = 3  # the only descriptor of a child

Run = Callable[[int, int], object]  # `sandbox.zygote.child.runtime.run`


def serve(options: dict[str, Any]) -> NoReturn:
    """Load modules, put the layers on, report to the host, and fork children until the host is
    gone.
    """
    control = socket.socket(fileno=options["channel"])
    try:
        layering = Layering(options["without"])
        layering.apply_layer("no_new_privs", process.no_new_privileges)
        run = load(options["zones"])
        layering.enter()
    except Exception as error:  # noqa: BLE001 - whatever it is, the host must hear it
        control.send(json.dumps({"failed": f"{type(error).__name__}: {error}"[:2000]}).encode())
        # If the host's first request stayed unread, the connection would be reset too early.
        control.recv(1)
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

    Every program can read this process's memory, so nothing of a request may stay in it.
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
    """Run one program in this child, which was just forked. Any error ends it.

    All layers are on before the first byte from the host is read.
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
    """Load the modules that programs may import, and return the function that runs a program.

    Afterwards a program cannot import anything of ours.
    """
    stdlib.load(zone_folders)
    # Imported last, because these two keep functions of other modules before they are patched.
    from sandbox.zygote.child import pins, runtime

    pins.install()
    runtime.install()
    stdlib.leave_files()
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that it marks
    return runtime.run


class Layering:
    """The layers of the warm process and its children.

    `missing` has the reason for each layer that is not in place: the kernel or a container may
    forbid it.
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
        """Give up files and rights of the warm process itself."""
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
        """Fork the process. If there are namespaces, the child gets its own process namespace.

        With `sibling`, the child becomes a child of our parent.
        """
        return process.fork(self.machine, alone="namespaces" not in self.missing, sibling=sibling)

    def apply_to_child(self) -> None:
        """Put on the layers of a child that need spare descriptors."""
        if "landlock" not in self.missing:
            process.deny_files_and_network()
        if "capabilities" not in self.missing:
            process.drop_capabilities(self.machine)

    def apply_last(self, limits: Mapping[str, float]) -> None:
        """Put on the last layers of a child. After them it can only talk to the host."""
        if "limits" not in self.missing:
            process.limit_resources(limits)
        if "seccomp" not in self.missing:
            seccomp.install(self._filter)

    def _try_filter(self) -> None:
        """Check in a child that the filter can be installed.

        Raises:
            OSError: it cannot.
        """
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
    """The event loop: requests, sockets that the host closed, children that ended."""

    def __init__(self, control: socket.socket, template: socket.socket) -> None:
        self._control = control
        self._template = template
        self._children: dict[int, tuple[int, socket.socket]] = {}  # by pidfd, until they are reaped
        self._poll = select.poll()
        for source in (control, template):
            self._poll.register(source, select.POLLIN)

    def listen(self) -> None:
        """Serve the host until it is gone or the template dies.

        Then kill all children and wait for them.
        """
        while all(map(self._handle, [descriptor for descriptor, _ in self._poll.poll()])):
            pass
        self._template.close()  # the template then exits
        for pid, _ in self._children.values():
            _kill_group(pid)
        with suppress(ChildProcessError):
            while True:
                os.wait()

    def _handle(self, descriptor: int) -> bool:
        """Handle one event. Return False if the host or the template is gone."""
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
        """Handle one request. Return False if the host is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 256, 2)
        if not data:
            return False
        if len(descriptors) != 2:  # out of descriptors; the host's ends are closed
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
        with suppress(OSError):  # the poll reports a closed socket
            socket.send_fds(host, [json.dumps({"pid": pid}).encode()], [pidfd])
        return True

    def _kill_released_child(self, descriptor: int) -> None:
        """Kill the child whose socket the host closed.

        It stays in `_children` until it is reaped.
        """
        for pid, host in self._children.values():
            if host.fileno() == descriptor:
                try:
                    host.recv(1, socket.MSG_DONTWAIT)
                except BlockingIOError:  # the event was for a closed socket with the same number
                    return
                except OSError:  # it closed without reading everything
                    pass
                self._poll.unregister(descriptor)
                _kill_group(pid)
                return

    def _reap(self, pidfd: int) -> None:
        """Report the end of a child to the host.

        Its process group is killed first, while the number cannot belong to another process.
        """
        ended = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:  # the event was for another child with the same number
            return
        pid, host = self._children.pop(pidfd)
        _kill_group(pid)
        _, status, usage = os.wait4(pid, 0)
        for descriptor in (pidfd, host.fileno()):
            with suppress(KeyError):  # removed when the host closed it
                self._poll.unregister(descriptor)
        os.close(pidfd)
        cpu = usage.ru_utime + usage.ru_stime
        with suppress(OSError):
            host.send(
                json.dumps({"status": os.waitstatus_to_exitcode(status), "cpu": cpu}).encode()
            )
        host.close()


def _kill_group(pid: int) -> None:
    """Kill a child that was not reaped, and its process group, which it may not have made yet."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)
