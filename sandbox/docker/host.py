"""The sandbox of single-use containers, as its callers see it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection
from dataclasses import replace
from types import TracebackType
from typing import Self

from protocols.toolbox import Toolbox
from sandbox.conversation import kernel_limit
from sandbox.docker.container import Kind
from sandbox.docker.engine import GVISOR, choose_runtime, connect
from sandbox.docker.image import ensure_image
from sandbox.docker.pool import Pool
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.rpc import serve
from sandbox.trace import Trace

LAYERS = {
    "kernel": "gVisor: a kernel of its own",
    "container": "a container without network, read-only, with no way to the host's processes and files",
    "user": "an unprivileged user",
    "capabilities": "no capabilities",
    "no_new_privs": "no new privileges",
    "seccomp": "seccomp: no system call that connects, mounts, traces or starts a process",
    "landlock": "Landlock: no files, no network",
    "filter": "a second seccomp filter: some thirty system calls, none that opens or executes",
    "limits": "limits kept by control groups and the kernel",
}
"""Every layer, and what it means. `seccomp`, `landlock` and `filter` can be switched off, to test the others."""

SWITCHABLE = frozenset({"seccomp", "landlock", "filter"})

SPARES = 1


class DockerSandbox:
    """Runs each program in a container of its own, started beforehand where possible and removed afterwards.

    The image is built when first needed. Runs may overlap, from any threads. Close it, or use it as a context manager.
    """

    name = "docker"
    boundary = True
    """Whether the layers are meant to hold a hostile program."""

    def __init__(
        self,
        *,
        base: str | None = None,
        runtime: str | None = None,
        spares: int = SPARES,
        without: Collection[str] = (),
    ) -> None:
        """`base`: see `image.ensure_image`; `runtime`: see `engine.choose_runtime`; `spares`: containers that wait
        for a program; `without`: names of layers to leave out, for tests of the others.
        """
        if unknown := sorted(set(without) - SWITCHABLE):
            raise ValueError(
                f"no layer {unknown[0]!r} that could be left out; there are {', '.join(sorted(SWITCHABLE))}"
            )
        self._base, self._wanted_runtime, self._spares, self._without = base, runtime, spares, frozenset(without)
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._runtime: str | None = None
        self._closed = False
        self._finalizer: weakref.finalize[[], DockerSandbox] | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine."""
        missing = {*self._without, *(() if self._pool is None else self._pool.missing)}
        missing.add("seccomp" if self._runtime == GVISOR else "kernel")  # gVisor has its own instead
        return tuple(text for name, text in LAYERS.items() if name not in missing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Build the image where there is none, and have the first containers started without waiting for them.

        Raises:
            SandboxUnavailable: it cannot be had here.
        """
        self._current().fill()

    def spares_ready(self) -> int:
        """How many containers have started and wait for a program."""
        return 0 if self._pool is None else self._pool.ready()

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`."""
        pool = self._current()
        container = pool.take(limits)
        try:
            trace = serve(container, source, tools, limits=limits, journal=journal, backend=self.name)
        finally:
            pool.discard(container)
            pool.fill()
        if container.out_of_memory and trace.failure is not None and trace.failure.type == "ProcessExit":
            return replace(trace, failure=kernel_limit("memory_bytes", limits))
        return trace

    def close(self) -> None:
        """Remove every container, and wait until they are gone. Runs under way end with `SandboxUnavailable`."""
        with self._lock:
            self._closed = True
        if self._finalizer is not None:
            self._finalizer()

    def _current(self) -> Pool:
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the docker sandbox was closed; make a new one")
            if self._pool is None:
                self._pool = self._open()
                self._finalizer = weakref.finalize(self, self._pool.close)
            return self._pool

    def _open(self) -> Pool:
        client = connect()
        try:
            self._runtime = choose_runtime(client, self._wanted_runtime)
            kind = Kind(client, ensure_image(client, self._base), self._runtime, self._without)
        except BaseException:
            client.close()
            raise
        return Pool(kind, self._spares)
