"""`atc bench data`: training data for planners, and queries to measure with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bars import bar
from atc.cli.lazy import LazyGroup
from atc.cli.models import told_in_tenths
from atc.cli.options import json_option, model_option
from atc.cli.output import count, print_json, print_text, say
from atc.config import Config

if TYPE_CHECKING:
    from atc.retrieve.document import ToolDocument
    from atc.retrieve.index import ToolIndex

_EPILOG = """\b
Examples:
  atc bench data toolqp --data tools_and_queries.json --out toolqp.jsonl --limit 100
  atc bench data toolqp --data tools_and_queries.json --out toolqp.jsonl --model gpt-4.1-mini --workers 16
"""


@click.group(
    "data",
    cls=LazyGroup,
    verbs={
        "toolqp": ("atc.cli.bench_data:toolqp", "Conversations in which ToolQP's planner learns to search."),
        "anytool": (
            "atc.cli.bench_data_anytool:anytool",
            "Queries over APIs of several categories, each with a verified solution.",
        ),
    },
)
def data() -> None:
    """Make training data and queries out of tools."""


@click.command(epilog=_EPILOG)
@click.option(
    "--data",
    "source",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Tools, and queries with the tools that they take, as 'atc bench run retrieval' reads them.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="JSON Lines, continued.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="N queries, drawn by --seed.")
@click.option("--method", default="dense", show_default=True, metavar="NAME", help="The search that a query must fit.")
@click.option(
    "--candidates", type=click.IntRange(1, 20), default=3, show_default=True, metavar="N", help="Queries in a round."
)
@click.option("--format", "tool_format", is_flag=True, help="Queries end with the definition of the tool sought.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N", help="Made at once.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What draws and samples start from.")
@model_option
@json_option
def toolqp(
    *,
    source: Path,
    out: Path,
    limit: int | None,
    method: str,
    candidates: int,
    tool_format: bool,
    workers: int,
    seed: int,
    model: str | None,
    as_json: bool,
) -> None:
    """Make conversations that teach a model to plan and to search for tools (ToolQP, Algorithm 1).

    The model writes a plan where the data have none, names the sub-task of each tool, and writes queries for it without
    seeing the tool's name, told more of the tool in each of five rounds, until the search finds it among the first
    five. Each line of the file is a conversation ('messages') for supervised training. What is done is kept beside the
    file: the same command goes on where it was stopped.
    """
    from atc.cli.settings import load_config
    from atc.cli.wiring import choose_model
    from atc.retrieve.methods import Setup, build
    from toolflow_bench.retrieval.data import draw
    from toolflow_bench.retrieval.load import load_data
    from toolflow_bench.retrieval.suite import data_digest
    from toolflow_bench.toolqp.plans import read_plans
    from toolflow_bench.toolqp.settings import Settings
    from toolflow_bench.toolqp.suite import lines, make_all
    from toolflow_bench.toolqp.trajectory import Maker

    config = load_config({"model": model})[0]
    settings = Settings(candidates=candidates, tool_format=tool_format, seed=seed)
    found, plans = load_data(source), read_plans(source)
    queries = draw(found.queries, limit or len(found.queries), seed=seed)
    ask = choose_model(config, progress=told_in_tenths(), talk=say)
    index = _index(found.documents, config, method)
    header: dict[str, Any] = {"data": data_digest(found), "model": ask.name, "method": method}
    header |= {**asdict(settings), "embedder": config.embedder}
    say(f"toolqp: {count(len(queries), 'request')} with {ask.name} over {method}; going to {out}")
    try:
        maker = Maker(build(method, Setup(index=index, ask=ask)), index.documents, ask, settings)
        with bar("making", total=len(queries)) as advance:
            figures = make_all(
                maker,
                queries,
                ask=ask,
                out=out,
                header=header,
                plans=plans,
                jobs=workers,
                on_row=lambda done, _total: advance(done),
            )
    finally:
        getattr(ask, "close", lambda: None)()
    if as_json:
        told = {"data": found.name, "model": ask.name, "method": method, "out": str(out)}
        print_json({**told, **figures.as_json()})
    else:
        print_text("\n".join(lines(figures)))


def _index(documents: Sequence[ToolDocument], config: Config, method: str) -> ToolIndex:
    """The index of `documents`, in the cache, with vectors where `method` goes by meaning."""
    from atc.retrieve import embedders
    from atc.retrieve.methods import read
    from toolflow_bench.retrieval.store import open_index, own_folder

    models = config.cache_dir / "models"
    embeds = read(method)[0].embeds
    embedder = embedders.choose(config.embedder, folder=models, on_progress=told_in_tenths()) if embeds else None
    with bar("indexing", total=len(documents)) as advance:
        return open_index(documents, own_folder(documents, config.cache_dir), embedder=embedder, watch=advance)
