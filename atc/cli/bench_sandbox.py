"""`atc bench run sandbox`: what each sandbox holds, runs and costs, by any folders of programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import json_option
from atc.cli.output import json_text, print_json, print_text, say
from protocols.files import write_whole
from sandbox.errors import SandboxUnavailable

if TYPE_CHECKING:
    from toolflow_bench.sandboxes.suite import Measured, Plan

_EPILOG = """\b
Examples:
  atc bench run sandbox --hostile redteam --ordinary snippets
  atc bench run sandbox --backend docker --hostile redteam --runs 0 --json
  atc bench run sandbox --backend zygote --without namespaces --soak 10000
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    default=["zygote"],
    show_default=True,
    metavar="NAME",
    help="zygote, docker, monty, trusted, MODULE:FACTORY of your own, or all of ours; repeatable.",
)
@click.option("--without", multiple=True, metavar="LAYER", help="Switch this layer off; repeatable.")
@click.option(
    "--hostile",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Programs that must be contained, one a *.py file; 'docs/security.md' describes them.",
)
@click.option(
    "--ordinary", type=click.Path(path_type=Path), metavar="DIR", help="Programs that must run as in CPython."
)
@click.option(
    "--runs",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    metavar="N",
    help="Runs for each figure of latency; 0 leaves them out.",
)
@click.option("--soak", type=click.IntRange(0), default=0, metavar="N", help="Runs of the soak, a tenth hostile.")
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=8, show_default=True, metavar="N", help="Runs of the soak at once."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="What the soak's programs are drawn by."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the report here too, as JSON.")
@json_option
def sandbox(
    *,
    backends: tuple[str, ...],
    without: tuple[str, ...],
    hostile: Path | None,
    ordinary: Path | None,
    runs: int,
    soak: int,
    jobs: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run programs in every sandbox and see what holds and what it costs.

    Each hostile program gets a host process, secrets and listeners of its own. Exit status 1 if one is not contained,
    an ordinary program does not do what it does in CPython, or the soak leaves anything behind.
    """
    from toolflow_bench.sandboxes.programs import load_programs
    from toolflow_bench.sandboxes.report import lines
    from toolflow_bench.sandboxes.suite import Plan, report

    plan = Plan(
        hostile=load_programs(hostile) if hostile else (),
        ordinary=load_programs(ordinary) if ordinary else (),
        latency_runs=runs,
        soak_runs=soak,
        jobs=jobs,
        seed=seed,
        without=without,
    )
    measured = []
    for one in _each(backends, plan):
        measured.append(one)
        if not as_json:
            print_text("\n".join(lines(one)))
    document = report(measured, plan)
    if as_json:
        print_json(document)
    if out is not None:  # last: a file that cannot be written must not cost what was measured
        write_whole(out, json_text(document, indent=2) + "\n")
    sys.exit(0 if document["passed"] else 1)


def _each(backends: tuple[str, ...], plan: Plan) -> Iterator[Measured]:
    """The measurements, one backend after the other. Under `all`, those that cannot be had are passed by."""
    from sandbox.choose import NAMES
    from toolflow_bench.sandboxes.backends import check_name, why_not
    from toolflow_bench.sandboxes.suite import Measured, measure

    names = dict.fromkeys(name for given in backends for name in (NAMES if given == "all" else (given,)))
    for name in names:
        check_name(name)
    absent = {name: reason for name in names if (reason := why_not(name, plan.without)) is not None}
    for name, reason in absent.items():
        if name in backends or len(absent) == len(names):
            raise SandboxUnavailable(f"the sandbox {name!r} cannot be measured here: {reason}")
        say(f"{name}: not measured: {reason}")
        yield Measured(backend=name, without=plan.without, unavailable=reason)
    for name in names:
        if name not in absent:
            say(f"{name}: {_parts(plan)}")
            yield measure(name, plan, say)


def _parts(plan: Plan) -> str:
    from atc.cli.output import count

    parts = [
        count(len(plan.hostile), "hostile program"),
        count(len(plan.ordinary), "ordinary program"),
        f"latency over {count(plan.latency_runs, 'run')}",
        f"a soak of {count(plan.soak_runs, 'run')}",
    ]
    sizes = (len(plan.hostile), len(plan.ordinary), plan.latency_runs, plan.soak_runs)
    return ", ".join(part for part, size in zip(parts, sizes, strict=True) if size) or "nothing to measure"
