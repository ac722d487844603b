"""Measure methods of search on queries whose tools are known.

    python -m benchmarks.retrieval --data ../shared/data/toole/single_dev.json
    python -m benchmarks.retrieval --data ../shared/data/stabletoolbench --expand --queries 3 --model local
    python -m benchmarks.retrieval --data ../shared/data/restbench --method hybrid --method toolqp --model gpt-5-mini
    python -m benchmarks.retrieval --data toolflow --measure closure --method hybrid

Each query and method is one line of a file; a run that was stopped goes on where it was when the same command is given
again with the same --out. Synthetic queries are written once (--expand) and kept beside the index. Exit status 3 if
something is left that failed on our side.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from atc import __version__
from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.config import Config
from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.building import Setup
from atc.retrieve.embed import choose
from atc.retrieve.embedders import DEFAULT
from atc.retrieve.expand import expand_all, neighbours
from atc.retrieve.index import ToolIndex
from atc.retrieve.methods import read
from benchmarks.retrieval.data import TOOLFLOW, RetrievalData, load_data
from benchmarks.retrieval.figures import closure_figures, method_figures, method_lines
from benchmarks.retrieval.run import DEPTH, FORMAT, Row, Wanted, run_method
from benchmarks.runner import Outage, Rows, show, start
from benchmarks.toolqp.planner import TrainedPlanner
from toolflow_bench.columns import columns
from toolflow_bench.settings import load_given

CLOSED = 100
"""Tools that a search is asked for before its producers come along: so many as `atc tools search` asks for."""
_NUMBER = click.IntRange(1)
_DIR = click.Path(path_type=Path, file_okay=False)


Options = SimpleNamespace
"""The options of the command line."""


@click.command(help=__doc__)
@click.option("--data", required=True, metavar="PATH", help="A JSON file, a data set's folder, or 'toolflow'.")
@click.option("--method", "methods", multiple=True, metavar="NAME[:FLAG=VALUE,…]", help="As of 'atc tools search'.")
@click.option("--measure", type=click.Choice(["ranking", "closure"]), default="ranking", show_default=True)
@click.option("--limit", type=_NUMBER, help="Queries drawn by --seed, for every method.")
@click.option("--all", "everything", is_flag=True, help="All queries; else 100 for a method that asks a model.")
@click.option("--seed", type=int, default=0, show_default=True, help="What queries are drawn by.")
@click.option("--depth", type=click.IntRange(1, 1000), help="Tools that a search gives; pools are compared, too.")
@click.option("--model", metavar="NAME")
@click.option("--planner-model", metavar="NAME", help="ToolQP's trained planner. Default: --model is prompted.")
@click.option("--embedder", default=DEFAULT, show_default=True, metavar="NAME")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Asked at once.")
@click.option("--index", type=_DIR, help="Folder of the index and the synthetic queries. Default: in the cache.")
@click.option("--expand", is_flag=True, help="Only write the tools' synthetic queries, or what is missing of them.")
@click.option("--queries", type=click.IntRange(1, 50), default=10, show_default=True, help="Of --expand, a tool.")
@click.option("--kinds", default="queries,facets,contrast", show_default=True, help="Of --expand.")
@click.option("--protocols", multiple=True, metavar="SERVICE=DIR", help="Of closure: probed protocols.")
@click.option("--out", type=click.Path(path_type=Path), help="File of rows, continued if it is there.")
@click.option("--restart", is_flag=True, help="Empty --out first.")
@click.option("--json", "as_json", is_flag=True)
def main(**given: Any) -> None:
    options = Options(**given)
    config = load_config({"model": options.model})[0]
    wanted = Wanted(
        methods=options.methods,
        limit=options.limit,
        everything=options.everything,
        seed=options.seed,
        depth=options.depth or (CLOSED if options.measure == "closure" else DEPTH),
    )
    data = load_data(options.data)
    if options.measure == "closure" and data.toolbox is None:
        raise click.UsageError(f"closure needs links and tasks: give --data {TOOLFLOW}.")
    for note in data.notes:
        click.echo(f"{data.name}: {note}", err=True)
    with opened(options, config, data, wanted.specs) as setup:
        if options.expand:
            _write_expansions(options, data, setup)
        else:
            _rank(options, config, wanted, data, setup)


@contextmanager
def opened(options: Options, config: Config, data: RetrievalData, specs: Sequence[str]) -> Iterator[Setup]:
    """Index, synthetic queries and, where one is asked, the model. Vectors are made where something goes by them."""
    used = [read(spec) for spec in specs]
    vectors = any(method.embeds and flags.get("on") != "bm25" for method, flags in used)
    asks = any(method.asks for method, _ in used)
    if options.expand:
        vectors, asks = "contrast" in options.kinds, True
    folder = options.index or data.folder(config.cache_dir)
    click.echo(f"{data.name}: {len(data.documents):,} tools; index and synthetic queries are in {folder}", err=True)
    with ExitStack() as stack:
        embedder = choose(options.embedder, folder=config.cache_dir / "models") if vectors else None
        with bar("indexing", total=len(data.documents)) as watch:
            index = ToolIndex.build(data.documents, folder=folder, embedder=embedder, watch=watch)
        stack.callback(index.close)
        ask = choose_model(config) if asks else None
        planner = choose_model(replace(config, model=options.planner_model)) if asks and options.planner_model else None
        for one in (ask, planner):
            stack.callback(getattr(one, "close", lambda: None))
        trained = TrainedPlanner(planner) if planner is not None else None
        threads = max(1, 16 // options.workers)
        yield Setup(index=index, ask=ask, planner=trained, expansions=index.expansions, threads=threads)


def _write_expansions(options: Options, data: RetrievalData, setup: Setup) -> None:
    """Have the model write what is missing of the tools' synthetic queries, and say what that took."""
    begun = time.monotonic()
    with bar("expanding", total=len(data.documents)) as advance:
        usage = expand_all(
            data.documents,
            setup.index.store,
            setup.ask,
            kinds=tuple(filter(None, options.kinds.split(","))),
            queries=options.queries,
            near=neighbours(data.documents, setup.index.dense or setup.index.lexical),
            workers=options.workers,
            watch=lambda done, _: advance(done),
        )
    took = {key: getattr(usage, key) for key in ("model_calls", "input_tokens", "output_tokens")}
    took |= {"tools": len(data.documents), "seconds": round(time.monotonic() - begun, 1)}
    line = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in took.items())
    report = {"suite": "retrieval", "data": data.name, "model": setup.ask.name, "expanded": took}
    show(report, [line], as_json=options.as_json)


