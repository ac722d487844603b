"""The warm process: loads what programs import, and forks a child for each. Standard library alone.

It greets the host with the layers that it could not have. Then it listens on one sequenced-packet socket for messages
`{"memory_bytes", "cpu_seconds"}` with two descriptors: the program's channel, and a socket on which the host is told
how the child fares: `{"pid"}` with a pidfd; `{"ready"}`, from the child; `{"status", "cpu"}`. When the host closes
either that socket or the first one, the children concerned are killed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from sandbox.layers import kernel
from sandbox.zygote import stdlib
from sandbox.zygote.birth import Birth, Run
from sandbox.zygote.layering import Layering


def serve(options: dict[str, Any]) -> NoReturn:
    """Load, put the layers on, greet the host, and fork on request until it is gone."""
    control = socket.socket(fileno=options["control"])
    try:
        layering = Layering(options["without"])
        layering.before_loading()
        with suppress(OSError):  # where each child is alone in a namespace this is not needed
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # what a child leaves behind becomes ours to kill
        birth = Birth(load(options["zones"]), layering)
        layering.after_loading()
    except Exception as error:  # noqa: BLE001 - whatever it is, the host must hear it
        control.send(json.dumps({"failed": f"{type(error).__name__}: {error}"[:2000]}).encode())
        os._exit(1)
    control.send(json.dumps({"missing": layering.missing}).encode())
    if layering.refuses:
        os._exit(1)
    _Server(control, layering, birth).run()
    os._exit(0)


def load(zone_folders: list[str]) -> Run:
    """Load what programs may import and what runs them. Gives the latter; nothing of ours is left to import."""
    stdlib.load(zone_folders)
    from sandbox.zygote import child, loop, pins, threads

    pins.install()
    threads.install()
    loop.install()
    stdlib.leave_files()
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that it marks
    return child.run


class _Server:
    """The event loop: requests, the host's hang-ups, the deaths of children."""

    def __init__(self, control: socket.socket, layering: Layering, birth: Birth) -> None:
        self._control, self._layering, self._birth = control, layering, birth
        self._hosts: dict[int, socket.socket] = {}  # by pid of a living child
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._wake, wake = socket.socketpair()
        for end in (self._wake, wake):
            end.setblocking(False)
        self._wake_writer = wake
        self._poll.register(self._wake, select.POLLIN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._control.fileno():
                    if not self._accept():
                        return
                elif descriptor == self._wake.fileno():
                    self._wake.recv(4096)
                    self._reap()
                else:
                    self._hung_up(descriptor)

    def _accept(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 256, 2)
        if not data:
            for pid in self._hosts:
                _kill_group(pid)
            with suppress(ChildProcessError):
                while True:
                    os.wait()
            if self._layering.may_leave_orphans:
                _sweep(frozenset())
            return False
        if len(descriptors) != 2:  # we are out of descriptors; the host will see its ends closed
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        channel, status = descriptors
        host = socket.socket(fileno=status)
        try:
            pid = self._layering.fork()
        except OSError as error:
            host.send(json.dumps({"error": f"fork: {error.strerror}"}).encode())
            host.close()
            os.close(channel)
            return True
        if pid == 0:
            self._birth(channel, host, json.loads(data))
        os.close(channel)
        self._hosts[pid] = host
        self._poll.register(host, select.POLLIN)
        _announce(host, pid)
        return True

    def _hung_up(self, descriptor: int) -> None:
        for pid, host in self._hosts.items():
            if host.fileno() == descriptor:
                try:
                    host.recv(1, socket.MSG_DONTWAIT)
                except BlockingIOError:  # a newer socket's number, and the event was for one closed just now
                    return
                except OSError:  # it hung up without having heard all
                    pass
                self._poll.unregister(host)
                _kill_group(pid)
                return

    def _reap(self) -> None:
        ended = []
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self._hosts:
                ended.append((pid, status, usage.ru_utime + usage.ru_stime))
        if not ended:
            return
        if self._layering.may_leave_orphans:
            for pid, _, _ in ended:
                _kill_group(pid)
            _sweep(frozenset(self._hosts) - {pid for pid, _, _ in ended})
        for pid, status, cpu in ended:
            host = self._hosts.pop(pid)
            with suppress(KeyError):  # it was taken from the poll when the host hung up
                self._poll.unregister(host)
            with suppress(OSError):
                host.send(json.dumps({"status": os.waitstatus_to_exitcode(status), "cpu": cpu}).encode())
            host.close()


def _announce(host: socket.socket, pid: int) -> None:
    message = json.dumps({"pid": pid}).encode()
    try:
        pidfd = os.pidfd_open(pid)
    except (AttributeError, OSError):  # kernels before 5.3, some sandboxes
        pidfd = -1
    with suppress(OSError):  # when it has hung up already the poll will say so
        socket.send_fds(host, [message], [pidfd] if pidfd >= 0 else [])
    if pidfd >= 0:
        os.close(pidfd)


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # the group does not exist before the child has made it
        with suppress(OSError):
            kill(pid, signal.SIGKILL)


def _sweep(keep: frozenset[int]) -> None:
    """Kill and reap every child of ours but those: orphans of programs, which came to us as their subreaper."""
    while strays := _children() - keep:
        for pid in strays:
            _kill_group(pid)
        for pid in strays:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> set[int]:
    try:
        return set(map(int, Path("/proc/thread-self/children").read_text(encoding="ascii").split()))
    except OSError:
        return set()
