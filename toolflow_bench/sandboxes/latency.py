"""What a sandbox costs: time of a run and of a call, overrun of the wall limit, memory of a waiting child."""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.conformance import make_tool
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace
from toolflow_bench.sandboxes import processes

OVERRUNS = 100
OVERRUN_WALL_SECONDS = 0.1
ENDLESS = {
    "loop": "while True: pass",
    "sleep": "import time\ntime.sleep(60)",
    "tool": "hang()",
    "sum": "print(sum(range(10 ** 12)))",
    "power": "print((3 ** (10 ** 9)) % 7)",
}
"""What goes on for longer than the limit: Python code, a wait, a tool, and two calls that are all C."""
CALLS = 1000
_ECHO = "import os, sys\nwhile data := os.read(int(sys.argv[1]), 100): os.write(int(sys.argv[1]), data)"


@dataclass(frozen=True, slots=True)
class Quantiles:
    """A set of timings; the unit stands in the name of what holds it."""

    minimum: float
    p50: float
    p95: float
    maximum: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Quantiles:
        """Those of at least one value."""
        ordered = sorted(values)
        p95 = ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]
        return cls(ordered[0], statistics.median(ordered), p95, ordered[-1], len(ordered))


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """None where a figure does not apply to the backend."""

    cold_ms: float
    """The first run, the sandbox's own start included."""
    warm_ms: Quantiles
    """`print(1)`, start to finish, one run right after the other."""
    prefork_ms: Quantiles | None
    """The same with a child known to wait."""
    on_demand_ms: Quantiles | None
    """The same by a sandbox that keeps no child waiting."""
    call_us: Quantiles | None
    """From the start of one tool call to the start of the next; the tool returns at once."""
    echo_us: Quantiles
    """A few bytes to another process and back, with nothing else done: what a call cannot be quicker than here."""
    overrun_ms: Quantiles
    """How far runs lasted beyond their wall limit; the maximum is the figure."""
    overrun_worst_ms: dict[str, float]
    """The worst of each kind of endless program."""
    other_ends: dict[str, str]
    """Endless programs that something else than the wall limit ended."""
    idle_child_bytes: int | None
    """Private memory of a waiting child, the largest one's."""

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        return asdict(self)


def measure_latency(
    opened: Callable[[], Sandbox], *, runs: int, on_demand: Callable[[], Sandbox] | None, overruns: int = OVERRUNS
) -> Latency:
    """All figures of one backend, which `opened` makes; `on_demand` makes one that keeps no child waiting."""
    began = time.perf_counter()
    sandbox = opened()
    try:
        _run(sandbox, "print(1)")
        cold = (time.perf_counter() - began) * 1e3
        warm = Quantiles.of([_run_ms(sandbox) for _ in range(runs)])
        prefork = Quantiles.of([_run_ms(sandbox) for _ in range(runs) if _await_spare(sandbox)] or [0.0])
        over, worst, others = _overruns(sandbox, overruns)
        call, idle = _call_us(sandbox), _idle_bytes(sandbox)
    finally:
        sandbox.close()
    return Latency(
        cold_ms=cold,
        warm_ms=warm,
        prefork_ms=prefork if prefork.minimum else None,
        on_demand_ms=None if on_demand is None else _on_demand(on_demand, runs),
        call_us=call,
        echo_us=_echo_us(),
        overrun_ms=over,
        overrun_worst_ms=worst,
        other_ends=others,
        idle_child_bytes=idle,
    )


def _on_demand(opened: Callable[[], Sandbox], runs: int) -> Quantiles:
    sandbox = opened()
    try:
        _run(sandbox, "print(1)")
        return Quantiles.of([_run_ms(sandbox) for _ in range(runs)])
    finally:
        sandbox.close()


def _run(sandbox: Sandbox, source: str, tools: Toolbox | None = None, **limits: Any) -> Trace:
    return sandbox.run(source, tools or Toolbox(), limits=Limits(**limits), journal=Journal())


def _run_ms(sandbox: Sandbox) -> float:
    began = time.perf_counter()
    trace = _run(sandbox, "print(1)")
    taken = (time.perf_counter() - began) * 1e3
    if trace.stdout != "1\n":
        raise RuntimeError(f"print(1) gave {trace.stdout!r}, {trace.failure}")
    return taken


def _await_spare(sandbox: Sandbox) -> bool:
    """Wait until a child waits; False where the sandbox keeps none or does not get one ready."""
    ready = getattr(sandbox, "spares_ready", None)
    until = time.monotonic() + 5.0
    while ready is not None and time.monotonic() < until:
        if ready():
            return True
        time.sleep(0.0005)
    return False


def _call_us(sandbox: Sandbox) -> Quantiles | None:
    tools = Toolbox([make_tool("echo", {"text": {"type": "string"}}, lambda text: text)])
    source = f"for number in range({CALLS}):\n    echo(text=str(number))"
    trace = _run(sandbox, source, tools, tool_calls=CALLS)
    started = [call.started for call in trace.calls]
    between = [(after - before) * 1e6 for before, after in pairwise(started)]
    return Quantiles.of(between) if trace.failure is None and between else None


def _echo_us() -> Quantiles:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-c", _ECHO, str(theirs.fileno())]
    with ours, theirs, subprocess.Popen(command, pass_fds=[theirs.fileno()]):  # noqa: S603 - our own
        theirs.close()
        taken = []
        for _ in range(CALLS):
            began = time.perf_counter()
            ours.sendall(b"x" * 60)
            ours.recv(100)
            taken.append((time.perf_counter() - began) * 1e6)
        ours.shutdown(socket.SHUT_RDWR)  # at this it ends
    return Quantiles.of(taken[1:])


def _overruns(sandbox: Sandbox, count: int) -> tuple[Quantiles, dict[str, float], dict[str, str]]:
    """Overruns in ms of `count` runs over the kinds in turn, the worst of each kind, and ends by something else."""
    taken: dict[str, list[float]] = {kind: [] for kind in ENDLESS}
    others: dict[str, str] = {}
    for number in range(count):
        kind = list(ENDLESS)[number % len(ENDLESS)]
        answered = threading.Event()
        tools = Toolbox([make_tool("hang", {}, lambda answered=answered: answered.wait(60.0))])
        began = time.perf_counter()
        try:
            trace = _run(sandbox, ENDLESS[kind], tools, wall_seconds=OVERRUN_WALL_SECONDS, cpu_seconds=60.0)
        finally:
            seconds = time.perf_counter() - began
            answered.set()
        if trace.failure is None or trace.failure.type != "wall_seconds":
            others[kind] = f"{trace.failure.kind}: {trace.failure.message}" if trace.failure else "it ended by itself"
        else:
            taken[kind].append((seconds - OVERRUN_WALL_SECONDS) * 1e3)
    worst = {kind: max(values) for kind, values in taken.items() if values}
    return Quantiles.of([value for values in taken.values() for value in values] or [0.0]), worst, others


def _idle_bytes(sandbox: Sandbox) -> int | None:
    pids = getattr(sandbox, "spare_pids", None)  # containers are no processes of ours
    if pids is None or not _await_spare(sandbox):
        return None
    sizes = [processes.private(pid) for pid in pids()]
    return max((size for size in sizes if size is not None), default=None)