def _rank(options: Options, config: Config, wanted: Wanted, data: RetrievalData, setup: Setup) -> None:
    """Run the methods and print the figures."""
    models = [one.name for one in (setup.ask, setup.planner and setup.planner.ask) if one is not None]
    model = ", planner ".join(models) or "none"
    header = {"format": FORMAT, "data": data.name, "digest": data.digest, "model": model, "version": __version__}
    header |= {"embedder": options.embedder, "seed": wanted.seed, "depth": wanted.depth}
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    path = options.out or config.state_dir / "bench" / f"retrieval-{stamp}.jsonl"
    click.echo(f"{data.name}: {', '.join(wanted.specs)}; rows go to {path}", err=True)
    rows: dict[str, list[Row]] = {}
    left: Outage | None = None
    with Rows(path, header, key=("method", "id"), restart=options.restart) as file:
        for spec in wanted.specs:
            if left is not None and read(spec)[0].asks:
                continue  # the model is down: the next method would only wait for it too
            try:
                rows[spec] = run_method(spec, wanted, data, setup, file, workers=options.workers)
            except RetrievalUnavailable as error:
                if wanted.methods:
                    raise
                click.echo(f"{spec} is left out: {error}", err=True)
            except Outage as error:
                left = error
                rows[spec] = [row for (method, _), row in file.rows.items() if method == spec]
    report = {"suite": "retrieval", "data": data.name, "model": model, "rows": str(path), "notes": list(data.notes)}
    if options.measure == "closure":
        given = load_given({name: Path(path) for name, _, path in (one.partition("=") for one in options.protocols)})
        report["closure"] = closed = closure_figures(rows, data, given, seed=options.seed)
        table = [tuple(closed[0]), *([_cell(value) for value in one.values()] for one in closed)] if closed else []
        lines = columns(table)
    else:
        report["methods"] = found = method_figures(rows, data.queries, seed=options.seed)
        lines = method_lines(found, pools=bool(options.depth))
    show(report, lines, as_json=options.as_json)
    if left is not None or any(row.get("outage") for some in rows.values() for row in some):
        raise left or Outage("some queries failed on our side; the same command asks them again.")


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['mean']:+.3f} ({value['low']:+.3f} to {value['high']:+.3f})"
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    start(main)
