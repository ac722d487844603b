"""`atc bench run restbench`: TMDB's and Spotify's tasks against a mock of each API."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bench_run import RunOptions, Watch, make_header, own_file, run_options
from atc.cli.models import told_in_tenths
from atc.cli.options import model_option
from atc.cli.output import escape_controls, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_store
from atc.config import Config
from atc.strategies import NAMES

if TYPE_CHECKING:
    from toolflow_bench.metrics import Row, Summary
    from toolflow_bench.resampling import Estimate
    from toolflow_bench.restbench.data import RestBench
    from toolflow_bench.rows import Header
    from toolflow_bench.runner import Item, OpenWorker

_EPILOG = """\b
Examples:
  atc bench run restbench --data ../shared/data/restbench --limit 5 --model local
  atc bench run restbench --data ../shared/data/restbench --strategy gold --json
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
@click.option(
    "--strategy",
    type=click.Choice([*NAMES, "gold"]),
    help="How a program is come by; gold replays the gold paths without a model.",
)
@model_option
@run_options
def restbench(*, data: Path, api: str, strategy: str | None, model: str | None, **run: Any) -> None:
    """Solve RestBench's tasks against mocks of TMDB and Spotify.

    The mocks answer from the specifications: ids and names agree between calls, writes show, facts are made up. So
    answers are not judged; Path, Precision and CP say how the calls compare with the gold paths (docs/restbench.md).
    A run that was stopped goes on where it was. Exit status 3 if anything is left that failed on our side.
    """
    from toolflow_bench.restbench.data import APIS, items, load_restbench
    from toolflow_bench.restbench.world import RestWorld

    options = RunOptions(**run)
    bench = load_restbench(data, APIS if api == "all" else (api,))
    for task, step in bench.lacking:
        say(f"{task}: the specification has no operation {step!r}; the step is left out of the gold path.")
    gold = strategy == "gold"
    config = load_config({"model": None if gold else model, "strategy": None if gold else strategy})[0]
    with RestWorld(bench, seed=options.seed) as world:
        asked = items(bench, world.toolbox, seed=options.seed)
    with _workers(config, bench, options.seed, gold=gold) as (name, open_worker):
        header = make_header(
            "restbench",
            [item.question for item in asked],
            config,
            model=name,
            options=options,
            api=api,
            **({"strategy": "gold"} if gold else {}),
        )
        path = options.out or own_file(config, header, asked[: options.limit], repeats=options.repeats)
        rows = _ask(asked[: options.limit], open_worker, header, path, options)
    _show(rows, header, path, options)
    sys.exit(3 if any(not row.graded for row in rows) else 0)


@contextmanager
def _workers(config: Config, bench: RestBench, seed: int, *, gold: bool) -> Iterator[tuple[str, OpenWorker]]:
    """The model's name and its workers; for the gold paths the name is `none`."""
    from sandbox.choose import open_sandbox
    from toolflow_bench.restbench.replay import replay_worker
    from toolflow_bench.restbench.world import RestWorld
    from toolflow_bench.workers import agent_worker

    open_world = partial(RestWorld, bench, seed=seed)
    if gold:
        yield "none", replay_worker(open_world)
        return
    with ExitStack() as stack:
        sandbox = stack.enter_context(closing(open_sandbox(config.sandbox, policy=config.policy)))
        store = stack.enter_context(open_store(config))
        ask = choose_model(config, progress=told_in_tenths(), talk=say)
        yield ask.name, agent_worker(open_world, ask=ask, sandbox=sandbox, config=config, store=store)


def _ask(
    items: Sequence[Item], open_worker: OpenWorker, header: Header, path: Path, options: RunOptions
) -> Sequence[Row]:
    from toolflow_bench.runner import run_suite

    say(f"restbench: {len(items)} tasks with {header.model}; rows go to {path}")
    try:
        with _Paths() as watch:
            return run_suite(
                items,
                open_worker,
                header=header,
                out=path,
                restart=options.restart,
                jobs=options.jobs,
                repeats=options.repeats,
                timeout_seconds=options.timeout,
                on_row=watch,
            )
    except KeyboardInterrupt:
        say(f"Stopped; the same command with --out {path} goes on.")
        raise


class _Paths(Watch):
    """Shows how each task's calls compare with its gold path."""

    def __call__(self, row: Row, done: int, total: int) -> None:
        """Show a row; `done` of `total` are."""
        told = row.error or "" if not row.graded else f"Path {row.path or 0:.0%}, CP {'yes' if row.cp else 'no'}"
        line = f"{done:>3}/{total}  {row.status:<6} {row.seconds:6.1f} s  {row.calls:>3} calls  {row.id}: {told}"
        self._bar.console.print(escape_controls(line), soft_wrap=True)
        self._bar.update(self._task, completed=done, total=total)


def _show(rows: Sequence[Row], header: Header, path: Path, options: RunOptions) -> None:
    """The figures of each API and of all; RestBench's are given by API."""
    from toolflow_bench.metrics import summarize

    apis = list(dict.fromkeys(row.services[0] for row in rows))
    by_api = {api: [row for row in rows if row.services[0] == api] for api in apis}
    summaries = {name: summarize(some, seed=options.seed) for name, some in {**by_api, "all": rows}.items()}
    if options.as_json:
        shown = {name: _plain(summary) for name, summary in summaries.items()}
        print_json({"suite": "restbench", "model": header.model, "rows": str(path), "apis": shown})
        return
    lines = [line for name, summary in summaries.items() for line in _lines(name, summary)]
    left = [
        f"not graded: {s.outages} outages, {s.crashes} crashes; the same command asks these again"
        for s in [summaries["all"]]
        if s.outages or s.crashes
    ]
    print_text("\n".join([*lines, *left]))


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
