"""Thousands of runs on one sandbox, and what is left of them afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.errors import SandboxUnavailable
from toolflow_bench.sandboxes import processes
from toolflow_bench.sandboxes.backends import containers_of
from toolflow_bench.sandboxes.canaries import Canaries
from toolflow_bench.sandboxes.hosting import HostEnded, HostProcess
from toolflow_bench.sandboxes.processes import Process
from toolflow_bench.sandboxes.programs import Program
from toolflow_bench.sandboxes.soak_host import BUILT_IN

MODULE = "toolflow_bench.sandboxes.soak_host"
SILENCE_SECONDS = 120.0
FLAT_BYTES = 6 * 2**20
"""By how much the host may have grown from the first quarter of the runs to the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """What came of a soak."""

    runs: int
    jobs: int
    seed: int
    seconds: float
    ends: Mapping[str, int]
    """How runs ended, `ordinary` and `hostile` apart → how many."""
    troubles: tuple[str, ...]
    """The first runs that gave something else than they should."""
    trouble: int
    """How many did."""
    leaks: tuple[str, ...]
    """What was left afterwards: processes, descriptors, threads, files, changes in the host."""
    resident_first_bytes: int
    resident_last_bytes: int
    """The host's memory: the medians of the first and the last quarter of the runs."""

    @property
    def runs_per_second(self) -> float:
        """Throughput."""
        return self.runs / self.seconds if self.seconds else 0.0

    @property
    def flat(self) -> bool:
        """Whether the host's memory did not grow."""
        return self.resident_last_bytes - self.resident_first_bytes <= FLAT_BYTES

    @property
    def passed(self) -> bool:
        """Nothing left, nothing wrong, memory flat."""
        return self.flat and not self.leaks and not self.trouble

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        counted = {"runs_per_second": self.runs_per_second, "flat": self.flat, "passed": self.passed}
        return asdict(self) | counted | {"flat_bytes": FLAT_BYTES}


def measure_soak(
    backend: str,
    *,
    runs: int,
    jobs: int,
    seed: int,
    hostile: Sequence[Program] = (),
    without: Iterable[str] = (),
    on_progress: Callable[[int, int], None] | None = None,
) -> Soaked:
    """Run the soak in a host process of its own. Hostile programs are ours where none are given.

    Raises:
        SandboxUnavailable: the sandbox cannot be had here, or the host process was lost.
    """
    known = processes.descendants(os.getpid())
    with processes.adopting(), Canaries() as canaries:
        programs = [(program.name, canaries.fill(program.source)) for program in hostile] or list(BUILT_IN.items())
        order = {
            "backend": backend,
            "without": list(without),
            "runs": runs,
            "jobs": jobs,
            "seed": seed,
            "hostile": programs,
            "secrets": canaries.secrets,
        }
        host = HostProcess(MODULE, canaries, order)
        try:
            said, left = _conduct(host, known, runs, on_progress)
        except HostEnded as ended:
            raise SandboxUnavailable(f"the soak was cut short: {ended}") from ended
        finally:
            survivors = processes.descendants(os.getpid()) - known
            processes.kill_all(survivors)
            host.close()
        if survivors:
            left.append(f"{len(survivors)} processes outlived the host: {processes.names(survivors)}")
        left += containers_of(backend, host.pid)
        left += [f"temporary file {path}" for path in canaries.leftovers()]
        left += [f"host: {change}" for change in said["changed"]]
        left += [*canaries.changes(), *(f"{name} was reached" for name in canaries.listeners.reached())]
    return Soaked(
        runs=said["done"],
        jobs=jobs,
        seed=seed,
        seconds=said["seconds"],
        ends=dict(sorted(said["ends"].items())),
        troubles=tuple(said["troubles"]),
        trouble=said["trouble"],
        leaks=tuple(left),
        resident_first_bytes=said["resident"][0],
        resident_last_bytes=said["resident"][1],
    )


def _conduct(
    host: HostProcess, known: set[Process], runs: int, on_progress: Callable[[int, int], None] | None
) -> tuple[dict[str, Any], list[str]]:
    """What the host says of the soak, and what is left while its sandbox is still open."""
    greeting = host.hear(SILENCE_SECONDS)
    if "unavailable" in greeting:
        raise SandboxUnavailable(greeting["unavailable"])
    before = host.lasting_processes(known)
    host.tell({"go": True})
    while True:
        said = host.hear(SILENCE_SECONDS)
        if on_progress is not None:
            on_progress(said["done"], runs)
        if "ends" in said:
            break
    after = host.lasting_processes(known, most=len(before))
    surplus = len(after) - len(before)
    left = [f"{surplus} more processes than before: {processes.names(after - before)}"] if surplus > 0 else []
    host.tell({"close": True})
    code, _ = host.end(SILENCE_SECONDS)
    if code != 0:
        left.append(f"the host process ended with {code}")
    return said, left
