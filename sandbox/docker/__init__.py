"""The Docker backend: each program runs in a container of its own, with gVisor if available.

A container waits for one program, runs it, and is never used again. The code that it needs is
passed as an argument of its command. The optional dependency `docker` must be installed.
"""

from __future__ import annotations

import base64
import json
import math
import os
import select
import signal
import socket
import time
import uuid
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.base import OnDemandSandbox, SandboxUnavailable
from sandbox.docker import engine
from sandbox.exits import Exit, kernel_limit
from sandbox.host import serve_program
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace

LAYERS = {
    "kernel": "gVisor: a kernel of its own",
    "container": "a container without network, read-only, "
    "with no way to the host's processes and files",
    "user": "an unprivileged user",
    "capabilities": "no capabilities",
    "no_new_privs": "no new privileges",
    "seccomp": "seccomp: no system call that connects, mounts, traces or starts a process",
    "landlock": "Landlock: no files, no network",
    "filter": "a second seccomp filter: some thirty system calls, none that opens or executes",
    "limits": "limits kept by control groups and the kernel",
}
"""Descriptions of all layers that isolate a program, keyed by the layer's name."""

START_SECONDS = 60.0
OWN_DEATH_SECONDS = 1
"""Seconds to wait for a container to end by itself, before it is killed."""
DEATH_SECONDS = 10
"""Seconds to wait for a killed container to end."""
GVISOR_MARGIN_BYTES = 256 << 20
"""Memory of a gVisor container in addition to the program's limit, for the kernel of gVisor."""
USUAL_MARGIN_BYTES = 64 << 20
"""Memory of any other container in addition to the program's limit, for page tables and pipes."""

START_CPU_SECONDS = 10  # processor time for loading Python, before the program's own
GVISOR_PROCESSES = 512
USUAL_PROCESSES = 16  # for the threads of runc; Python may start none
SECCOMP_PROFILE = Path(__file__).with_name("seccomp.json")
SIGNALLED = 128  # added to the signal in an exit code
_PACKAGE = Path(__file__).resolve().parent.parent
_INSIDE = (
    "awaited.py",
    "channel.py",
    "file_objects.py",
    "frames.py",
    "docker/inside.py",
    "layers/[!_]*.py",
    "returns.py",
    "zygote/[!_]*.py",
    "zygote/child/[!_]*.py",
)
"""Patterns of the source files that a container needs. Files for the host only are left out."""

_START = """
import base64, importlib.abc, importlib.util, json, sys, zlib
sources = json.loads(zlib.decompress(base64.b64decode(sys.argv[2])))
class Sent(importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        if name in sources:
            return importlib.util.spec_from_loader(name, self, is_package=not sources[name])
    def get_source(self, name):
        return sources[name]
sys.meta_path.append(Sent())
from sandbox.docker.inside import main
main(json.loads(sys.argv[1]))
"""


class DockerSandbox(OnDemandSandbox["ContainerGroup"]):
    """Runs each program in a separate container, which is removed afterwards."""

    name = "docker"
    boundary = True

    def __init__(self, *, base: str | None = None, runtime: str | None = None) -> None:
        """Prepare the backend. Nothing is started yet.

        Args:
            base: the name of an image, see `engine.ensure_image`.
            runtime: the runtime of the containers. None: gVisor if the engine has it, and otherwise
                the engine's default runtime.
        """
        super().__init__()
        self._base = base
        self._runtime = runtime
        self._missing: Collection[str] = ()

    @property
    def layers(self) -> tuple[str, ...]:
        """Descriptions of the layers, i.e. the restrictions that isolate a program.

        Until the first run, layers may be included that the container turns out not to have.
        """
        missing = {
            *self._missing,
            "seccomp" if self._runtime == engine.GVISOR else "kernel",
        }  # gVisor has its own
        return tuple(text for name, text in LAYERS.items() if name not in missing)

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """Run the program `source` in a new container, and return the trace.

        The details are those of `sandbox.base.Sandbox.run`.
        """
        container = Container(self._current(), limits)
        self._missing = container.missing
        try:
            trace = serve_program(
                container, source, tools, limits=limits, journal=journal, backend=self.name
            )
        finally:
            workers.start(container.remove)  # in the background: the engine takes a while
        if (
            container.out_of_memory
            and trace.failure is not None
            and trace.failure.type == "ProcessExit"
        ):
            return replace(trace, failure=kernel_limit("memory_bytes", limits))
        return trace

    def _start(self) -> ContainerGroup:
        client = engine.connect()
        try:
            with engine.translate_engine_errors("ask for its runtimes"):
                info = client.info()
            usual = (
                engine.GVISOR
                if engine.GVISOR in (info.get("Runtimes") or {})
                else info.get("DefaultRuntime")
            )
            self._runtime = self._runtime or usual or "runc"
            return ContainerGroup(client, engine.ensure_image(client, self._base), self._runtime)
        except BaseException:
            client.close()
            raise


