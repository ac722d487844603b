"""`atc bench run restbench`: TMDB's and Spotify's tasks against a mock of each API."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bench_agents import Agents
from atc.cli.bench_arms import Arm, ask_arms, print_table, strategies_option, wanted
from atc.cli.bench_run import RunOptions, Watch, budget_options, make_header, run_options
from atc.cli.options import model_option
from atc.cli.output import escape_controls, print_json, print_text, say
from atc.cli.settings import load_config

if TYPE_CHECKING:
    from toolflow_bench.metrics import Row, Summary
    from toolflow_bench.resampling import Estimate

_EPILOG = """\b
Examples:
  atc bench run restbench --data ../shared/data/restbench --limit 5 --model local
  atc bench run restbench --data ../shared/data/restbench --strategy gold --json
  atc bench run restbench --data ../shared/data/restbench --sample 5 --strategy chain --strategy react
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder with RestBench's tasks and specifications.",
)
@click.option("--api", type=click.Choice(["all", "tmdb", "spotify"]), default="all", show_default=True)
@strategies_option("gold", also=" gold replays the gold paths without a model.")
@model_option
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N tasks drawn by --seed, of each API its share.")
@budget_options
@run_options
def restbench(
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
    """Solve RestBench's tasks against mocks of TMDB and Spotify.

    The mocks answer from the specifications: ids and names agree between calls, writes show, facts are made up. So
    answers are not judged; Path, Precision and CP say how the calls compare with the gold paths (docs/restbench.md).
    A run that was stopped goes on where it was. Exit status 3 if anything is left that failed on our side.
    """
    from toolflow_bench.drawing import draw
    from toolflow_bench.restbench.data import APIS, items, load_restbench
    from toolflow_bench.restbench.replay import replay_worker
    from toolflow_bench.restbench.world import RestWorld

    options = RunOptions(**run)
    bench = load_restbench(data, APIS if api == "all" else (api,))
    for task, step in bench.lacking:
        say(f"{task}: the specification has no operation {step!r}; the step is left out of the gold path.")
    flags = {"model": model, "max_tokens": max_tokens, "max_model_calls": max_model_calls}
    open_world = partial(RestWorld, bench, seed=options.seed)
    with open_world() as world:
        asked = items(bench, world.toolbox, seed=options.seed)
    if sample is not None:
        asked = list(
            draw(asked, sample, seed=options.seed, name=lambda i: i.question.id, stratum=lambda i: i.services[0])
        )
    with Agents(load_config(flags)[0]) as agents:
        names, arms = wanted(strategies), []
        for strategy in names:
            gold = strategy == "gold"
            config = load_config({**flags, "strategy": None if gold else strategy})[0]
            name, open_worker = ("none", replay_worker(open_world)) if gold else agents.workers(open_world, config)
            header = make_header(
                "restbench",
                [item.question for item in asked],
                config,
                model=name,
                options=options,
                api=api,
                **({"sample": sample} if sample else {}),
                **({"strategy": "gold"} if gold else {}),
            )
            arm = Arm.of(
                strategy or config.strategy,
                open_worker,
                header=header,
                config=config,
                options=options,
                items=asked,
                alone=len(names) == 1,
            )
            arms.append(arm)
        rows = ask_arms(asked, arms, options=options, watch=_Paths())
    _show(arms, rows, options)
    sys.exit(3 if any(not row.graded for some in rows for row in some) else 0)


class _Paths(Watch):
    """Shows how each task's calls compare with its gold path."""

    def __call__(self, row: Row, done: int, total: int) -> None:
        """Show a row; `done` of `total` are."""
        told = row.error or "" if not row.graded else f"Path {row.path or 0:.0%}, CP {'yes' if row.cp else 'no'}"
        named = f"{self.arm:<8} " if self.arm else ""
        line = f"{done:>3}/{total}  {named}{row.status:<6} {row.seconds:6.1f} s  {row.calls:>3} calls  {row.id}: {told}"
        self._bar.console.print(escape_controls(line), soft_wrap=True)
        self._bar.update(self._task, completed=done, total=total)


def _show(arms: Sequence[Arm], rows: Sequence[Sequence[Row]], options: RunOptions) -> None:
    """The figures of each API and of all, RestBench's are given by API; of several strategies a table for each."""
    from toolflow_bench.metrics import summarize

    apis = [*dict.fromkeys(row.services[0] for row in rows[0]), "all"] if rows[0] else ["all"]
    found = [
        {api: summarize([r for r in some if api in (r.services[0], "all")], seed=options.seed) for api in apis}
        for some in rows
    ]
    if options.as_json:
        shown = [_run(arm, summaries) for arm, summaries in zip(arms, found, strict=True)]
        print_json(shown[0] if len(arms) == 1 else {"suite": "restbench", "strategies": shown})
    elif len(arms) == 1:
        print_text("\n".join(line for name, summary in found[0].items() for line in _lines(name, summary)))
    else:
        for api in apis:
            print_text(f"{api}:")
            print_table(arms, [summaries[api] for summaries in found], graded=False)
    for arm, summaries in zip(arms, found, strict=True):
        every = summaries["all"]
        if every.outages or every.crashes:
            left = f"not graded: {every.outages} outages, {every.crashes} crashes; the same command asks these again"
            say(f"{arm.name}: {left}")


def _run(arm: Arm, summaries: Mapping[str, Summary]) -> dict[str, Any]:
    return {
        "suite": "restbench",
        "model": arm.header.model,
        "strategy": arm.name,
        "rows": str(arm.path),
        "apis": {name: _plain(summary) for name, summary in summaries.items()},
    }


def _plain(summary: Summary) -> dict[str, Any]:
    """A summary under the name of what was measured: a task is answered or not, never right or wrong."""
    plain = summary.as_json()
    for judged in ("success", "share", "interval", "by_calls", "by_service", "by_split"):
        plain.pop(judged, None)
    return {"answered": plain.pop("solved"), **plain}


def _lines(name: str, summary: Summary) -> list[str]:
    if summary.path is None or summary.precision is None or summary.cp is None:
        return [f"{name}: no task was graded"]
    rates = {"Path": summary.path, "Precision": summary.precision, "CP": summary.cp}
    took = f"{summary.calls:,} calls, {summary.repairs:,} repairs, {summary.seconds_total:.0f} s"
    tokens = f"{summary.input_tokens:,} tokens in, {summary.output_tokens:,} out"
    return [
        f"{name}: {', '.join(f'{rate} {_percent(estimate)}' for rate, estimate in rates.items())}",
        f"  answered {summary.solved} of {summary.graded}; {took}; {tokens}",
    ]


def _percent(rate: Estimate) -> str:
    return f"{rate.mean:.1%} ({rate.low:.1%} to {rate.high:.1%})"
