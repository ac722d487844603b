"""Measure search methods on queries whose needed tools are known.

    python -m benchmarks.retrieval --data DATA/stabletoolbench --expand --queries 3 --model local
    python -m benchmarks.retrieval --data DATA/restbench --method hybrid --method toolqp

An interrupted run is continued with the same --out. The output of --expand is stored beside the
index and, with --written FILE, in a file that can be used without a model. The exit status is 3 if
results are missing because a model failed.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from atc.cli.output import bar
from atc.cli.wiring import choose_model
from atc.core.config import Config
from atc.core.parallel import Threads
from atc.core.types import Usage
from atc.core.version import __version__
from atc.pipeline.retrieve.base import RetrievalUnavailable
from atc.pipeline.retrieve.embed import choose_embedder
from atc.pipeline.retrieve.embedders import DEFAULT
from atc.pipeline.retrieve.expand import SYNTHETIC, expand_all
from atc.pipeline.retrieve.factory import Setup, build
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.methods import METHODS, read_method
from atc.settings.reading import load_config
from benchmarks.retrieval.data import (
    FACETS,
    SHOWN,
    Contrast,
    RetrievalData,
    RetrievalQuery,
    Row,
    load_data,
    method_figures,
    neighbours,
)
from benchmarks.runner import Rows, draw_sample, measure_seconds, suite
from protocols.errors import AtcError

FORMAT = "atc-retrieval-2"
ASKED = 100
"""Number of queries, drawn with the seed, for a method that calls a model for each query."""
_NUMBER = click.IntRange(1)


@suite
@click.option(
    "--data", required=True, metavar="PATH", help="A JSON file, a data set's folder, or 'toolflow'."
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME[:FLAG=VALUE,…]",
    help="As of 'atc tools search'.",
)
@click.option("--limit", type=_NUMBER, help="Queries drawn by --seed, for every method.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All queries; else 100 for a method that asks a model.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="What queries are drawn by.")
@click.option(
    "--depth",
    type=click.IntRange(1, 1000),
    default=SHOWN,
    show_default=True,
    help="Tools a search gives.",
)
@click.option("--model", metavar="NAME")
@click.option("--embedder", default=DEFAULT, show_default=True, metavar="NAME")
@click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Asked at once."
)
@click.option(
    "--index", type=click.Path(path_type=Path), help="Of the index and the synthetic queries."
)
@click.option(
    "--expand",
    is_flag=True,
    help="Only write the tools' synthetic queries, or what is missing of them.",
)
@click.option(
    "--written",
    type=click.Path(path_type=Path),
    help="Of --expand, to write; else such a file (.gz).",
)
@click.option(
    "--queries",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="Of --expand, a tool.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="File of rows, continued if it is there."
)
def main(**given: Any) -> dict[str, Any]:
    options = SimpleNamespace(**given)
    config = load_config({"model": options.model})
    data = load_data(options.data)
    specs = dict.fromkeys(options.methods) or [
        name for name, one in METHODS.items() if not one.asks
    ]
    with open_setup(options, config, data, specs) as setup:
        model = setup.ask.name if setup.ask else "none"
        about: dict[str, Any] = {"suite": "retrieval", "data": data.name, "model": model}
        if options.expand:
            return about | {"expanded": expand_queries(options, data, setup)}
        header = {
            "format": FORMAT,
            "data": data.name,
            "digest": data.digest,
            "version": __version__,
            "model": model,
            "embedder": options.embedder,
            "seed": options.seed,
            "depth": options.depth,
        }
        name = f"retrieval-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"
        path = options.out or config.state_dir / "bench" / name
        click.echo(f"{data.name}: {', '.join(specs)}; rows go to {path}", err=True)
        with Rows(path, header, key=("method", "id")) as file:
            rows = _run_methods(specs, options, data, setup, file)
    left = sum(bool(row.get("outage")) for some in rows.values() for row in some)
    figures = method_figures(rows, data.queries, seed=options.seed)
    return about | {"rows": str(path), "left": left, "methods": figures}


def _run_methods(
    specs: Iterable[str], options: Any, data: RetrievalData, setup: Setup, file: Rows
) -> dict[str, list[Row]]:
    """Return the rows (results for each query) of each search method.

    A default method that is not available here is left out.

    Raises:
        RetrievalUnavailable: a method that the user named is not available.
    """
    rows = {}
    for spec in specs:
        asks = read_method(spec)[0].asks
        limit = options.limit or (ASKED if asks and not options.everything else None)
        queries = draw_sample(data.queries, limit, options.seed, "queries")
        jobs = options.workers if asks else 1  # others share the cores
        try:
            rows[spec] = run_method(spec, queries, setup, file, depth=options.depth, jobs=jobs)
        except RetrievalUnavailable as error:
            if options.methods:
                raise
            click.echo(f"{spec} is left out: {error}", err=True)
    return rows


@contextmanager
def open_setup(options: Any, config: Config, data: RetrievalData, specs: Any) -> Iterator[Setup]:
    """Open the index, the synthetic queries and, if a method needs it, the model.

    Vectors are computed only if a method uses them.
    """
    used = [read_method(spec) for spec in specs]
    embeds = any(method.embeds and flags.get("on") != "bm25" for method, flags in used)
    folder = options.index or data.folder(config.cache_dir)
    click.echo(
        f"{data.name}: {len(data.documents):,} tools; index and synthetic queries are in {folder}",
        err=True,
    )
    embedder = None
    if embeds or options.expand:
        embedder = choose_embedder(options.embedder, folder=config.cache_dir / "models")
    with bar("indexing", total=len(data.documents)) as watch:
        index = ToolIndex.build(data.documents, folder=folder, embedder=embedder, watch=watch)
    if options.written is not None and not options.expand:
        _keep_written_queries(options.written, data, index)
    ask = choose_model(config) if options.expand or any(method.asks for method, _ in used) else None
    try:
        yield Setup(
            index=index, ask=ask, expansions=index.expansions, threads=max(1, 16 // options.workers)
        )
    finally:
        index.close()
        getattr(ask, "close", lambda: None)()


def _keep_written_queries(path: Path, data: RetrievalData, index: ToolIndex) -> None:
    """Add the synthetic queries in a file to an index.

    Queries for documents that have changed since then are skipped.
    """
    if not path.is_file():
        raise click.UsageError(f"there is no {str(path)!r}; --expand --written FILE writes one")
    by_digest = {document.digest: document for document in data.documents}
    for row in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
        document = by_digest.get(row.pop("document"))
        if document is not None:
            index.store.keep(document, row.pop("texts"), **row)


def expand_queries(options: Any, data: RetrievalData, setup: Setup) -> dict[str, Any]:
    """Let the model write the synthetic queries that tools still lack, and return the usage."""
    begun = time.monotonic()
    usage = Usage()
    rows = list[dict[str, Any]]()
    near = neighbours(data.documents, setup.index.dense or setup.index.lexical)
    how: dict[str, Any] = {"queries": options.queries, "pool": Threads(options.workers)}
    for kind in (SYNTHETIC, FACETS, Contrast(near=near)):
        with bar(f"expanding, {kind.name}", total=len(data.documents)) as advance:
            how["watch"] = lambda done, _, advance=advance: advance(done)
            usage += expand_all(
                data.documents, setup.index.store, lambda: setup.ask, kind=kind, **how
            )
        key = {"kind": kind.name, "prompt": kind.version, "model": setup.ask.name}
        for one in data.documents:
            replies = setup.index.store.samples(one, **key).items()
            rows += [
                {"document": one.digest, **key, "sample": n, "texts": texts} for n, texts in replies
            ]
    if options.written is not None:
        options.written.write_bytes(
            gzip.compress("\n".join(map(json.dumps, rows)).encode(), mtime=0)
        )
    return {
        **asdict(usage),
        "tools": len(data.documents),
        "seconds": round(time.monotonic() - begun, 1),
    }


def run_method(
    spec: str,
    queries: Sequence[RetrievalQuery],
    setup: Setup,
    file: Rows,
    *,
    depth: int = SHOWN,
    jobs: int = 1,
) -> list[Row]:
    """Return the results of one search method, as a row for each query.

    The method is built only if `file` lacks some of the rows.

    Raises:
        Outage: the model failed repeatedly.
    """
    lacking = any(file.is_missing((spec, query.id)) for query in queries)
    retriever = build(spec, setup) if lacking else None

    def search(query: RetrievalQuery) -> Mapping[str, Any]:
        assert retriever is not None
        row: dict[str, Any] = {"method": spec, "id": query.id}
        try:
            found, seconds = measure_seconds(lambda: retriever.search(query.text, k=depth))
        except AtcError as error:
            return row | {"outage": str(error)}
        row |= {
            "ranking": list(dict.fromkeys(hit.tool for hit in found.hits)),
            "seconds": round(seconds, 6),
        }
        return row | {
            key: getattr(found.usage, key)
            for key in ("model_calls", "input_tokens", "output_tokens")
        }

    return file.fill(queries, search, key=lambda query: (spec, query.id), label=spec, jobs=jobs)


if __name__ == "__main__":
    main()
