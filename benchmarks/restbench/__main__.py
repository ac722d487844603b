"""`python -m benchmarks.restbench`: TMDB's and Spotify's tasks against a mock of each API."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_arms import Arm, Asked, RunOptions, ask_arms, run_options, strategies_option, wanted
from atc.cli.options import model_option
from atc.cli.output import say
from atc.cli.settings import load_config
from atc.cli.state import open_store
from atc.cli.wiring import choose_model
from benchmarks.restbench.data import APIS, RestWorld, items, load_restbench
from benchmarks.restbench.replay import replay_worker
from benchmarks.runner import show, start
from sandbox.choose import open_sandbox
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.suites import drawn
from toolflow_bench.workers import agent_worker

_JUDGED = ("success", "share", "interval", "by_calls", "by_service", "by_split", "by_difficulty", "pass_k")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), default=Path("../shared/data/restbench"), show_default=True)
@click.option("--api", type=click.Choice(["all", *APIS]), default="all", show_default=True)
@strategies_option("gold", also=" gold replays the gold paths without a model.")
@model_option
@click.option("--sample", type=click.IntRange(1), help="Tasks drawn by --seed, of each API its share.")
@click.option("--max-tokens", type=click.IntRange(1), help="Model tokens for one task.")
@click.option("--max-model-calls", type=click.IntRange(1), help="Requests to the model for one task.")
@run_options
def main(
    *,
    data: Path,
    api: str,
    strategies: tuple[str, ...],
    model: str | None,
    sample: int | None,
    max_tokens: int | None,
    max_model_calls: int | None,
    **run: Any,
) -> None:
    """Solve RestBench's tasks; --strategy gold replays the gold paths without a model.

    Answers are not judged: Path, Precision and CP say how calls compare with gold paths
    (docs/how/restbench.md). A run that was stopped goes on where it was. Exit status 3 if anything is left that failed
    on our side.
    """
    options = RunOptions(**run)
    bench = load_restbench(data, APIS if api == "all" else (api,))
    for task, step in bench.lacking:
        say(f"{task}: the specification has no operation {step!r}; the step is left out of the gold path.")
    open_world = partial(RestWorld, bench, seed=options.seed)
    asked = items(bench, open_world().toolbox, seed=options.seed)
    if sample:
        api_of = lambda item: item.services[0]  # noqa: E731 - said twice
        asked = list(drawn(asked, sample, seed=options.seed, name=lambda item: item.question.id, stratum=api_of))
    flags = {"model": model, "max_tokens": max_tokens, "max_model_calls": max_model_calls}
    shared, names, arms = load_config(flags)[0], wanted(strategies), []
    with ExitStack() as stack:
        if names != ("gold",):
            ask, store = choose_model(shared, talk=say), stack.enter_context(open_store(shared))
            sandbox = stack.enter_context(closing(open_sandbox(shared.sandbox, policy=shared.policy)))
        for name in names:
            config = load_config({**flags, "strategy": None if name == "gold" else name})[0]
            worker = replay_worker(bench, seed=options.seed)
            if name != "gold":
                worker = agent_worker(open_world, ask=ask, sandbox=sandbox, config=config, store=store)
            about = {"strategy": name or config.strategy, "api": api, "sample": sample}
            model_name = "none" if name == "gold" else ask.name
            arm = Arm(name=about["strategy"], model=model_name, config=config, open_worker=worker, settings=about)
            arms.append(arm)
        found = [(one, by_api(one.rows, seed=options.seed)) for one in ask_arms("restbench", asked, arms, options)]
    reports = [_report(one, of_api) for one, of_api in found]
    lines = [line for one, of_api in found for line in (f"{one.arm.name}:", *map(_line, of_api, of_api.values()))]
    show(
        reports[0] if len(reports) == 1 else {"suite": "restbench", "strategies": reports},
        lines,
        as_json=options.as_json,
    )
    sys.exit(3 if any(of_api["all"].ungraded for _, of_api in found) else 0)


def by_api(rows: Sequence[Row], *, seed: int) -> dict[str, Summary]:
    """The figures of each API, and of all."""
    apis = [*dict.fromkeys(row.services[0] for row in rows), "all"]
    return {api: summarize([row for row in rows if api in (*row.services, "all")], seed=seed) for api in apis}


def _report(one: Asked, of_api: dict[str, Summary]) -> dict[str, Any]:
    plain = {api: {k: v for k, v in one.as_json().items() if k not in _JUDGED} for api, one in of_api.items()}
    told = {api: {"answered": one.pop("solved"), **one} for api, one in plain.items()}
    return {"suite": "restbench", "model": one.arm.model, "strategy": one.arm.name, "rows": str(one.path), "apis": told}


def _line(name: str, summary: Summary) -> str:
    if summary.path is None or summary.precision is None or summary.cp is None:
        return f"  {name}: no task was graded"
    rates = {"Path": summary.path, "Precision": summary.precision, "CP": summary.cp}
    told = ", ".join(f"{rate} {one.mean:.1%} ({one.low:.1%} to {one.high:.1%})" for rate, one in rates.items())
    took = f"{summary.calls:,} calls, {summary.repairs:,} repairs, {summary.seconds_total:.0f} s"
    return (
        f"  {name}: {told}; answered {summary.solved} of {summary.graded}; {took}, {summary.input_tokens:,} tokens in"
    )


if __name__ == "__main__":
    start(main)
