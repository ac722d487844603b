"""Run programs in every sandbox and see what holds and what it costs: `python -m benchmarks.sandbox`."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from atc import __version__
from benchmarks.runner import show
from benchmarks.sandbox.containment import Program, measure_containment
from benchmarks.sandbox.costs import measure_latency, measure_ordinary, measure_soak
from benchmarks.sandbox.host import open_backend
from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.choose import NAMES, availability
from sandbox.journal import Journal
from sandbox.limits import Limits

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.option("--backend", "names", multiple=True, default=["zygote"], help=f"{', '.join(NAMES)}, MODULE:FACTORY, all.")
@click.option("--without", multiple=True, metavar="LAYER", help="Switch this layer off; repeatable.")
@click.option(
    "--hostile", type=_FOLDER, metavar="DIR", help="Programs that must be contained; see 'docs/how/security.md'."
)
@click.option("--ordinary", type=_FOLDER, metavar="DIR", help="Programs that must run as in CPython, one a *.py file.")
@click.option("--runs", type=click.IntRange(0), default=200, show_default=True, help="For each latency; 0: none.")
@click.option("--soak", type=click.IntRange(0), default=0, help="Runs of the soak, a tenth hostile.")
@click.option("--jobs", type=click.IntRange(1, 64), default=8, show_default=True, help="Runs of the soak at once.")
@click.option("--seed", default=0, show_default=True, help="What the soak's programs are drawn by.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the report here too, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def main(*, names: tuple[str, ...], out: Path | None, as_json: bool, **plan: Any) -> None:
    """Run programs in every sandbox and see what holds and what it costs.

    Each hostile program gets a host process, secrets and listeners of its own. Exit status 1 if one is not contained,
    an ordinary program does not do what it does in CPython, or the soak leaves anything behind.
    """
    plan |= {"hostile": load_programs(plan["hostile"]), "ordinary": load_programs(plan["ordinary"])}
    measured: list[dict[str, Any]] = []
    for name in dict.fromkeys(name for given in names for name in (NAMES if given == "all" else (given,))):
        if name not in NAMES and ":" not in name:
            raise click.UsageError(f"no sandbox named {name!r}; there is {', '.join(NAMES)}, or MODULE:FACTORY.")
        try:
            measured.append(measure(name, plan))
        except (AtcError, ImportError, ValueError) as error:
            if name in names:
                raise click.ClickException(f"the sandbox {name!r} cannot be measured here: {error}") from error
            measured.append({"backend": name, "without": plan["without"], "unavailable": str(error), "passed": True})
    machine = {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()}
    passed = all(one["passed"] for one in measured)
    report = {"suite": "sandbox", "version": __version__, "machine": machine, "seed": plan["seed"], "passed": passed}
    report["backends"] = measured
    show(report, (line for one in measured for line in lines(one)), as_json=as_json)
    if out is not None:
        out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.exit(not passed)


def load_programs(folder: Path | None) -> list[Program]:
    """The `*.py` files of `folder`, by name."""
    if folder is None:
        return []
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise click.UsageError(f"{str(folder)!r} holds no *.py file; give a folder of programs, one a file.")
    try:
        return [Program(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    except UnicodeDecodeError as error:
        raise click.UsageError(f"a program of {str(folder)!r} is not UTF-8: {error}") from error


def measure(backend: str, plan: dict[str, Any]) -> dict[str, Any]:
    """One backend: what it says of itself, and what was found. None where a part was left out."""
    without, hostile, ordinary = plan["without"], plan["hostile"], plan["ordinary"]
    if backend in NAMES and (reason := availability(backend).reason) is not None:
        raise AtcError(reason)
    sandbox = open_backend(backend, without)
    try:
        sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())  # some know their layers only then
        found: dict[str, Any] = {"backend": backend, "without": without, "unavailable": None}
        found |= {"layers": list(sandbox.layers), "boundary": sandbox.boundary}
        found["ordinary"] = measure_ordinary(ordinary, sandbox) if ordinary else None
    finally:
        sandbox.close()
    found["latency"] = measure_latency(backend, without, plan["runs"]) if plan["runs"] else None
    found["containment"] = measure_containment(hostile, backend, without, _tell) if hostile else None
    numbers = (plan["soak"], plan["jobs"], plan["seed"])
    found["soak"] = measure_soak(backend, without, *numbers, hostile) if plan["soak"] else None
    contained = not hostile or found["containment"]["contained"] == len(hostile)
    same = not ordinary or found["ordinary"]["same"] == len(ordinary)
    return found | {"passed": contained and same and (found["soak"] is None or found["soak"]["passed"])}


def _tell(verdict: dict[str, Any]) -> None:
    """A hostile program's verdict as it comes, on stderr."""
    click.echo(
        f"{verdict['verdict']:<9} {verdict['seconds']:5.2f} s  {verdict['program']}  {verdict['reason']}", err=True
    )


def lines(one: dict[str, Any]) -> Iterator[str]:
    """What was found of one backend, for people."""
    without = f" without {', '.join(one['without'])}" if one["without"] else ""
    if one["unavailable"] is not None:
        yield f"{one['backend']}{without}: not measured: {one['unavailable']}"
        return
    yield f"{one['backend']}{without}: {', '.join(one['layers']) or 'no layers'}"
    if found := one["containment"]:
        for verdict in found["verdicts"]:
            how = verdict["reason"] or verdict["failure"] or "finished"
            yield f"  {verdict['program']:<32}  {verdict['verdict']:<9}  {verdict['seconds']:5.2f} s  {how}"
        yield f"  hostile   {found['contained']} of {len(found['verdicts'])} contained"
    if found := one["ordinary"]:
        yield from (f"  {name:<32}  {reason}" for name, reason in found["differing"].items())
        yield f"  ordinary  {found['same']} of {found['programs']} as in CPython"
    for name, taken in (one["latency"] or {}).items():
        if taken:
            yield f"  {name:<28}" + "  ".join(f"{value:8.2f} {key}" for key, value in taken.items())
    if found := one["soak"]:
        first, last = found["resident_first_bytes"] / 2**20, found["resident_last_bytes"] / 2**20
        yield f"  soak      {found['runs']:,} runs, {found['jobs']} at a time: {found['runs_per_second']:.0f} a second"
        yield f"  host      {first:.1f} MiB in the first quarter, {last:.1f} in the last"
        yield "  ends      " + ", ".join(f"{count:,} {end}" for end, count in found["ends"].items())
        yield from (f"  wrong     {text}" for text in found["troubles"])
        yield from (f"  left      {text}" for text in found["leaks"] or ("nothing",))


if __name__ == "__main__":
    main()
