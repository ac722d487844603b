"""`atc bench run toolflow`: tasks over services on real data, by a model or by an answer without one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bench_agents import Agents
from atc.cli.bench_arms import Arm, measure, strategies_option, wanted
from atc.cli.bench_run import (
    RunOptions,
    budget_options,
    make_header,
    named_services,
    run_options,
    task_options,
)
from atc.cli.options import model_option
from atc.cli.output import say
from atc.cli.settings import load_config
from atc.config import Config

if TYPE_CHECKING:
    from atc.models.prices import Price
    from toolflow_bench.runner import OpenWorker
    from toolflow_bench.task import Task
    from toolflow_bench.workers import OpenWorld

_MODELLESS = ("echo", "first", "random", "gold")
_EPILOG = """\b
Examples:
  atc bench run toolflow --split short --sample 30 --model local
  atc bench run toolflow --split long --services movies,places --jobs 4 --json
  atc bench run toolflow --strategy gold
  atc bench run toolflow --sample 20 --strategy all --max-tokens 6000 --out all.jsonl
  atc bench run toolflow --strategy chain --strategy chain:repair=none --strategy anytool:solver=cot
  atc bench run toolflow --services places --protocols places=probed/places
  atc bench run toolflow --sample 60 --setting hard --repeats 3 --model gpt-5
"""


@click.command(epilog=_EPILOG)
@task_options
@strategies_option(
    *_MODELLESS, also=" echo, first and random are wrong answers without a model, gold is the right one."
)
@model_option
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="N tasks drawn by --seed before any is asked, from each service its share.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='USD per million tokens by model, TOML or JSON: "gpt-5-mini" = [0.25, 2.0].',
)
@click.option("--open", "open_", is_flag=True, help="No candidates: all operations, among 2,000 tools of a catalogue.")
@click.option("--blind", is_flag=True, help="Tools that do not say what they answer.")
@click.option("--faulty", is_flag=True, help="One call in twenty fails or is slow, drawn by --seed.")
@click.option("--drifting", is_flag=True, help="A quarter of the operations have a field renamed against the document.")
@click.option("--setting", type=click.Choice(["standard", "hard"]), help="hard: all four of these.")
@click.option(
    "--distractors",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The catalogue for --open: StableToolBench's apis.json. Default: ../shared/data/stabletoolbench/apis.json.",
)
@click.option(
    "--protocols",
    multiple=True,
    metavar="SERVICE=DIR",
    help="What is known of a service's tools, instead of its own document: a folder of protocols; repeatable.",
)
@budget_options
@run_options
def toolflow(
    *,
    split: str,
    services: tuple[str, ...],
    strategies: tuple[str, ...],
    model: str | None,
    max_tokens: int | None,
    max_model_calls: int | None,
    sample: int | None,
    prices: Path | None,
    data: Path | None,
    protocols: tuple[str, ...],
    open_: bool,
    blind: bool,
    faulty: bool,
    drifting: bool,
    setting: str | None,
    distractors: Path | None,
    **run: Any,
) -> None:
    """Solve ToolFlow's tasks: 4 services, real data, graded by program.

    Each task is one line of a file, with its programs and calls; a run that was stopped goes on where it was when the
    same command is given again. What fails on our side (a model that is down) is counted apart and asked again. Exit
    status 3 if any is left.
    """
    from atc.models.prices import LIST_PRICES, load_prices, price_of
    from toolflow_bench.given import described_by, digest, load_given
    from toolflow_bench.runner import Item
    from toolflow_bench.settings import CATALOGUE, SETTINGS, draw_distractors, hardened
    from toolflow_bench.suites.toolflow import choose_tasks
    from toolflow_bench.task import require_gold

    options = RunOptions(**run)
    named = named_services(services)
    tasks = choose_tasks(split, named, sample=sample, seed=options.seed, folder=data)
    table = load_prices(prices) if prices else LIST_PRICES
    given = load_given(_folders(protocols))
    names = wanted(strategies)
    if "gold" in names:
        require_gold(tasks)
    flags = {"model": model, "max_tokens": max_tokens, "max_model_calls": max_model_calls}
    base = _settings(flags, None)[0]
    chosen = dict(zip(SETTINGS, (open_, blind, faulty, drifting), strict=True))
    hard = [name for name in SETTINGS if chosen[name] or setting == "hard"]
    others = draw_distractors(distractors or CATALOGUE, seed=options.seed) if "open" in hard else ()
    open_world = _worlds(base, () if "open" in hard else tasks[: options.limit])
    open_world = described_by(open_world, given) if given else open_world
    open_world = hardened(open_world, hard, distractors=others)
    with Agents(base) as agents:
        items, arms = [Item.of(task) for task in tasks], []
        items = [replace(item, candidates=()) for item in items] if "open" in hard else items
        for strategy in names:
            config, baseline = _settings(flags, strategy)
            name, open_worker = _workers(agents, open_world, config, baseline)
            price = price_of(name, table)
            header = make_header(
                "toolflow",
                tasks,
                config,
                model=name,
                options=options,
                split=split,
                services=sorted(named),
                sample=sample,
                price=_plain(price),
                **({"strategy": baseline} if baseline else {}),
                **({"setting": hard} if hard else {}),
                **({"protocols": digest(given)} if given else {}),
            )
            arm = Arm.of(
                baseline or config.strategy,
                open_worker,
                header=header,
                config=config,
                options=options,
                items=items,
                alone=len(names) == 1,
                price=price,
            )
            arms.append(arm)
        status = measure(items, arms, options=options)
    sys.exit(status)


def _settings(flags: Mapping[str, Any], strategy: str | None) -> tuple[Config, str | None]:
    """The configuration of a strategy, and its name where it needs no model."""
    if strategy in _MODELLESS:
        return load_config({**flags, "model": None})[0], strategy
    return load_config({**flags, "strategy": strategy})[0], None


def _workers(agents: Agents, open_world: OpenWorld, config: Config, baseline: str | None) -> tuple[str, OpenWorker]:
    """The model's name and its workers; without a model the name is `none`."""
    from toolflow_bench.baselines import BASELINES, baseline_worker

    for name in BASELINES:
        if name == baseline:
            return "none", baseline_worker(name, open_world, sandbox=agents.sandbox)
    return agents.workers(open_world, config)


def _worlds(config: Config, tasks: Sequence[Task]) -> OpenWorld:
    """Opens a world with the services that the tasks' candidates come from; without tasks, with all."""
    from toolflow_bench.services.service import NAMES
    from toolflow_bench.suites.toolflow import services_of
    from toolflow_bench.world import World

    names = services_of(tasks) if tasks else NAMES
    return lambda: World(names, folder=config.cache_dir, announce=say)


def _folders(protocols: tuple[str, ...]) -> dict[str, Path]:
    from toolflow_bench.services.service import find_service

    folders: dict[str, Path] = {}
    for text in protocols:
        service, equals, folder = text.partition("=")
        if not equals or not Path(folder).is_dir():
            raise click.BadParameter(
                f"{text!r} is not SERVICE=DIR with a folder that exists.", param_hint="--protocols"
            )
        find_service(service)
        folders[service] = Path(folder)
    return folders


def _plain(price: Price | None) -> list[float] | None:
    return [price.input, price.output] if price is not None else None