def unavailable() -> str | None:
    """Return why this machine cannot run containers, or None if it can. No container is started."""
    try:
        engine.connect().close()
    except SandboxUnavailable as error:
        return str(error)
    return None


@dataclass(frozen=True)
class ContainerGroup:
    """The Docker client, image and runtime that all containers of one sandbox have in common."""

    client: Any
    image: str
    runtime: str
    owner: str = field(default_factory=lambda: f"{os.getpid()} {uuid.uuid4().hex}")
    """Value of the containers' label: the id of the process that owns them, and a random text."""

    def stop(self) -> None:
        """Remove all containers of the sandbox, including running ones, and wait for this."""
        with suppress(SandboxUnavailable), engine.translate_engine_errors("remove its containers"):
            mine = {"label": f"{engine.LABEL}={self.owner}"}
            for container in self.client.containers.list(
                all=True, filters=mine, ignore_removed=True
            ):
                container.remove(force=True, v=True)
        self.client.close()


class Container:
    """A started container that runs one program. It implements `sandbox.host.Child`.

    `missing` are the names of the layers (restrictions) that it does not have. `out_of_memory` is
    True if the kernel killed the container because it used too much memory. It is set by `end`.
    """

    def __init__(self, kind: ContainerGroup, limits: Limits) -> None:
        """Start a container for one program, and wait until its restrictions (layers) are active.

        Raises:
            SandboxUnavailable: the engine cannot start the container.
        """
        self.out_of_memory = False
        self.limits = limits
        with engine.translate_engine_errors("create a container"):
            self.container = kind.client.containers.create(kind.image, **_options(kind, limits))
        try:
            with engine.translate_engine_errors("start a container"):
                # Attached before it starts, so that no output is lost.
                streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
                self.channel = AttachedStreams(self.container.attach_socket(params=streams))
                self.container.start()
                line = self.channel.first_line()
            if not line.endswith(b"\n"):
                message = self.channel.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise SandboxUnavailable(  # noqa: TRY301 - it is removed below
                    f"the docker sandbox could not start a container of the image {kind.image} "
                    f"(runtime {kind.runtime}, {message or 'no message'}); "
                    "its base image must have Python 3.11 or newer as python3"
                )
            self.missing: tuple[str, ...] = tuple(json.loads(line))
            self._began = time.monotonic()
        except BaseException:
            self.remove()
            raise

    def end(self) -> Exit:
        """Wait briefly for the container to end, and otherwise kill it. Return how it ended."""
        # First, because the engine may be waiting until we read.
        self.channel.close()
        killed = False
        with engine.translate_engine_errors("learn how a container ended"):
            try:
                self.container.wait(timeout=OWN_DEATH_SECONDS)
            except OSError:  # the time-out of requests
                killed = True
                self._kill()
                self.container.wait(timeout=DEATH_SECONDS)
            self.container.reload()
        state = self.container.attrs["State"]
        self.out_of_memory = bool(state["OOMKilled"])
        code = int(state["ExitCode"])
        number = code - SIGNALLED if code > SIGNALLED else None
        cpu_seconds = 0.0
        if number == signal.SIGKILL and not killed and not self.out_of_memory:
            # The program is process 1 and cannot kill itself. The kernel kills it when it has used
            # all its processor time.
            cpu_seconds = self.limits.cpu_seconds
            if time.monotonic() - self._began < cpu_seconds:
                raise SandboxUnavailable(
                    "the program's container was killed from outside; see the engine's log"
                )
        return Exit(code if number is None else None, number, cpu_seconds)

    def finish(self) -> None:
        """Kill the container, so that the program stops, without waiting for its removal."""
        self.channel.close()
        self._kill()

    def remove(self) -> None:
        """Remove the container. If this fails, it is removed when the sandbox is closed."""
        if hasattr(self, "channel"):
            self.channel.close()
        with suppress(SandboxUnavailable), engine.translate_engine_errors("remove a container"):
            self.container.remove(force=True, v=True)

    def _kill(self) -> None:
        with (
            suppress(SandboxUnavailable),
            engine.translate_engine_errors("kill a container"),
        ):  # it may have ended
            self.container.kill()


