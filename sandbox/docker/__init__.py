"""The sandbox of single-use containers of a Docker engine, with gVisor where it has it. Needs the extra `docker`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from protocols.toolbox import Toolbox
from sandbox import workers
from sandbox.base import OnDemand
from sandbox.docker.container import Container, Kind
from sandbox.docker.engine import GVISOR, choose_runtime, connect, ensure_image, remove_leftovers, unavailable
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.rpc import kernel_limit, serve
from sandbox.trace import Trace

__all__ = ["DockerSandbox", "unavailable"]

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


class DockerSandbox(OnDemand[Kind]):
    """Runs each program in a container of its own, which is removed afterwards."""

    name = "docker"
    boundary = True

    def __init__(self, *, base: str | None = None, runtime: str | None = None, without: Collection[str] = ()) -> None:
        """`base`: see `engine.ensure_image`; `runtime`: that of the containers, else see `engine.choose_runtime`;
        `without`: names of layers to leave out, for tests of the others.
        """
        if unknown := sorted(set(without) - SWITCHABLE):
            raise ValueError(
                f"no layer {unknown[0]!r} that could be left out; there are {', '.join(sorted(SWITCHABLE))}"
            )
        super().__init__()
        self._base, self._runtime, self._without = base, runtime, frozenset(without)
        self._missing: Collection[str] = ()

    @property
    def layers(self) -> tuple[str, ...]:
        """What stands between a program and this machine; known for sure after the first run."""
        missing = {*self._without, *self._missing}
        missing.add("seccomp" if self._runtime == GVISOR else "kernel")  # gVisor has its own instead
        return tuple(text for name, text in LAYERS.items() if name not in missing)

    def run(self, source: str, tools: Toolbox, *, limits: Limits, journal: Journal) -> Trace:
        """See `sandbox.base.Sandbox.run`."""
        container = Container(self._current(), limits)
        self._missing = container.missing
        try:
            trace = serve(container, source, tools, limits=limits, journal=journal, backend=self.name)
        finally:
            workers.start(container.remove)  # nobody waits for it: the engine takes a while
        if container.out_of_memory and trace.failure is not None and trace.failure.type == "ProcessExit":
            return replace(trace, failure=kernel_limit("memory_bytes", limits))
        return trace

    def _start(self) -> Kind:
        client = connect()
        try:
            remove_leftovers(client)
            self._runtime = self._runtime or choose_runtime(client)
            return Kind(client, ensure_image(client, self._base), self._runtime, self._without)
        except BaseException:
            client.close()
            raise
