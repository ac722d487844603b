"""The steps of `atc bench run retrieval`: opens what is needed, expands, asks, and shows the figures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from itertools import count as counting
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bars import bar
from atc.cli.bench_toolflow import _folders
from atc.cli.models import told_in_tenths
from atc.cli.output import count, print_json, print_text, say
from atc.cli.wiring import choose_model
from atc.config import Config

if TYPE_CHECKING:
    from atc.retrieve.methods import Setup
    from protocols.ask import Ask
    from toolflow_bench.retrieval.data import RetrievalData
    from toolflow_bench.retrieval.data_toolflow import ToolFlowData
    from toolflow_bench.retrieval.rows import RetrievalRow
    from toolflow_bench.retrieval.run import Wanted

    Rows = Mapping[str, Sequence[RetrievalRow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command line."""

    data: str
    methods: tuple[str, ...]
    measure: str
    limit: int | None
    everything: bool
    seed: int
    depth: int | None
    model: str | None
    planner_model: str | None
    embedder: str
    workers: int
    index: Path | None
    expand: bool
    queries: int
    kinds: str
    protocols: tuple[str, ...]
    out: Path | None
    restart: bool
    as_json: bool


def read_data(name: str) -> tuple[RetrievalData, ToolFlowData | None]:
    """The data set, and what else is known of it where it is ToolFlow's."""
    from toolflow_bench.retrieval.data_toolflow import TOOLFLOW, read_toolflow
    from toolflow_bench.retrieval.load import load_data

    if name != TOOLFLOW:
        return load_data(Path(name)), None
    found = read_toolflow()
    return found.data, found


