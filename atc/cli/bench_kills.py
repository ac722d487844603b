"""`atc bench run kills`: hosts that are killed in the middle of writing runs, and what the services' logs say then."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import json_option
from atc.cli.output import json_text, print_json, print_text, say
from atc.cli.settings import load_config
from protocols.files import write_whole

if TYPE_CHECKING:
    from toolflow_bench.kills.stage import Played

_EPILOG = """\b
Examples:
  atc bench run kills
  atc bench run kills --runs 40 --seed 7 --json
"""


@click.command(epilog=_EPILOG)
@click.option("--runs", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="Runs to be killed.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What tasks and kills are drawn by.")
@click.option(
    "--jobs", type=click.IntRange(1, 16), default=2, show_default=True, metavar="N", help="Runs played at once."
)
@click.option("--sandbox", metavar="NAME", help="What runs the programs: auto, zygote, docker, monty or trusted.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the report here too, as JSON.")
@json_option
def kills(*, runs: int, seed: int, jobs: int, sandbox: str | None, out: Path | None, as_json: bool) -> None:
    """Kill hosts in the middle of writing runs, resume the runs, and judge by the services' own logs.

    Exit status 1 if a write was repeated or lost, a run guessed or paused without need, or did not end as its program
    does undisturbed.
    """
    from toolflow_bench.kills.report import lines
    from toolflow_bench.kills.suite import measure

    backend = load_config({"sandbox": sandbox})[0].sandbox
    measured = measure(runs=runs, seed=seed, jobs=jobs, backend=backend, on_run=_told)
    if as_json:
        print_json(measured.as_json())
    else:
        print_text("\n".join(lines(measured)))
    if out is not None:  # last: a file that cannot be written must not cost what was measured
        write_whole(out, json_text(measured.as_json(), indent=2) + "\n")
    sys.exit(0 if measured.passed else 1)


def _told(played: Played, done: int, total: int) -> None:
    """A line for a run that went wrong, and one for each tenth of all."""
    if played.verdict.wrong is not None:
        say(f"{done:>3}/{total}  run {played.number} ({played.group}, {played.kind}): {played.verdict.wrong}")
    elif done * 10 // total > (done - 1) * 10 // total:
        say(f"{done:>3}/{total}  as it should be")
