"""`atc bench run SUITE`: ToolFlow's tasks, by a model or by an answer without one, and the questions about flights."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_arms import Arm, RunOptions, measure, run_options, strategies_option, wanted
from atc.cli.options import AT_LEAST_ONE, FILE, model_option, strategy_option, tools_option, workers_option
from atc.cli.output import say
from atc.cli.pool import Shared, open_pool
from atc.cli.settings import load_config
from atc.config import Config
from atc.models.prices import Price, price_of
from protocols.protocol import ToolProtocol
from toolflow_bench.baselines import BASELINES, Baseline, baseline_worker
from toolflow_bench.runner import Item, OpenWorker
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.settings import (
    CATALOGUE,
    SETTINGS,
    described_by,
    digest_of,
    draw_distractors,
    hardened,
    load_given,
)
from toolflow_bench.suites import choose_tasks, load_flights, services_of
from toolflow_bench.task import Task, require_gold
from toolflow_bench.workers import OpenWorld, agent_worker, shared_agent
from toolflow_bench.world import World

_TOOLFLOW_EPILOG = """\b
Examples:
  atc bench run toolflow --split short --sample 30 --model local
  atc bench run toolflow --split long --services movies,places --jobs 4 --json
  atc bench run toolflow --strategy gold
  atc bench run toolflow --sample 20 --strategy all --max-tokens 6000 --out all.jsonl
  atc bench run toolflow --strategy chain --strategy chain:repair=none --strategy anytool:solver=cot
  atc bench run toolflow --services places --protocols places=probed/places
  atc bench run toolflow --sample 60 --setting hard --repeats 3 --model gpt-5
  atc bench run toolflow --workers ray:10.0.0.5:6379 --model gpt-5
"""
_FLIGHTS_EPILOG = """\b
Examples:
  atc bench run flights --model local
  atc bench run flights --limit 4 --json
