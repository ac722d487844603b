"""`atc bench run`: ask the questions of a benchmark with one or more strategies, and print how many
were solved and at what cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from atc.cli import options
from atc.cli.errors import ExitCode
from atc.cli.output import bar, print_result, say
from atc.cli.wiring import SharedResources, open_agent, open_pool
from atc.core.config import SETTINGS, Config
from atc.core.parallel import Pool, Threads
from atc.core.text import count
from atc.settings.reading import load_config
from atc.strategies import STRATEGIES
from protocols.protocol import ToolProtocol
from protocols.secrets.sources import mask_source
from toolflow_bench.arms import Arm, RunOptions, ask_arms, cells
from toolflow_bench.baselines import BASELINES, baseline_worker
from toolflow_bench.metrics import summarize
from toolflow_bench.runner import Item, Worker
from toolflow_bench.services.service import NAMES
from toolflow_bench.settings import CATALOGUE, OpenWorld, draw_distractors, harden_worlds
from toolflow_bench.settings import SETTINGS as HARDSHIPS
from toolflow_bench.suites import choose_tasks, load_flights, services_of
from toolflow_bench.task import Task, require_gold
from toolflow_bench.workers import agent_worker, shared_agent
from toolflow_bench.world import World

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

run_options = options.combine_options(
    click.option(
        "--limit", type=options.AT_LEAST_ONE, metavar="N", help="The first N questions only."
    ),
    options.jobs_option,
    click.option(
        "--seed", type=int, default=0, metavar="N", help="What random choices start from (0)."
    ),
    click.option(
        "--timeout",
        type=options.POSITIVE,
        default=180.0,
        metavar="S",
        help="Seconds for one question (180).",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        default=1,
        metavar="K",
        help="Ask each question K times (1).",
    ),
    click.option(
        "--out", type=options.FILE, metavar="FILE", help="File of rows, continued if it is there."
    ),
)
"""The options that `atc bench run` has for every benchmark. `RunOptions` has a field for each."""


def strategies_option(also: str) -> Callable[[_Verb], _Verb]:
    """Return the repeatable option `--strategy`.

    `also` is added to its help: it describes the names that only this benchmark accepts.
    """
    names = f"{', '.join(STRATEGIES)}; 'all' is each of these in turn"
    return click.option(
        "--strategy",
        "strategies",
        multiple=True,
        metavar="NAME[:FLAG=VALUE,…]",
        help=f"How a task is solved: {names}. Repeatable. {also}",
    )


def select_strategies(strategies: Sequence[str]) -> tuple[str | None, ...]:
    """Return the chosen strategies without repetitions; `all` stands for every strategy.

    If no strategy is chosen, return `(None,)`, which means the configured strategy.
    """
    names = [name for given in strategies for name in (STRATEGIES if given == "all" else (given,))]
    return tuple(dict.fromkeys(names)) or (None,)


def measure(
    suite: str, items: Sequence[Item], arms: Sequence[Arm], how: RunOptions, pool: Pool
) -> NoReturn:
    """Ask all questions with a progress bar, print a summary for each strategy and exit.

    Each of `arms` is one strategy to compare, with its model and settings. The exit code is
    `ENVIRONMENT` if some questions could not be graded because of outages or crashes, else 0.
    """
    try:
        with bar("asking", total=len(arms) * len(items[: how.limit]) * how.repeats) as advance:
            asked = ask_arms(suite, items, arms, how, pool, say=say, advance=advance)
    except KeyboardInterrupt:
        say("Stopped; the same command goes on.")
        raise
    found = [(arm, str(path), summarize(rows, seed=how.seed)) for arm, path, rows in asked]
    documents = [
        {"suite": suite, "model": arm.model, "strategy": arm.name, "rows": path} | asdict(summary)
        for arm, path, summary in found
    ]
    rows = [cells(arm.name, summary, how.repeats) for arm, _, summary in found]
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    print_result(
        documents[0] if len(arms) == 1 else {"suite": suite, "strategies": documents}, table
    )
    say(f"All figures on a page: atc bench report {' '.join(path for _, path, _ in found)}")
    outages = sum(one.outages for *_, one in found)
    crashes = sum(one.crashes for *_, one in found)
    if outages or crashes:
        left = f"{count(outages, 'outage')}, {crashes} crashed"
        say(f"Not graded: {left}; the same command asks these again.")
        sys.exit(ExitCode.ENVIRONMENT)
    sys.exit(ExitCode.DONE)


@click.command(
    cls=options.Verb,
    examples=[
        "atc bench run toolflow --split short --sample 30 --model local",
        "atc bench run toolflow --split long --services movies,places --jobs 4 --json",
        "atc bench run toolflow --strategy gold",
        "atc bench run toolflow --sample 20 --strategy all --max-tokens 6000 --out all.jsonl",
        (
            "atc bench run toolflow --strategy chain --strategy chain:repair=none"
            " --strategy anytool:solver=cot"
        ),
        "atc bench run toolflow --sample 60 --setting hard --repeats 3 --model gpt-5",
        "atc bench run toolflow --workers ray:10.0.0.5:6379 --model gpt-5",
    ],
)
@click.option(
    "--split", default="all", show_default=True, metavar="NAME", help="long, short or all."
)
@click.option(
    "--services",
    default="",
    metavar="NAMES",
    help="Tasks of these services alone, with commas between.",
)
@click.option(
    "--data", type=options.FILE, metavar="DIR", help="Folder of tasks instead of ToolFlow's."
)
@strategies_option(
    "echo, first and random are wrong answers without a model, gold is the right one."
)
@options.model_option
@click.option(
    "--sample",
    type=options.AT_LEAST_ONE,
    metavar="N",
    help="N tasks drawn by --seed, from each service its share.",
)
@click.option(
    "--open", is_flag=True, help="No candidates: all operations, among 2,000 tools of a catalogue."
)
@click.option("--blind", is_flag=True, help="Tools that do not say what they answer.")
@click.option(
    "--faulty", is_flag=True, help="One call in twenty fails or is slow, drawn by --seed."
)
@click.option(
    "--drifting",
    is_flag=True,
    help="A quarter of the operations have a field renamed against the document.",
)
@click.option("--setting", type=click.Choice(["standard", "hard"]), help="hard: all four of these.")
@click.option(
    "--distractors",
    type=options.FILE,
    default=CATALOGUE,
    metavar="FILE",
    help="For --open: StableToolBench's apis.json.",
)
@click.option(
    "--max-tokens", type=options.AT_LEAST_ONE, metavar="N", help="Model tokens for one question."
)
@click.option(
    "--max-model-calls",
    type=options.AT_LEAST_ONE,
    metavar="N",
    help="Requests to the model for one.",
)
@run_options
@options.workers_option
def toolflow(
    *,
    split: str,
    services: str,
    strategies: tuple[str, ...],
    sample: int | None,
    data: Path | None,
    setting: str | None,
    distractors: Path,
    **more: Any,
) -> None:
    """587 tasks over four services on real data, graded by program.

    The result of each task, with its programs and calls, is written to one line of a file. If a run
    was stopped, the same command continues it. Tasks that fail on our side, for example because a
    model is down, are counted separately and asked again. Exit status 3 if any of these are left.
    """
    hard = [name for name in HARDSHIPS if more.pop(name) or setting == "hard"]
    flags = {name: more.pop(name) for name in SETTINGS if name in more}
    how = RunOptions(**more)
    only = tuple(name.strip() for name in services.split(",") if name.strip())
    tasks = choose_tasks(split, only, sample=sample, seed=how.seed, folder=data)
    names = select_strategies(strategies)
    if "gold" in names:
        require_gold(tasks)
    base = _without_secrets(flags)
    items = [Item.of(task) for task in tasks]
    others: tuple[ToolProtocol, ...] = ()
    if "open" in hard:
        others = draw_distractors(distractors, seed=how.seed)
        items = [replace(item, candidates=()) for item in items]
    open_world = _worlds(base, () if "open" in hard else tasks[: how.limit])
    open_world = harden_worlds(open_world, hard, distractors=others)
    about: dict[str, Any] = {"split": split, "services": sorted(only), "sample": sample}
    if hard:
        about["setting"] = hard
    with SharedResources(base) as shared, open_pool(base, how.jobs) as pool:
        arms = [_arm(name, flags, open_world, shared, about) for name in names]
        measure("toolflow", items, arms, how, pool)


def _arm(
    name: str | None,
    flags: Mapping[str, Any],
    open_world: OpenWorld,
    shared: SharedResources,
    settings: Mapping[str, Any],
) -> Arm:
    """Return one of the alternatives that are compared: a strategy, or a baseline without a model.

    `name` is that of the strategy or baseline; None means the configured strategy. `shared` has the
    sandbox, model and store. Each worker process has its own copy of it.
    """
    baseline = next((one for one in BASELINES if one == name), None)
    if baseline is not None:

        def open_baseline() -> AbstractContextManager[Worker]:
            return baseline_worker(baseline, open_world, sandbox=shared.sandbox)()

        config = _without_secrets(dict(flags) | {"model": None})
        return Arm(
            name=baseline,
            model="none",
            config=config,
            open_worker=open_baseline,
            settings=settings,
        )
    config = _without_secrets(dict(flags) | {"strategy": name})

    def open_worker() -> AbstractContextManager[Worker]:
        return agent_worker(
            open_world,
            ask=shared.ask,
            sandbox=shared.sandbox,
            config=config,
            store=shared.store,
        )()

    return Arm(
        name=config.strategy,
        model=shared.ask.name,
        config=config,
        open_worker=open_worker,
        settings=settings,
    )


@click.command(
    cls=options.Verb,
    examples=["atc bench run flights --model local", "atc bench run flights --limit 4 --json"],
)
@click.option(
    "--data", type=options.FILE, metavar="FILE", help="Questions, one JSON object a line."
)
@options.tools_options
@options.model_option
@options.strategy_option
@run_options
def flights(*, data: Path | None, **more: Any) -> None:
    """24 questions about the flights that left New York in 2013.

    Each answer is written to one line of a file. If a run was stopped, the same command continues
    it. Questions that fail on our side, for example because a model is down, are counted separately
    and asked again. Exit status 3 if any of these are left.
    """
    items = [Item(question=question) for question in load_flights(data)]
    config = load_config({name: more.pop(name) for name in SETTINGS if name in more})
    how = RunOptions(**more)
    with open_agent(config) as agent:
        arm = Arm(
            name=config.strategy,
            model=agent.ask.name,
            config=config,
            open_worker=shared_agent(agent),
            settings={"tools": [*map(mask_source, config.tools)]},
        )
        measure("flights", items, [arm], how, Threads(how.jobs or 1))


def _without_secrets(flags: Mapping[str, Any]) -> Config:
    """Return the configuration, changed by `flags`, without credentials.

    ToolFlow's services need no credentials, so none are sent to the workers.
    """
    return replace(load_config(flags), credentials={}, mcp={}, headers={})


def _worlds(config: Config, tasks: tuple[Task, ...]) -> OpenWorld:
    """Return a function that starts the ToolFlow services that the tasks need.

    These are the services of the tasks' candidate tools. If there are no tasks, all services are
    started.
    """
    names = services_of(tasks) if tasks else NAMES
    return lambda: World(names, folder=config.cache_dir, announce=say)
