"""The suite `sandbox`: every measurement of one backend."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from toolflow_bench.sandboxes.backends import described, open_backend, open_on_demand
from toolflow_bench.sandboxes.containment import Containment, measure_containment
from toolflow_bench.sandboxes.coverage import Coverage, measure_coverage
from toolflow_bench.sandboxes.latency import Latency, measure_latency
from toolflow_bench.sandboxes.programs import Program
from toolflow_bench.sandboxes.soak import Soaked, measure_soak

Talk = Callable[[str], None]
"""Takes one line about how far we are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure. An empty part is left out."""

    hostile: tuple[Program, ...] = ()
    ordinary: tuple[Program, ...] = ()
    latency_runs: int = 0
    soak_runs: int = 0
    jobs: int = 8
    seed: int = 0
    without: tuple[str, ...] = ()
    """Names of layers that are switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One backend: what it says of itself, and what was found. None where a part was left out."""

    backend: str
    without: tuple[str, ...] = ()
    unavailable: str | None = None
    """Why it could not be measured at all."""
    layers: tuple[str, ...] = ()
    boundary: bool = False
    containment: Containment | None = None
    ordinary: Coverage | None = None
    latency: Latency | None = None
    soak: Soaked | None = None

    @property
    def passed(self) -> bool:
        """Every hostile program contained, every ordinary one as in CPython, nothing left by the soak."""
        escaped = self.containment is not None and self.containment.contained < len(self.containment.verdicts)
        differs = self.ordinary is not None and self.ordinary.differing > 0
        leaks = self.soak is not None and not self.soak.passed
        return not (escaped or differs or leaks)

    def as_json(self) -> dict[str, Any]:
        """For the report."""
        parts = {
            "containment": self.containment,
            "ordinary": self.ordinary,
            "latency": self.latency,
            "soak": self.soak,
        }
        return {
            "backend": self.backend,
            "without": list(self.without),
            "unavailable": self.unavailable,
            "layers": list(self.layers),
            "boundary": self.boundary,
            "passed": self.passed,
            **{name: part and part.as_json() for name, part in parts.items()},
        }


def measure(backend: str, plan: Plan, talk: Talk) -> Measured:
    """Measure one backend.

    Raises:
        SandboxUnavailable: it cannot be had here, or was lost.
    """
    sandbox = open_backend(backend, plan.without)
    try:
        sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())  # some know their layers only then
        said = described(sandbox)
        coverage = _coverage(sandbox, plan, talk) if plan.ordinary else None
    finally:
        sandbox.close()
    latency = None
    if plan.latency_runs:
        talk(f"{backend}: latency of {plan.latency_runs} runs, and 100 runs into the wall limit")
        latency = measure_latency(
            lambda: open_backend(backend, plan.without),
            runs=plan.latency_runs,
            on_demand=open_on_demand(backend, plan.without),
        )
    return Measured(
        backend=backend,
        without=plan.without,
        layers=tuple(said["layers"]),
        boundary=said["boundary"],
        containment=_containment(backend, plan, talk) if plan.hostile else None,
        ordinary=coverage,
        latency=latency,
        soak=_soak(backend, plan, talk) if plan.soak_runs else None,
    )


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    import os

    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def _coverage(sandbox: Sandbox, plan: Plan, talk: Talk) -> Coverage:
    return measure_coverage(
        plan.ordinary,
        sandbox,
        on_comparison=lambda one, done, of: talk(
            f"{done:>3}/{of}  {one.state:<9} {one.program}  {one.reason}".rstrip()
        ),
    )


def _containment(backend: str, plan: Plan, talk: Talk) -> Containment:
    return measure_containment(
        plan.hostile,
        backend,
        without=plan.without,
        on_verdict=lambda one, done, of: talk(
            f"{done:>3}/{of}  {one.verdict:<9} {one.seconds:5.2f} s  {one.program}  {one.reason or one.failure}"
        ),
    )


def _soak(backend: str, plan: Plan, talk: Talk) -> Soaked:
    tenths = iter(range(1, 11))
    due = [next(tenths)]

    def progress(done: int, of: int) -> None:
        if done * 10 >= due[0] * of:
            talk(f"{backend}: {done:,} of {of:,} runs of the soak")
            due[0] = done * 10 // of + 1

    return measure_soak(
        backend,
        runs=plan.soak_runs,
        jobs=plan.jobs,
        seed=plan.seed,
        hostile=plan.hostile,
        without=plan.without,
        on_progress=progress,
    )


def report(measured: Sequence[Measured], plan: Plan) -> dict[str, Any]:
    """The whole report as JSON."""
    from atc import __version__

    return {
        "suite": "sandbox",
        "version": __version__,
        "machine": machine(),
        "seed": plan.seed,
        "passed": all(one.passed for one in measured),
        "backends": [one.as_json() for one in measured],
    }
