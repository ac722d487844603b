"""`python -m benchmarks.restbench`: TMDB's and Spotify's tasks against a mock of each API."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_run import run_options, select_strategies, strategies_option
from atc.cli.options import model_option
from atc.cli.output import bar, say
from atc.cli.wiring import choose_model, open_store
from atc.core.parallel import Threads
from atc.settings.reading import load_config
from benchmarks.restbench.data import APIS, FOLDER, RestWorld, items, load_restbench, replay_worker
from benchmarks.runner import suite
from sandbox.choose import open_sandbox
from toolflow_bench.arms import Arm, RunOptions, ask_arms
from toolflow_bench.metrics import Row, summarize
from toolflow_bench.suites import draw_stratified
from toolflow_bench.workers import agent_worker

SHOWN = (
    "path", "precision", "cp", "graded", "outages", "crashes", "calls", "repairs", "input_tokens",
    "output_tokens", "model_calls", "seconds_total",
)  # fmt: skip
"""Fields of a summary that are meaningful although no answer is graded."""


@suite
@click.option("--data", type=click.Path(path_type=Path), default=FOLDER, show_default=True)
@click.option("--api", type=click.Choice(["all", *APIS]), default="all", show_default=True)
@strategies_option("gold replays the gold paths without a model.")
@model_option
@click.option(
    "--sample", type=click.IntRange(1), help="Tasks drawn by --seed, of each API its share."
)
@click.option("--max-tokens", type=click.IntRange(1), help="Model tokens for one task.")
@run_options
def main(
    data: Path, api: str, strategies: tuple[str, ...], sample: int | None, **given: Any
) -> dict[str, Any]:
    """Solve RestBench's tasks; --strategy gold replays the gold paths without a model.

    Answers are not graded: Path, Precision and CP compare the calls with gold paths
    (docs/how/restbench.md). An interrupted run is continued. The exit status is 3 if results are
    missing because a model or this program failed.
    """
    flags = {name: given.pop(name) for name in ("model", "max_tokens")}
    options = RunOptions(**given)
    bench = load_restbench(data, APIS if api == "all" else (api,))
    seed = options.seed
    open_world = partial(RestWorld, bench, seed=options.seed)
    asked = items(bench, open_world().toolbox, seed=seed)
    if sample:
        asked = list(
            draw_stratified(
                asked,
                sample,
                seed=seed,
                name=lambda i: i.question.id,
                stratum=lambda i: i.services[0],
            )
        )
    shared = load_config(flags)
    names = select_strategies(strategies)
    arms = []
    with ExitStack() as stack:
        if names != ("gold",):
            ask = choose_model(shared)
            store = stack.enter_context(open_store(shared))
            sandbox = stack.enter_context(
                closing(open_sandbox(shared.sandbox, policy=shared.policy))
            )
        for name in names:
            config = load_config({**flags, "strategy": None if name == "gold" else name})
            about: dict[str, Any] = {"config": config, "settings": {"api": api, "sample": sample}}
            if name == "gold":
                arms.append(
                    Arm(
                        name=name,
                        model="none",
                        open_worker=replay_worker(bench, seed=seed),
                        **about,
                    )
                )
            else:
                worker = agent_worker(
                    open_world, ask=ask, sandbox=sandbox, config=config, store=store
                )
                arms.append(
                    Arm(name=name or config.strategy, model=ask.name, open_worker=worker, **about)
                )
        with bar(
            "asking", total=len(arms) * len(asked[: options.limit]) * options.repeats
        ) as advance:
            pool = Threads(options.jobs or 1)
            found = ask_arms("restbench", asked, arms, options, pool, say=say, advance=advance)
    figures = {arm.name: by_api(rows, seed=seed) for arm, _, rows in found}
    left = sum(of_api["all"]["outages"] + of_api["all"]["crashes"] for of_api in figures.values())
    rows = ", ".join(str(path) for _, path, _ in found)
    return {
        "suite": "restbench",
        "model": found[0][0].model,
        "rows": rows,
        "left": left,
        "strategies": figures,
    }


def by_api(rows: Sequence[Row], *, seed: int) -> dict[str, dict[str, Any]]:
    """Return the summary of each API, and of all APIs together under "all".

    `answered` counts runs with an answer, right or wrong.
    """
    found = {}
    for api in (*dict.fromkeys(row.services[0] for row in rows), "all"):
        one = asdict(summarize([row for row in rows if api in (*row.services, "all")], seed=seed))
        found[api] = {"answered": one["solved"], **{key: one[key] for key in SHOWN}}
    return found


if __name__ == "__main__":
    main()