@contextmanager
def opened(options: Options, config: Config, data: RetrievalData, specs: Sequence[str]) -> Iterator[Setup]:
    """Index, synthetic queries and, where one is asked, the model. Vectors are made where something goes by them."""
    from atc.retrieve.embedders import choose
    from atc.retrieve.expand.keep import Expansions
    from atc.retrieve.methods import Setup, read
    from toolflow_bench.retrieval.store import open_index, own_folder

    used = [read(spec) for spec in specs]
    vectors = any(method.embeds and flags.get("on") != "bm25" for method, flags in used)
    asks = any(method.asks for method, _ in used)
    if options.measure == "abstention":
        vectors, asks = True, False
    if options.expand:
        vectors, asks = "contrast" in options.kinds, True
    folder = options.index or own_folder(data.documents, config.cache_dir)
    say(f"{data.name}: {count(len(data.documents), 'tool')}; index and synthetic queries are in {folder}")
    with ExitStack() as stack:
        embedder = choose(options.embedder, folder=config.cache_dir / "models", on_progress=told_in_tenths())
        with bar("indexing", total=len(data.documents)) as advance:
            index = open_index(data.documents, folder, embedder=embedder if vectors else None, watch=advance)
        stack.callback(getattr(index, "close", lambda: None))
        expansions = stack.enter_context(Expansions(folder))
        known = sum(bool(expansions.texts(document, most=1)) for document in data.documents)
        say(f"{known:,} of {count(len(data.documents), 'tool')} have synthetic queries")
        ask: Ask | None = choose_model(config, progress=told_in_tenths(), talk=say) if asks else None
        stack.callback(getattr(ask, "close", lambda: None))
        planner: Ask | None = None
        if options.planner_model is not None and asks:
            planner = choose_model(replace(config, model=options.planner_model), progress=told_in_tenths(), talk=say)
            stack.callback(getattr(planner, "close", lambda: None))
        yield Setup(
            index=index,
            ask=ask,
            planner=planner,
            expansions=expansions if known or options.expand else None,
            threads=max(1, 16 // options.workers),
        )


def write_expansions(options: Options, data: RetrievalData, setup: Setup) -> None:
    """Have the model write what is missing of the tools' synthetic queries, and say what that took."""
    from toolflow_bench.retrieval.synthetic import expand

    assert setup.ask is not None
    assert setup.expansions is not None
    begun = time.monotonic()
    with bar("expanding", total=len(data.documents)) as advance:
        usage = expand(
            data,
            setup.index,
            setup.expansions,
            setup.ask,
            queries=options.queries,
            kinds=tuple(filter(None, options.kinds.split(","))),
            workers=options.workers,
            watch=lambda done, _total: advance(done),
        )
    took = {
        "tools": len(data.documents),
        "model_calls": usage.model_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "seconds": round(time.monotonic() - begun, 1),
    }
    if options.as_json:
        print_json({"suite": "retrieval", "data": data.name, "model": setup.ask.name, "expanded": took})
    else:
        print_text(", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in took.items()))


@contextmanager
def asked(options: Options, data: RetrievalData, setup: Setup) -> Iterator[tuple[RetrievalData, Setup]]:
    """The data with the queries that are asked: its own, or synthetic ones, which are then not searched.

    Raises:
        click.UsageError: there are none.
    """
    from atc.retrieve.expand.keep import Expansions
    from toolflow_bench.retrieval.synthetic import round_trip

    if data.queries and options.measure != "round-trip":
        yield data, setup
        return
    if setup.expansions is None:
        raise click.UsageError(f"{data.name} has no queries; write synthetic ones with --expand --model NAME first.")
    with Expansions() as rest:
        found = round_trip(data, setup.expansions, rest)
        say(found.notes[-1])
        yield found, replace(setup, expansions=rest)


def rank(
    options: Options,
    config: Config,
    wanted: Wanted,
    data: RetrievalData,
    setup: Setup,
    toolflow: ToolFlowData | None,
) -> int:
    """Run the methods and print the figures; gives the exit status."""
    from atc.retrieve.base import RetrievalUnavailable
    from atc.retrieve.methods import read
    from toolflow_bench.retrieval.rows import RetrievalFile
    from toolflow_bench.retrieval.run import header_of, run_method, unfinished
    from toolflow_bench.retrieval.suite import Outage

    specs = wanted.specs()
    model = setup.ask.name if setup.ask is not None else "none"
    if setup.planner is not None:
        model = f"{model}, planner {setup.planner.name}"
    header = header_of(data, wanted, model=model, embedder=options.embedder)
    folder = config.state_dir / "bench"
    path = options.out or unfinished(folder, header, wanted, data) or _new_file(folder)
    say(f"{data.name}: {', '.join(specs)}; rows go to {path}")
    outages: list[str] = []
    with RetrievalFile(path, header, restart=options.restart) as file:
        rows = {}
        for spec in specs:
            if outages and read(spec)[0].asks:
                continue  # the model is down: the next method would only wait for it too
            with bar(spec, total=len(wanted.queries(spec, data))) as advance:
                try:
                    rows[spec] = run_method(
                        spec,
                        wanted,
                        data,
                        setup,
                        file,
                        workers=options.workers,
                        on_row=lambda _row, done, _total: advance(done),
                    )
                except RetrievalUnavailable as error:
                    if wanted.methods:
                        raise
                    say(f"{spec} is left out: {error}")
                except Outage as error:
                    outages.append(str(error))
                    rows[spec] = [row for row in file.rows.values() if row.method == spec and row.id]
                except KeyboardInterrupt:
                    say(f"Stopped; the same command with --out {path} goes on.")
                    raise
    report = {
        "suite": "retrieval",
        "data": data.name,
        "model": model,
        "rows": str(path),
        "notes": list(data.notes),
        "ties": "by name",
        "at_once": options.workers,
    }
    if options.measure == "closure" and toolflow is not None:
        _show_closure(options, rows, toolflow, report)
    else:
        _show(options, data, rows, report)
    for outage in outages:
        say(outage)
    return 3 if outages or any(row.status != "ok" for some in rows.values() for row in some) else 0


def _show(options: Options, data: RetrievalData, rows: Rows, report: Mapping[str, Any]) -> None:
    from toolflow_bench.retrieval.table import figures, lines, pool_lines

    found = figures(rows, data.queries, seed=options.seed)
    if options.as_json:
        print_json({**report, "methods": [one.as_json() for one in found]})
    else:
        print_text("\n".join([*lines(found), *(["", *pool_lines(found)] if options.depth else [])]))


def _show_closure(options: Options, rows: Rows, toolflow: ToolFlowData, report: Mapping[str, Any]) -> None:
    from toolflow_bench.given import load_given
    from toolflow_bench.retrieval.closure import closure_figures, closure_lines

    given = load_given(_folders(options.protocols))
    found = closure_figures(rows, toolflow, given=given, seed=options.seed)
    if options.as_json:
        print_json({**report, "closure": [one.as_json() for one in found]})
    else:
        print_text("\n".join(closure_lines(found)))


def measure_abstention(options: Options, data: RetrievalData, setup: Setup) -> None:
    """Print how well abstaining tells queries with and without tools apart."""
    from toolflow_bench.retrieval.abstention import abstention_figures, abstention_lines

    found = abstention_figures(data, setup.index, count=options.limit or 200, seed=options.seed)
    if options.as_json:
        print_json({"suite": "retrieval", "data": data.name, "abstention": found.as_json()})
    else:
        print_text("\n".join(abstention_lines(found)))


def _new_file(folder: Path) -> Path:
    stem = f"retrieval-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
    names = (f"{stem}{suffix}.jsonl" for suffix in chain([""], (f"-{number}" for number in counting(2))))
    return next(folder / name for name in names if not (folder / name).exists())
