"""The sandbox of single-use containers, some of them started before anybody needs them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from protocols.toolbox import Toolbox
from sandbox.base import OnDemand
from sandbox.docker.container import Container, Kind
from sandbox.docker.engine import GVISOR, LABEL, choose_runtime, connect, remove_leftovers, speaking_to_engine
from sandbox.docker.image import ensure_image
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.rpc import kernel_limit, serve
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


class DockerSandbox(OnDemand["Pool"]):
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
        spares: int = 1,
        without: Collection[str] = (),
    ) -> None:
        """`base`: see `image.ensure_image`; `runtime`: see `engine.choose_runtime`; `spares`: containers that wait
        for a program; `without`: names of layers to leave out, for tests of the others.
        """
        if unknown := sorted(set(without) - SWITCHABLE):
            raise ValueError(
                f"no layer {unknown[0]!r} that could be left out; there are {', '.join(sorted(SWITCHABLE))}"
            )
        super().__init__()
        self._base, self._wanted_runtime, self._spares, self._without = base, runtime, spares, frozenset(without)
        self._runtime: str | None = None

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine."""
        missing = {*self._without, *(() if self._runner is None else self._runner.missing)}
        missing.add("seccomp" if self._runtime == GVISOR else "kernel")  # gVisor has its own instead
        return tuple(text for name, text in LAYERS.items() if name not in missing)

    def warm(self) -> None:
        """Build the image where there is none, and have the first containers started without waiting for them.

        Raises:
            SandboxUnavailable: it cannot be had here.
        """
        self._current().fill()

    def spares_ready(self) -> int:
        """How many containers have started and wait for a program."""
        return 0 if self._runner is None else len(self._runner.spares)

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

    def _start(self) -> Pool:
        client = connect()
        try:
            self._runtime = self._wanted_runtime or choose_runtime(client)
            kind = Kind(client, ensure_image(client, self._base), self._runtime, self._without)
        except BaseException:
            client.close()
            raise
        return Pool(kind, self._spares)


class Pool:
    """So many `spares` of one kind, each replaced after the run that took it. Thread-safe.

    `missing` are the layers that the containers of this engine cannot have, as far as is known.
    """

    def __init__(self, kind: Kind, spares: int) -> None:
        self.missing: tuple[str, ...] = ()
        self.spares: deque[Container] = deque()
        self._kind, self._most = kind, spares
        self._limits = Limits()
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self._closed = False
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="docker-sandbox")  # to start and to remove
        self._later(partial(remove_leftovers, kind.client))

    def fill(self) -> None:
        """Have spares started, without waiting for them."""
        if self._most:
            self._later(self._fill)

    def take(self, limits: Limits) -> Container:
        """A container for one program within `limits`: a spare that fits, or a fresh one.

        Raises:
            SandboxUnavailable: it cannot be had.
        """
        self._limits = limits
        with suppress(IndexError):
            while True:
                container = self.spares.popleft()
                if container.begin(limits):
                    return container
                self.discard(container)
        container = self._start(limits)
        container.begin(limits)
        return container

    def discard(self, container: Container) -> None:
        """Have a container removed, without waiting for it."""
        self._later(container.remove)

    def stop(self) -> None:
        """Remove every container, those in use too, and wait until they are gone."""
        with self._lock:
            self._closed = True
        self._workers.shutdown(wait=True)
        while self.spares:
            with suppress(SandboxUnavailable):
                self.spares.pop().remove()
        client = self._kind.client
        with suppress(SandboxUnavailable), speaking_to_engine("remove its containers"):
            for container in client.containers.list(
                all=True, filters={"label": f"{LABEL}={self._kind.owner}"}, ignore_removed=True
            ):
                container.remove(force=True, v=True)
        client.close()

    def _later(self, task: Callable[[], None]) -> None:
        """Have something done, and forget what it raises: the next run will tell."""
        with self._lock:
            if not self._closed:
                self._workers.submit(task)

    def _fill(self) -> None:
        with self._starting:
            while not self._closed and len(self.spares) < self._most:
                self.spares.append(self._start(self._limits))

    def _start(self, limits: Limits) -> Container:
        container = Container(self._kind, limits)
        self.missing = container.missing
        if self._closed:
            container.remove()
            raise SandboxUnavailable("the docker sandbox was closed; make a new one")
        return container
