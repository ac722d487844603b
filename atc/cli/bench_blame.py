"""`atc bench run blame`: faults put into gold programs and services, and what attribution says of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from atc.cli.bars import bar
from atc.cli.bench_run import named_services, task_options
from atc.cli.options import json_option
from atc.cli.output import count, json_text, print_json, print_text, say
from protocols.files import cannot_write

if TYPE_CHECKING:
    from toolflow_bench.blame.row import Row

_EPILOG = """\b
Examples:
  atc bench run blame
  atc bench run blame --sample 20 --kind wrong_key --kind drift --most 3
  atc bench run blame --seed 7 --out blame.jsonl --json
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=120,
    show_default=True,
    metavar="N",
    help="N tasks drawn by --seed, from each service its share.",
)
@task_options
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only faults of this kind; repeatable.")
@click.option(
    "--most",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="N",
    help="Faults of each kind for each task, at most.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What tasks and faults are drawn by.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write a row for each fault, as JSON Lines."
)
@json_option
def blame(
    *,
    sample: int,
    split: str,
    services: tuple[str, ...],
    kinds: tuple[str, ...],
    most: int,
    seed: int,
    data: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Put faults into gold programs and services, and see whether attribution blames the right call and path.

    The truth is known, since each fault was put where it is. No model is asked.
    """
    from atc.cli.settings import load_config
    from toolflow_bench.blame.figures import by_kind, figures, lines
    from toolflow_bench.blame.suite import Plan, measure
    from toolflow_bench.suites.toolflow import choose_tasks

    named = named_services(services)
    tasks = choose_tasks(split, named, sample=sample, seed=seed, folder=data)
    plan = Plan(tasks=tasks, seed=seed, most=most, kinds=_known(kinds))
    say(f"blame: faults in {count(len(tasks), 'task')}")
    rows: list[Row] = []
    with _opened(out) as file, bar("blaming", total=len(tasks)) as advance:
        cache = load_config({})[0].cache_dir
        for row in measure(plan, folder=cache, on_task=lambda _task, done, _total: advance(done)):
            rows.append(row)
            if file is not None:
                file.write(json_text(row.as_json()) + "\n")
    found, whole = by_kind(rows), figures(rows)
    if as_json:
        kinds_told = {kind: one.as_json() for kind, one in found.items()}
        print_json({"suite": "blame", "seed": seed, "tasks": len(tasks), "kinds": kinds_told, "all": whole.as_json()})
    else:
        print_text("\n".join(lines(found, whole)))


def _known(kinds: tuple[str, ...]) -> tuple[str, ...]:
    from toolflow_bench.blame.figures import KINDS

    for kind in kinds:
        if kind not in KINDS:
            raise click.BadParameter(f"there is no kind {kind!r}; there are {', '.join(KINDS)}.", param_hint="--kind")
    return kinds or KINDS


@contextmanager
def _opened(out: Path | None) -> Iterator[TextIO | None]:
    if out is None:
        yield None
        return
    try:
        file = out.open("w", encoding="utf-8")
    except OSError as error:
        raise cannot_write(out, error) from error
    with file:
        yield file
