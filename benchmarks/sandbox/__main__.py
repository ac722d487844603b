"""Run programs in every sandbox and see what holds and what it costs: `python -m benchmarks.sandbox`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from atc import __version__
from benchmarks.runner import suite
from benchmarks.sandbox.containment import Program, measure_containment
from benchmarks.sandbox.costs import measure_latency, measure_ordinary, measure_soak
from benchmarks.sandbox.host import open_backend
from benchmarks.sandbox.shop import run
from protocols.toolbox import Toolbox
from sandbox.choose import NAMES

_FOLDER = click.Path(path_type=Path)


@suite
@click.option("--backend", "names", multiple=True, default=["zygote"], help=f"{', '.join(NAMES)}, or MODULE:FACTORY.")
@click.option("--without", multiple=True, metavar="LAYER", help="Switch this layer off; repeatable.")
@click.option("--hostile", type=_FOLDER, metavar="DIR", help="Programs that must be contained; docs/how/security.md.")
@click.option("--ordinary", type=_FOLDER, metavar="DIR", help="Programs that must run as in CPython, one a *.py file.")
@click.option("--runs", type=click.IntRange(0), default=200, show_default=True, help="For each latency; 0: none.")
@click.option("--soak", type=click.IntRange(0), default=0, help="Runs of the soak, a tenth hostile.")
@click.option("--jobs", type=click.IntRange(1, 64), default=8, show_default=True, help="Runs of the soak at once.")
@click.option("--seed", default=0, show_default=True, help="What the soak's programs are drawn by.")
def main(names: tuple[str, ...], hostile: Path | None, ordinary: Path | None, **plan: Any) -> dict[str, Any]:
    """Run programs in every sandbox and see what holds and what it costs.

    Each hostile program gets a host process, secrets and listeners of its own. Exit status 1 if one is not contained,
    an ordinary program does not do what it does in CPython, or the soak leaves anything behind.
    """
    plan |= {"hostile": load_programs(hostile), "ordinary": load_programs(ordinary)}
    backends = {name: measure(name, SimpleNamespace(**plan)) for name in names}
    passed = all(one["passed"] for one in backends.values())
    about = {"suite": "sandbox", "version": __version__, "seed": plan["seed"], "without": plan["without"]}
    return {**about, "passed": passed, "backends": backends}


def load_programs(folder: Path | None) -> list[Program]:
    paths = sorted(folder.glob("*.py")) if folder else []
    if folder and not paths:
        raise click.UsageError(f"{str(folder)!r} holds no *.py file; give a folder of programs, one a file.")
    return [Program(path.stem, path.read_text(encoding="utf-8")) for path in paths]


def measure(backend: str, plan: Any) -> dict[str, Any]:
    """What one backend says of itself, and what was found of the parts that the options ask for."""
    found: dict[str, Any] = {"passed": True}
    with closing(open_backend(backend, plan.without)) as sandbox:
        run(sandbox, "print(1)", Toolbox())  # some know their layers only then
        found |= {"layers": ", ".join(sandbox.layers), "boundary": sandbox.boundary}
        if plan.ordinary:
            found["ordinary"] = measure_ordinary(plan.ordinary, sandbox)
            found["passed"] &= found["ordinary"]["same"] == len(plan.ordinary)
    if plan.runs:
        found["latency"] = measure_latency(backend, plan.without, plan.runs)
    if plan.hostile:
        found["containment"] = measure_containment(plan.hostile, backend, plan.without)
        found["passed"] &= found["containment"]["contained"] == len(plan.hostile)
    if plan.soak:
        found["soak"] = measure_soak(backend, plan.without, plan.soak, plan.jobs, plan.seed, plan.hostile)
        found["passed"] &= found["soak"]["passed"]
    return found


if __name__ == "__main__":
    main()