"""


@click.command(epilog=_TOOLFLOW_EPILOG)
@click.option("--split", default="all", show_default=True, metavar="NAME", help="long, short or all.")
@click.option("--services", default="", metavar="NAMES", help="Tasks of these services alone, with commas between.")
@click.option("--data", type=FILE, metavar="DIR", help="Folder of tasks instead of ToolFlow's.")
@strategies_option("echo, first and random are wrong answers without a model, gold is the right one.")
@model_option
@click.option("--sample", type=AT_LEAST_ONE, metavar="N", help="N tasks drawn by --seed, from each service its share.")
@click.option("--open", is_flag=True, help="No candidates: all operations, among 2,000 tools of a catalogue.")
@click.option("--blind", is_flag=True, help="Tools that do not say what they answer.")
@click.option("--faulty", is_flag=True, help="One call in twenty fails or is slow, drawn by --seed.")
@click.option("--drifting", is_flag=True, help="A quarter of the operations have a field renamed against the document.")
@click.option("--setting", type=click.Choice(["standard", "hard"]), help="hard: all four of these.")
@click.option(
    "--distractors", type=FILE, default=CATALOGUE, metavar="FILE", help="For --open: StableToolBench's apis.json."
)
@click.option("--protocols", multiple=True, metavar="SERVICE=DIR",
              help="A folder of protocols instead of the service's own document. Repeatable.")  # fmt: skip
@click.option("--max-tokens", type=AT_LEAST_ONE, metavar="N", help="Model tokens for one question.")
@click.option("--max-model-calls", type=AT_LEAST_ONE, metavar="N", help="Requests to the model for one.")
@run_options
@workers_option
def toolflow(
    *,
    split: str,
    services: str,
    strategies: tuple[str, ...],
    sample: int | None,
    data: Path | None,
    protocols: tuple[str, ...],
    setting: str | None,
    distractors: Path,
    workers: str | None,
    **more: Any,
) -> None:
    """587 tasks over four services on real data, graded by program.

    Each task is one line of a file, with its programs and calls; a run that was stopped goes on where it was when the
    same command is given again. What fails on our side (a model that is down) is counted apart and asked again. Exit
    status 3 if any is left.
    """
    hard = [name for name in SETTINGS if more.pop(name) or setting == "hard"]
    flags = {name: more.pop(name) for name in ("model", "max_tokens", "max_model_calls")}
    options = RunOptions(**more)
    named = tuple(name.strip() for name in services.split(",") if name.strip())
    tasks = choose_tasks(split, named, sample=sample, seed=options.seed, folder=data)
    given = load_given(_folders(protocols))
    names = wanted(strategies)
    if "gold" in names:
        require_gold(tasks)
    base = _without_secrets(flags | {"workers": workers})
    items = [Item.of(task) for task in tasks]
    others: tuple[ToolProtocol, ...] = ()
    if "open" in hard:
        others = draw_distractors(distractors, seed=options.seed)
        items = [replace(item, candidates=()) for item in items]
    open_world = _worlds(base, () if "open" in hard else tasks[: options.limit])
    open_world = described_by(open_world, given) if given else open_world
    open_world = hardened(open_world, hard, distractors=others)
    about: dict[str, Any] = {"split": split, "services": sorted(named), "sample": sample}
    about |= {"setting": hard} if hard else {}
    about |= {"protocols": digest_of(given)} if given else {}
    with Shared(base) as shared, open_pool(base, options.jobs) as pool:
        arms = []
        for strategy in names:
            baseline = next((name for name in BASELINES if name == strategy), None)
            config = _without_secrets(flags | ({"model": None} if baseline else {"strategy": strategy}))
            asked = "none" if baseline else shared.ask.name
            arms.append(
                Arm(
                    name=baseline or config.strategy,
                    model=asked,
                    config=config,
                    open_worker=_solver(shared, config, open_world, baseline),
                    price=_price(asked, config),
                    settings=about,
                )
            )
        status = measure("toolflow", items, arms, options, pool)
    sys.exit(status)


@click.command(epilog=_FLIGHTS_EPILOG)
@click.option("--data", type=FILE, metavar="FILE", help="Questions, one JSON object a line.")
@tools_option
@model_option
@strategy_option
@run_options
@workers_option
def flights(
    *,
    data: Path | None,
    model: str | None,
    strategy: str | None,
    tools: tuple[str, ...],
    workers: str | None,
    **run: Any,
) -> None:
    """24 questions about the flights that left New York in 2013.

    Each answer is one line of a file; a run that was stopped goes on where it was when the same command is given
    again. What fails on our side (a model that is down) is counted apart and asked again. Exit status 3 if any is left.
    """
    items = [Item(question=question) for question in load_flights(data)]
    config = load_config({"model": model, "strategy": strategy, "tools": tools, "workers": workers})[0]
    options = RunOptions(**run)
    with Shared(config) as shared, open_pool(config, options.jobs) as pool:
        model = shared.ask.name
        arm = Arm(
            name=config.strategy,
            model=model,
            config=config,
            open_worker=lambda: shared_agent(shared.agent)(),
            price=_price(model, config),
            settings={"tools": list(config.tools)},
        )
        status = measure("flights", items, [arm], options, pool)
    sys.exit(status)


def _without_secrets(flags: dict[str, Any]) -> Config:
    """The configuration without credentials: ToolFlow's services take none, so they are sent to no worker."""
    return replace(load_config(flags)[0], credentials={}, mcp={}, headers={})


def _solver(shared: Shared, config: Config, open_world: OpenWorld, baseline: Baseline | None) -> OpenWorker:
    """Workers for ToolFlow's tasks: a baseline, or an agent with a strategy. Each process opens its own `shared`."""
    if baseline is not None:
        return lambda: baseline_worker(baseline, open_world, sandbox=shared.sandbox)()
    return lambda: agent_worker(open_world, ask=shared.ask, sandbox=shared.sandbox, config=config, store=shared.store)()


def _price(model: str, config: Config) -> Price | None:
    """What the model costs: the configured price, else its list price; nothing where no model is asked."""
    return Price(*config.model_price) if config.model_price and model != "none" else price_of(model)


def _worlds(config: Config, tasks: tuple[Task, ...]) -> OpenWorld:
    """Opens a world with the services that the tasks' candidates come from; without tasks, with all."""
    names = services_of(tasks) if tasks else NAMES
    return lambda: World(names, folder=config.cache_dir, announce=say)


def _folders(protocols: tuple[str, ...]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for text in protocols:
        service, equals, folder = text.partition("=")
        if not equals or not Path(folder).is_dir():
            wanted = f"{text!r} is not SERVICE=DIR with a folder that exists."
            raise click.BadParameter(wanted, param_hint="--protocols")
        find_service(service)
        folders[service] = Path(folder)
    return folders
