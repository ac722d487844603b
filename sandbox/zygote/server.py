"""The zygote: imports the modules that programs use, applies the layers, and forks children.

It consists of two processes. The first one sends the names of missing layers to the host. Then it
waits for requests `{"memory_bytes", "cpu_seconds"}` on a sequenced-packet socket. Each request has
two descriptors: the channel of the program, and a socket for reports on the child. The reports are
`{"pid"}` with a pidfd when the child starts, and `{"status", "cpu"}` when it has ended. If the host
closes the socket for reports, the child is killed. If it closes the socket for requests, all
children are killed.

A child can read all memory of the process that forked it. So the first process, which knows all
children, forks none of them. A second process, the template, does this: it gets a channel and
limits, forks, reports the child's process id, and keeps no data about the child. The child becomes
a child of the first process, and only this one can wait for it. This module imports only the
standard library.
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
    """Run the zygote: load modules, apply restrictions (layers), and fork children for the host.

    It reports to the host when it is ready, and ends when the host closes its end of the socket.
    `options` come from the host.
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
    """Fork the template process, which forks the children for programs.

    Return the socket for requests to it.
    """
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
    """Run the template process: fork a child for each request, until the first process ends.

    Every program can read the template's memory, so no data of a request may remain in it.
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
    """Run one program in a child process that was just forked. Any error ends the process.

    All restrictions (layers) are active before the first byte from the host is read.
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

    Afterwards a program cannot import modules of the package `sandbox`.
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
    """Applies the layers (restrictions by the operating system) to the zygote and its children.

    `missing` maps the name of each layer that is not active to the reason. For example, the kernel
    does not have it, or a container does not allow it.
    """

    def __init__(self, without: Collection[str]) -> None:
        self.machine = platform.machine()
        self.missing = dict.fromkeys(sorted(without), SWITCHED_OFF)
        self._filter = b""

    def apply_layer(self, name: str, layer: Callable[[], object]) -> None:
        """Apply a layer, that is, a restriction, to this process by calling `layer`.

        Do nothing if the layer is switched off. If the call raises `OSError`, store the reason in
        `missing`.
        """
        if name in self.missing:
            return
        try:
            layer()
        except OSError as error:
            self.missing[name] = str(error.strerror or error)

    def enter(self) -> None:
        """Apply the restrictions of the zygote itself.

        It gives up its rights and its access to files. Find out whether Landlock and seccomp are
        available for its children.
        """
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
        """Fork this process. Return 0 in the child, and the child's id in this process.

        If namespaces are available, the child gets a process namespace of its own. If `sibling` is
        True, it becomes a child of this process's parent.
        """
        return process.fork(self.machine, alone="namespaces" not in self.missing, sibling=sibling)

    def apply_to_child(self) -> None:
        """Apply the restrictions that a child must apply while it can still open descriptors."""
        if "landlock" not in self.missing:
            process.deny_files_and_network()
        if "capabilities" not in self.missing:
            process.drop_capabilities(self.machine)

    def apply_last(self, limits: Mapping[str, float]) -> None:
        """Apply the last restrictions to a child.

        After this it can only communicate with the host.
        """
        if "limits" not in self.missing:
            process.limit_resources(limits)
        if "seccomp" not in self.missing:
            seccomp.install(self._filter)

    def _try_filter(self) -> None:
        """Check that the seccomp filter can be installed, by installing it in a child.

        Raises:
            OSError: the filter cannot be installed.
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
    """The event loop of the zygote's first process.

    It handles requests of the host, sockets that the host closed, and children that ended.
    """

    def __init__(self, control: socket.socket, template: socket.socket) -> None:
        self._control = control
        self._template = template
        self._children: dict[int, tuple[int, socket.socket]] = {}  # keyed by pidfd, until reaped
        self._poll = select.poll()
        for source in (control, template):
            self._poll.register(source, select.POLLIN)

    def listen(self) -> None:
        """Handle events until the host closes its socket or the template process ends.

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
        """Handle one event. Return False if the zygote must end.

        It must end if the host closed its socket or the template process has ended. `descriptor` is
        the descriptor that has become readable.
        """
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
        """Handle one request of the host: let the template process fork a child, and report it.

        Return False if the host closed its socket or the template has ended.
        """
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
        """Kill the child whose socket for reports the host closed.

        It stays in `_children` until `_reap` is called for it.
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
        """Wait for a child that has ended, and report its end to the host.

        `pidfd` is the descriptor of the child. Its process group is killed first: until the child
        is waited for, its process id cannot belong to another process.
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
    """Kill a child and its process group, if the child has created one.

    The child must not have been waited for, or its process id may belong to another process.
    """
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)
