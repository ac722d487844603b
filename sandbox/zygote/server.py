"""The warm process: preloads what programs import, and forks a child for each. Standard library alone.

It listens on one sequenced-packet socket for messages with two descriptors: the program's channel, and a socket on
which it tells the host how the child fares (`{"pid"}` with a pidfd, then `{"status", "cpu"}`). When the host closes
either that socket or the first one, the children concerned are killed.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

PRELOADED = (  # noqa: SIM905 - a hundred names in quotes would fill two screens
    "_strptime abc array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections.abc "
    "colorsys concurrent.futures contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal "
    "difflib email.utils enum fractions functools gc getpass gettext glob graphlib hashlib heapq hmac html "
    "html.entities html.parser http inspect io ipaddress itertools json keyword linecache locale logging math "
    "mimetypes numbers operator os os.path pathlib pickle pprint queue quopri random re resource reprlib "
    "secrets shlex shutil signal stat statistics string stringprep struct sys tempfile textwrap threading time "
    "timeit token tokenize traceback types typing unicodedata urllib.parse uuid warnings weakref "
    "xml.etree.ElementTree zlib zoneinfo encodings.ascii encodings.idna encodings.latin_1 encodings.utf_16 "
    "encodings.utf_8_sig encodings.unicode_escape encodings.raw_unicode_escape"
).split()
"""What programs may import; what is not here may be missing inside."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

NOBODY = 65534

CHANNEL = 3
"""The descriptor of the channel in a child, the only one besides the three standard streams."""


def serve(control_descriptor: int) -> NoReturn:
    """Preload, say that we are ready, and fork on request until the host is gone."""
    control = socket.socket(fileno=control_descriptor)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what a child leaves behind becomes ours to kill
    child_main = _preload()
    control.send(b"ready")
    _Server(control, prctl, child_main).run()
    os._exit(0)


def _preload() -> Callable[[int], NoReturn]:
    """Import what programs may import and what runs them. Gives the child's main function."""
    for name in PRELOADED:
        with suppress(ImportError):  # some builds of Python lack a module or two
            importlib.import_module(name)
    from sandbox.zygote import child, pins, threads

    pins.install()
    threads.install()
    for name in [name for name in sys.modules if name.split(".")[0] == "sandbox"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page that it marks
    return child.main


class _Server:
    """The event loop: requests, the host's hang-ups, the deaths of children."""

    def __init__(
        self, control: socket.socket, prctl: Callable[..., int], child_main: Callable[[int], NoReturn]
    ) -> None:
        self._control, self._prctl, self._child_main = control, prctl, child_main
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
        data, descriptors, _, _ = socket.recv_fds(self._control, 64, 2)
        if not data:
            for pid in self._hosts:
                _kill_group(pid)
            _sweep(frozenset())
            return False
        if len(descriptors) != 2:  # we are out of descriptors; the host will see its ends closed
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        channel, status = descriptors
        host = socket.socket(fileno=status)
        try:
            pid = os.fork()
        except OSError as error:
            host.send(json.dumps({"error": f"fork: {error.strerror}"}).encode())
            host.close()
            os.close(channel)
            return True
        if pid == 0:
            self._become_child(channel)
        os.close(channel)
        self._hosts[pid] = host
        self._poll.register(host, select.POLLIN)
        _announce(host, pid)
        return True

    def _become_child(self, channel: int) -> NoReturn:
        zygote = os.getppid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        _drop_root()
        self._prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != zygote:
            os._exit(1)
        if channel != CHANNEL:
            os.dup2(channel, CHANNEL)
        os.closerange(CHANNEL + 1, 1 << 30)
        try:
            self._child_main(CHANNEL)
        finally:
            os._exit(1)

    def _hung_up(self, descriptor: int) -> None:
        for pid, host in self._hosts.items():
            if host.fileno() == descriptor:
                # The number may be a newer socket's, when the one that the event was for was closed just now.
                with suppress(BlockingIOError):
                    host.recv(1, socket.MSG_DONTWAIT)
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


def _drop_root() -> None:
    """Become nobody where we are root, whom limits on the number of processes do not bind."""
    if os.getuid() != 0:
        return
    with suppress(OSError):  # a container may not let us change user
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


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
