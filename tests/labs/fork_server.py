"""Forks a process for each command `atc` or script, from one that has imported the command line.

Run as a file. Each message on the socket whose descriptor is its first argument brings four descriptors: stdin,
stdout and stderr of the command, and a socket of its own. On that socket the request comes as JSON,
and the process id, later the wait status and the CPU seconds go back. The server ends when its socket is closed.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

PRELOADED = (
    "atc.cli.bench",
    "atc.cli.check",
    "atc.cli.config",
    "atc.cli.doctor",
    "atc.cli.models",
    "atc.cli.probe",
    "atc.cli.run",
    "atc.cli.runs",
    "atc.cli.serve",
    "atc.cli.tools",
    "atc.agent",
    "atc.archive.saved_programs",
    "atc.models.openai",
    "atc.models.scripted",
    "atc.observe.terminal_view",
    "atc.serve.http",
    "atc.serve.server",
    "atc.store.sqlite",
    "atc.strategies.chain",
    "probing.probe",
    "probing.report",
    "protocols.mcp.http",
    "protocols.mcp.stdio",
    "protocols.sources.har",
    "protocols.sources.openapi",
    "protocols.sources.python",
    "sandbox.zygote",
)


def preload() -> None:
    """Import what commands import later, where it is installed."""
    for name in PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)


def next_command(control: socket.socket) -> dict[str, Any] | None:
    """Serve requests; return the request in each forked process, and None when the socket is closed."""
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.data is not None:  # a process has ended
                    pid, answers = key.data
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _, status, used = os.wait4(pid, 0)
                    send(answers, "qd", status, used.ru_utime + used.ru_stime)
                    continue
                with_descriptors = receive(control)
                if with_descriptors is None:
                    return None
                request, streams, answers = with_descriptors
                pid = os.fork()
                if pid == 0:
                    become(request, streams)
                    return request
                for stream in streams:
                    os.close(stream)
                send(answers, "q", pid)
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


def send(answers: socket.socket, form: str, *numbers: float) -> None:
    with suppress(OSError):  # the test that started the command may have ended
        answers.sendall(struct.pack(form, *numbers))


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int], socket.socket] | None:
    message, descriptors, _, _ = socket.recv_fds(control, 16, 4)
    if not message:
        return None
    *streams, own = descriptors
    answers = socket.socket(fileno=own)
    with answers.makefile("rb") as lines:
        return json.loads(lines.readline()), streams, answers


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Make this process what the command would be: its own streams, folder, variables and session."""
    if request["session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 65_536)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["variables"])
    signal.set_wakeup_fd(-1)
    script = request["script"]
    sys.argv[:] = [script or "-c", *request["words"]]
    if script:
        sys.path.insert(0, str(Path(script).resolve().parent))
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        old = getattr(sys, name)
        opened = os.fdopen(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)
        opened.reconfigure(line_buffering=name == "stderr" or opened.isatty())
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)


if __name__ == "__main__":
    gc.disable()
    preload()
    gc.collect()
    gc.freeze()
    gc.enable()
    served = next_command(socket.socket(fileno=int(sys.argv[1])))
    if served is not None and served["script"]:
        runpy.run_path(served["script"], run_name="__main__")
    elif served is not None:
        from atc.cli.main import main

        main()
