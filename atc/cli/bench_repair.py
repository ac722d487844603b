"""`atc bench run repair`: ways to go on from a program that failed, compared task by task."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.bench_run import RunOptions, Watch, make_header, own_file
from atc.cli.models import told_in_tenths
from atc.cli.options import json_option, model_option
from atc.cli.output import print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_store
from atc.config import Config

if TYPE_CHECKING:
    from sandbox.base import Sandbox
    from toolflow_bench.repairs.arms import Arm, Bench
    from toolflow_bench.repairs.suite import ArmFile
    from toolflow_bench.runner import Item
    from toolflow_bench.task import Task
    from toolflow_bench.world import World

_DEFAULT_ARMS = {"mutants": "traceback,reflection,facts", "scratch": "none,traceback,reflection,facts"}
_DEFAULT_SAMPLE = {"mutants": 60, "scratch": 15}
_EPILOG = """\b
Examples:
  atc bench run repair --sample 15 --model local
  atc bench run repair --source scratch --sample 15 --json
  atc bench run repair --arms facts,atc-traceback
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked: items, their first programs (none: the model's own), and the kinds of these programs' faults."""

    items: tuple[Item, ...]
    programs: Mapping[str, str]
    kinds: Mapping[str, str]


@click.command(epilog=_EPILOG)
@click.option("--arms", metavar="NAMES", help="traceback, reflection, facts, none, atc-traceback, atc-reflection.")
@click.option(
    "--source",
    type=click.Choice(["mutants", "scratch"]),
    default="mutants",
    show_default=True,
    help="First programs: gold programs with a fault in them, or what the model itself writes first.",
)
@click.option("--split", metavar="NAME", help="long, short or all; by default all for mutants, short from scratch.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Tasks, drawn by --seed; 60 mutants or 15 from scratch."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What is drawn by.")
@model_option
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="S",
    help="Seconds for one task in one arm.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of rows, a file an arm, continued if there."
)
@click.option("--restart", is_flag=True, help="Empty the files in --out first.")
@click.option("--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder of tasks instead of ToolFlow's.")
@json_option
def repair(
    *,
    arms: str | None,
    source: str,
    split: str | None,
    sample: int | None,
    seed: int,
    model: str | None,
    timeout: float,
    out: Path | None,
    restart: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Compare ways of repair on the same faulty programs.

    traceback and reflection are plain code agents: no check, no journal, the traceback (and the tool that the model
    blames for it, with its documentation). facts is atc. atc-traceback and atc-reflection are atc with the plain
    agents' messages. Each task's arms follow one another from the same first program, one sample a repair, three
    repairs at most. Exit status 3 if an outage is left.
    """
    from toolflow_bench.prices import price_of
    from toolflow_bench.repairs.suite import run_arms
    from toolflow_bench.repairs.text import lines
    from toolflow_bench.suites.toolflow import choose_tasks

    chosen = _arms(arms or _DEFAULT_ARMS[source])
    count = sample or _DEFAULT_SAMPLE[source]
    split = split or ("all" if source == "mutants" else "short")
    tasks = choose_tasks(split, sample=count if source == "scratch" else None, seed=seed, folder=data)
    config = load_config({"model": model})[0]
    options = RunOptions(
        limit=None, jobs=1, seed=seed, timeout=timeout, repeats=1, out=out, restart=restart, as_json=as_json
    )
    with _bench(config, tasks, source, count, seed) as (bench, name, asked):
        said = {"source": source, "split": split, "sample": count}
        files = [_file(arm, asked.items, config, name, options, said) for arm in chosen]
        say(f"repair from {source}: {len(asked.items)} tasks in {len(chosen)} arms with {name}; rows go to:")
        for file in files:
            say(f"  {file.arm.name}: {file.path}")
        with Watch() as watch:
            report = run_arms(
                asked.items,
                bench,
                files,
                kinds=asked.kinds,
                restart=restart,
                seed=seed,
                timeout_seconds=timeout,
                price=price_of(name),
                on_row=lambda arm, row, done, total: watch(replace(row, id=f"{arm.name} {row.id}"), done, total),
            )
    if as_json:
        print_json({"suite": "repair", "source": source, "model": name, "tasks": len(asked.items)} | report.as_json())
    else:
        print_text("\n".join(lines(report)))
    sys.exit(3 if report.left else 0)


def _arms(text: str) -> list[Arm]:
    from toolflow_bench.repairs.arms import ARMS

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in ARMS:
            raise click.BadParameter(f"no arm named {name!r}; there is {', '.join(ARMS)}.", param_hint="--arms")
    if not names:
        raise click.BadParameter("name at least one arm.", param_hint="--arms")
    return [ARMS[name] for name in names]


@contextmanager
def _bench(
    config: Config, tasks: Sequence[Task], source: str, count: int, seed: int
) -> Iterator[tuple[Bench, str, _Asked]]:
    """A bench over the tasks' services, the model's name, and what is asked."""
    from sandbox.choose import open_sandbox
    from toolflow_bench.repairs.arms import Bench
    from toolflow_bench.repairs.log import LoggedWorld
    from toolflow_bench.runner import Item
    from toolflow_bench.suites.toolflow import services_of

    with ExitStack() as stack:
        world = stack.enter_context(LoggedWorld(services_of(tasks), folder=config.cache_dir, announce=say))
        sandbox = stack.enter_context(closing(open_sandbox(config.sandbox, policy=config.policy)))
        ask = choose_model(config, progress=told_in_tenths(), talk=say)
        if source == "mutants":
            asked = _faulty(tasks, world, sandbox, count, seed)
        else:
            asked = _Asked(tuple(Item.of(task) for task in tasks), {}, {})
        store = stack.enter_context(open_store(config))
        bench = Bench(world, ask=ask, sandbox=sandbox, config=config, programs=asked.programs, store=store)
        yield bench, ask.name, asked


def _faulty(tasks: Sequence[Task], world: World, sandbox: Sandbox, count: int, seed: int) -> _Asked:
    from toolflow_bench.repairs.faulty import faulty_programs
    from toolflow_bench.runner import Item

    say(f"looking for {count} mutants whose fault shows …")
    found = faulty_programs(tasks, world, sandbox, count=count, seed=seed)
    items = tuple(replace(Item.of(mutant.task), question=replace(mutant.task, id=mutant.id)) for mutant in found)
    return _Asked(items, {m.id: m.program for m in found}, {m.id: m.kind for m in found})


def _file(
    arm: Arm, items: Sequence[Item], config: Config, model: str, options: RunOptions, said: Mapping[str, object]
) -> ArmFile:
    """Where an arm's rows go: into the folder that was given, else the newest unfinished run of the same kind."""
    from toolflow_bench.repairs.arms import one_sample
    from toolflow_bench.repairs.suite import ArmFile

    questions = [item.question for item in items]
    header = make_header(
        f"repair-{said['source']}-{arm.name}",
        questions,
        one_sample(config),
        model=model,
        options=options,
        arm=arm.name,
        **said,
    )
    path = options.out / f"{arm.name}.jsonl" if options.out else own_file(config, header, items)
    return ArmFile(arm=arm, header=header, path=path)
