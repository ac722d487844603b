"""`python -m benchmarks.restbench`: TMDB's and Spotify's tasks against a mock of each API."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc import __version__
from atc.cli.options import StrategyType
from atc.cli.output import escape_controls, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_store
from atc.config import Config
from atc.strategies import STRATEGIES
from benchmarks.restbench.data import APIS, RestBench, RestWorld, items, load_restbench
from benchmarks.restbench.replay import replay_worker
from protocols.errors import AtcError
from sandbox.choose import open_sandbox
from toolflow_bench.drawing import draw
from toolflow_bench.metrics import Row, Summary, summarize
from toolflow_bench.rows import Header
from toolflow_bench.runner import Item, OpenWorker, digest, run_suite
from toolflow_bench.workers import agent_worker

_SETTINGS = ("max_tokens", "max_model_calls")
_JUDGED = ("success", "share", "interval", "by_calls", "by_service", "by_split", "by_difficulty", "pass_k")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), default=Path("../shared/data/restbench"), show_default=True)
@click.option("--api", type=click.Choice(["all", *APIS]), default="all", show_default=True)
@click.option("--strategy", "strategies", multiple=True, type=StrategyType("all", "gold"), help="Repeatable.")
@click.option("--model", metavar="NAME", help="As of 'atc run'.")
@click.option("--sample", type=click.IntRange(1), help="Tasks drawn by --seed, of each API its share.")
@click.option("--limit", type=click.IntRange(1), help="The first tasks only.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Asked at once.")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option("--timeout", type=float, default=180.0, show_default=True, help="Seconds for one task.")
@click.option("--max-tokens", type=click.IntRange(1), help="Model tokens for one task.")
@click.option("--max-model-calls", type=click.IntRange(1), help="Requests to the model for one task.")
@click.option("--out", type=click.Path(path_type=Path), help="File of rows, continued if there; with its strategy.")
@click.option("--restart", is_flag=True, help="Empty it first.")
@click.option("--json", "as_json", is_flag=True)
def main(strategies: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Solve RestBench's tasks; --strategy gold replays the gold paths without a model.

    Answers are not judged: Path, Precision and CP say how calls compare with gold paths (docs/restbench.md). A run that
    was stopped goes on where it was. Exit status 3 if anything is left that failed on our side.
    """
    bench = load_restbench(options["data"], APIS if options["api"] == "all" else (options["api"],))
    for task, step in bench.lacking:
        say(f"{task}: the specification has no operation {step!r}; the step is left out of the gold path.")
    seed: int = options["seed"]
    asked = items(bench, RestWorld(bench, seed=seed).toolbox, seed=seed)
    if options["sample"]:
        asked = list(draw(asked, options["sample"], seed=seed, name=lambda i: i.question.id, stratum=_api))
    asked = asked[: options["limit"]]
    names = dict.fromkeys(one for name in strategies or ("auto",) for one in (STRATEGIES if name == "all" else (name,)))
    reports = list(_runs(bench, asked, list(names), options))
    if as_json:
        print_json(
            reports[0][0] if len(reports) == 1 else {"suite": "restbench", "strategies": [r for r, _ in reports]}
        )
    else:
        for report, summaries in reports:
            print_text("\n".join([f"{report['strategy']}:", *map(_line, summaries, summaries.values())]))
    sys.exit(3 if any(all_.outages or all_.crashes for _, found in reports for all_ in [found["all"]]) else 0)


def _runs(
    bench: RestBench, asked: list[Item], names: list[str], options: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Summary]]]:
    """The report of each strategy, and its summaries by API."""
    flags = {name: options[name] for name in ("model", *_SETTINGS)}
    shared = load_config(flags)[0]
    with ExitStack() as stack:
        if names != ["gold"]:
            ask, store = choose_model(shared, talk=say), stack.enter_context(open_store(shared))
            sandbox = stack.enter_context(closing(open_sandbox(shared.sandbox, policy=shared.policy)))
        for name in names:
            config = load_config({**flags, "strategy": None if name == "gold" else name})[0]
            open_world = partial(RestWorld, bench, seed=options["seed"])
            worker: OpenWorker = replay_worker(bench, seed=options["seed"])
            if name != "gold":
                worker = agent_worker(open_world, ask=ask, sandbox=sandbox, config=config, store=store)
            path = options["out"] or config.state_dir / "bench" / "restbench.jsonl"
            path = path if options["out"] and len(names) == 1 else path.with_stem(f"{path.stem}-{name}")
            header = _header(asked, config, "none" if name == "gold" else ask.name, name, options)
            say(f"restbench, {name}: {len(asked)} tasks with {header.model}; rows go to {path}")
            rows = run_suite(
                asked,
                worker,
                header=header,
                out=path,
                restart=options["restart"],
                jobs=options["jobs"],
                repeats=options["repeats"],
                timeout_seconds=options["timeout"],
                on_row=_show,
            )
            apis = [*dict.fromkeys(row.services[0] for row in rows), "all"]
            found = {api: summarize([r for r in rows if api in (*r.services, "all")], seed=header.seed) for api in apis}
            plain = {api: {k: v for k, v in one.as_json().items() if k not in _JUDGED} for api, one in found.items()}
            told = {api: {"answered": one.pop("solved"), **one} for api, one in plain.items()}
            yield (
                {"suite": "restbench", "model": header.model, "strategy": name, "rows": str(path), "apis": told},
                found,
            )


def _header(asked: list[Item], config: Config, model: str, strategy: str, options: dict[str, Any]) -> Header:
    return Header(
        suite="restbench",
        model=model,
        seed=options["seed"],
        data=digest([item.question for item in asked]),
        version=__version__,
        settings={
            "strategy": strategy,
            "sandbox": config.sandbox,
            **{name: options[name] for name in ("api", "sample", "limit", "timeout", *_SETTINGS)},
        },
    )


def _api(item: Item) -> str:
    return item.services[0]


def _show(row: Row, done: int, total: int) -> None:
    told = row.error or "" if not row.graded else f"Path {row.path or 0:.0%}, CP {'yes' if row.cp else 'no'}"
    line = f"{done:>3}/{total}  {row.status:<6} {row.seconds:6.1f} s  {row.calls:>3} calls  {row.id}: {told}"
    print(escape_controls(line), file=sys.stderr)


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
    try:
        main()
    except AtcError as problem:
        say(str(problem))
        sys.exit(problem.exit_code)