class AttachedStreams:
    """The standard streams of a container. It implements `sandbox.wire.Stream`.

    All streams share one connection to the engine. `errors` is the beginning of the container's
    standard error.
    """

    def __init__(self, attached: Any) -> None:
        self.errors = b""
        # The SDK returns a reader over the socket. The socket is closed with the reader.
        self._attached = attached
        self._socket = getattr(attached, "_sock", attached)
        self._pieces = engine.import_docker_sdk().utils.socket.frames_iter(attached, tty=False)

    def first_line(self) -> bytes:
        """Return the first line that the container writes to its standard output.

        Return an incomplete line if the output ends, or if `START_SECONDS` have passed.
        """
        line = b""
        ends = time.monotonic() + START_SECONDS
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while not line.endswith(b"\n") and poll.poll(max(ends - time.monotonic(), 0) * 1000):
            if not (data := self.recv(1024)):
                break
            line += data
        return line

    def recv(self, size: int, /) -> bytes:  # noqa: ARG002 - at most 32 KiB
        """Wait for standard output of the container and return it. Return b"" at its end."""
        while True:
            stream, data = next(self._pieces, (1, b""))
            if stream == 1 or not data:
                return bytes(data)
            self.errors = (self.errors + data)[:4000]

    def sendall(self, data: bytes, /) -> None:
        """Send all of `data` to the container's standard input."""
        self._socket.sendall(data)

    def shutdown(self, how: int, /) -> None:
        """Make all blocking methods of this object return at once, also in other threads."""
        self._socket.shutdown(how)

    def close(self) -> None:
        """Close the connection. The engine then stops reading the container's output."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        # In this order, because the response flushes its reader, which must still be open.
        for end in (getattr(self._attached, "_response", None), self._attached, self._socket):
            if end is not None:
                with suppress(OSError):
                    end.close()


def _options(kind: ContainerGroup, limits: Limits) -> dict[str, Any]:
    """Return the options with which the Docker engine creates the container for one program."""
    gvisor = kind.runtime == engine.GVISOR
    memory = limits.memory_bytes + (GVISOR_MARGIN_BYTES if gvisor else USUAL_MARGIN_BYTES)
    cpu = math.ceil(min(limits.cpu_seconds, 1 << 30)) + START_CPU_SECONDS
    # No limit on processes: it would count this user's processes in all containers.
    ulimits = {"cpu": cpu, "core": 0, "fsize": 0, "nofile": 64}
    return {
        "entrypoint": "",
        "command": _command(
            {"memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds}
        ),
        "user": "65534:65534",
        "hostname": "sandbox",
        "working_dir": "/",
        "environment": ["LANG=C.UTF-8", "PYTHONHASHSEED=0", "TZ=UTC"],
        "labels": {engine.LABEL: kind.owner},
        "stdin_open": True,  # closing it ends a waiting container
        "stop_signal": "SIGKILL",
        "healthcheck": {"test": ["NONE"]},
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": [
            "no-new-privileges:true",
            f"seccomp={SECCOMP_PROFILE.read_text(encoding='utf-8')}",
        ],
        "mem_limit": memory,
        "memswap_limit": memory,
        "oom_score_adj": 1000,
        "pids_limit": GVISOR_PROCESSES if gvisor else USUAL_PROCESSES,
        "ipc_mode": "none",
        "ulimits": [
            {"Name": name, "Soft": value, "Hard": value} for name, value in ulimits.items()
        ],
        "log_config": {"Type": "none", "Config": {}},
        "runtime": kind.runtime,
    }


def _command(options: dict[str, Any]) -> list[str]:
    """Return the command of a container, which runs `sandbox.docker.inside.main` with `options`.

    The source code of `main`, and of the modules that it imports, is part of the command.
    """
    sources: dict[str, str] = {}  # a package has no source
    for path in [path for pattern in _INSIDE for path in _PACKAGE.glob(pattern)]:
        *package, module = path.relative_to(_PACKAGE.parent).with_suffix("").parts
        for depth in range(1, len(package) + 1):
            sources[".".join(package[:depth])] = ""
        sources[".".join((*package, module))] = path.read_text(encoding="utf-8")
    sent = base64.b64encode(zlib.compress(json.dumps(sources).encode("ascii"))).decode("ascii")
    # Not -I: it would ignore PYTHONHASHSEED.
    return ["python3", "-s", "-S", "-B", "-P", "-c", _START, json.dumps(options), sent]
