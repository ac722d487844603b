"""Run programs in every sandbox and see what holds and what it costs: `python -m benchmarks.sandbox`."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from atc import __version__
from benchmarks.sandbox.containment import Program, measure_containment
from benchmarks.sandbox.costs import measure_latency, measure_ordinary, measure_soak
from benchmarks.sandbox.host import open_backend
from protocols.errors import AtcError
from protocols.toolbox import Toolbox
from sandbox.choose import NAMES, availability
from sandbox.journal import Journal
from sandbox.limits import Limits

LATENCIES = {
    "print(1), child waiting": "prefork_ms",
    "print(1), on demand": "on_demand_ms",
    "print(1), one after another": "warm_ms",
    "one tool call": "call_us",
    "an echo between processes": "echo_us",
    "overrun of the wall limit": "overrun_ms",
}


def _option(name: str, text: str, **how: Any) -> Any:
    return click.option(name, help=text, show_default=bool(how.get("default")), **how)


_FOLDER: dict[str, Any] = {"type": click.Path(path_type=Path), "metavar": "DIR"}


@click.command()
@_option(
    "--backend",
    "zygote, docker, monty, trusted, MODULE:FACTORY, or all; repeatable.",
    multiple=True,
    default=["zygote"],
)
@_option("--without", "Switch this layer off; repeatable.", multiple=True, metavar="LAYER")
@_option("--hostile", "Programs that must be contained; 'docs/security.md' describes them.", **_FOLDER)
@_option("--ordinary", "Programs that must run as in CPython, one a *.py file.", **_FOLDER)
@_option("--runs", "Runs for each figure of latency; 0 leaves them out.", type=click.IntRange(0), default=200)
@_option("--soak", "Runs of the soak, a tenth hostile.", type=click.IntRange(0), default=0)
@_option("--jobs", "Runs of the soak at once.", type=click.IntRange(1, 64), default=8)
@_option("--seed", "What the soak's programs are drawn by.", type=int, default=0)
@_option("--out", "Write the report here too, as JSON.", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def main(*, backend: tuple[str, ...], out: Path | None, as_json: bool, **plan: Any) -> None:
    """Run programs in every sandbox and see what holds and what it costs.

    Each hostile program gets a host process, secrets and listeners of its own. Exit status 1 if one is not contained,
    an ordinary program does not do what it does in CPython, or the soak leaves anything behind.
    """
    plan |= {"hostile": load_programs(plan["hostile"]), "ordinary": load_programs(plan["ordinary"])}
    measured: list[dict[str, Any]] = []
    for name in dict.fromkeys(name for given in backend for name in (NAMES if given == "all" else (given,))):
        if name not in NAMES and ":" not in name:
            raise click.UsageError(f"no sandbox named {name!r}; there is {', '.join(NAMES)}, or MODULE:FACTORY.")
        try:
            measured.append(measure(name, plan))
        except (AtcError, ImportError) as error:
            if name in backend:
                raise click.ClickException(f"the sandbox {name!r} cannot be measured here: {error}") from error
            measured.append({"backend": name, "without": plan["without"], "unavailable": str(error), "passed": True})
        except ValueError as error:
            raise click.UsageError(
                f"the sandbox {name!r} cannot go without {', '.join(plan['without'])}: {error}"
            ) from error
        if not as_json:
            click.echo("\n".join(lines(measured[-1])))
    machine = {"platform": platform.platform(), "machine": platform.machine(), "python": platform.python_version(),
               "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2)}  # fmt: skip
    passed = all(one["passed"] for one in measured)
    report = {"suite": "sandbox", "version": __version__, "machine": machine, "seed": plan["seed"], "passed": passed}
    text = json.dumps(report | {"backends": measured}, indent=2)
    if as_json:
        click.echo(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")
    sys.exit(not passed)


def load_programs(folder: Path | None) -> list[Program]:
    """The `*.py` files of `folder`, by name."""
    if folder is None:
        return []
    paths = sorted(folder.glob("*.py"))
    if not paths:
        raise click.UsageError(f"{str(folder)!r} holds no *.py file; give a folder of programs, one a file.")
    try:
        return [Program(path.stem, path.read_bytes().decode("utf-8").replace("\r\n", "\n")) for path in paths]
    except UnicodeDecodeError as error:
        raise click.UsageError(f"a program of {str(folder)!r} is not UTF-8: {error}") from error


def measure(backend: str, plan: dict[str, Any]) -> dict[str, Any]:
    """One backend: what it says of itself, and what was found. None where a part was left out."""
    without = plan["without"]
    if backend in NAMES and (reason := availability(backend).reason) is not None:
        raise AtcError(reason)
    sandbox = open_backend(backend, without)
    try:
        sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())  # some know their layers only then
        found: dict[str, Any] = {"backend": backend, "without": without, "unavailable": None}
        found |= {"layers": list(sandbox.layers), "boundary": sandbox.boundary}
        compared = plan["ordinary"] and measure_ordinary(plan["ordinary"], sandbox, _progress("state"))
    finally:
        sandbox.close()
    found["ordinary"] = compared or None
    found["latency"] = measure_latency(backend, without, plan["runs"]) if plan["runs"] else None
    hostile = plan["hostile"]
    judged = hostile and measure_containment(hostile, backend, without, _progress("verdict"))
    found["containment"] = judged or None
    numbers = (plan["soak"], plan["jobs"], plan["seed"])
    found["soak"] = measure_soak(backend, without, *numbers, hostile) if plan["soak"] else None
    contained = found["containment"] is None or found["containment"]["contained"] == len(plan["hostile"])
    same = found["ordinary"] is None or not found["ordinary"]["differing"]
    return found | {"passed": contained and same and (found["soak"] is None or found["soak"]["passed"])}


def _progress(state: str) -> Callable[[dict[str, Any], int], None]:
    """What tells, on stderr, how far we are."""

    def tell(one: dict[str, Any], number: int) -> None:
        said = one["reason"] or one.get("failure", "")
        click.echo(f"{number:>3}  {one[state]:<9} {one['seconds']:5.2f} s  {one['program']}  {said}".rstrip(), err=True)

    return tell


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
        yield from (f"  the sandbox died before it ran {text}" for text in found["lost_starts"])
        yield f"  hostile   {found['contained']} of {found['programs']} contained"
    if found := one["ordinary"]:
        for compared in found["comparisons"]:
            yield f"  {compared['program']:<32}  {compared['state']:<9}  {compared['reason']}".rstrip()
        yield f"  ordinary  {found['same']} of {found['programs']} as in CPython"
    if found := one["latency"]:
        yield f"  first run, start included   {found['cold_ms']:8.1f} ms"
        for label, key in LATENCIES.items():
            if taken := found[key]:
                figures = "  ".join(f"{taken[at]:8.2f} {at}" for at in ("minimum", "p50", "p95", "maximum"))
                yield f"  {label:<27} {figures}  {key[-2:]} of {taken['count']}"
        yield from (f"  the endless {kind} ended otherwise: {end}" for kind, end in found["other_ends"].items())
        if found["idle_child_bytes"]:
            yield f"  a waiting child, private    {found['idle_child_bytes'] / 2**20:8.2f} MiB"
    if found := one["soak"]:
        first, last = found["resident_first_bytes"] / 2**20, found["resident_last_bytes"] / 2**20
        yield f"  soak      {found['runs']:,} runs, {found['jobs']} at a time: {found['runs_per_second']:.0f} a second"
        yield f"  host      {first:.1f} MiB in the first quarter, {last:.1f} in the last"
        yield "  ends      " + ", ".join(f"{count:,} {end}" for end, count in found["ends"].items())
        yield from (f"  wrong     {text}" for text in found["troubles"])
        yield from (f"  left      {text}" for text in found["leaks"] or ("nothing",))


if __name__ == "__main__":
    main()
