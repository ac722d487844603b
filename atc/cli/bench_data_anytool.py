"""`atc bench data anytool`: queries over a catalogue of APIs, each with a verified solution (AnyToolBench)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bars import bar
from atc.cli.models import told_in_tenths
from atc.cli.options import json_option, model_option, servers_options, tools_option
from atc.cli.output import count, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_toolbox

if TYPE_CHECKING:
    from atc.config import Config
    from toolflow_bench.anytoolbench.pool import ApiPool

_EPILOG = """\b
Examples:
  atc bench data anytool --data stabletoolbench --queries 5 --out queries.jsonl
  atc bench data anytool --tools spotify.json --tools tmdb.json --queries 20 --out queries.jsonl --model gpt-4.1-mini
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="APIs as 'atc bench run retrieval' reads them; responses are made of StableToolBench's templates.",
)
@tools_option
@servers_options
@click.option("--queries", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Queries wanted.")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="JSON Lines, continued.")
@click.option(
    "--tries", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N", help="Attempts a query, at most."
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What draws and samples start from.")
@model_option
@json_option
def anytool(
    *,
    data: Path | None,
    queries: int,
    out: Path,
    tries: int,
    seed: int,
    as_json: bool,
    **flags: Any,
) -> None:
    """Make queries that take APIs of several categories, each with a solution that was verified (AnyTool, A.8).

    The model explores the APIs in at most 20 calls, tries some out, and writes a query of at least 30 words over 2 to 5
    categories, with calls that resolve it and the answer. The calls are made again, the answer must follow from their
    responses, and the query must pass AnyTool's filter. Tools that may write are left out. Each line of the file is a
    query, or one that was refused with the reason: the same command goes on where it was stopped.
    """
    if data is not None and flags["tools"]:
        raise click.UsageError("--data and --tools name two sources of APIs; give one of them.")
    from toolflow_bench.anytoolbench.construct import Constructor
    from toolflow_bench.anytoolbench.settings import Settings
    from toolflow_bench.anytoolbench.suite import lines, make_queries

    config = load_config(flags)[0]
    settings = Settings(seed=seed)
    with _opened(data, config, seed=seed) as pool:
        ask = choose_model(config, progress=told_in_tenths(), talk=say)
        for note in pool.notes:
            say(note)
        header = {"data": pool.digest, "model": ask.name, **asdict(settings)}
        say(f"anytool: {queries:,} wanted over {count(len(pool), 'API')} with {ask.name}; going to {out}")
        try:
            constructor = Constructor(pool, settings)
            with bar("making", total=queries) as advance:
                figures = make_queries(
                    constructor, ask, out=out, header=header, count=queries, tries=tries, on_row=advance
                )
        finally:
            getattr(ask, "close", lambda: None)()
    if as_json:
        print_json({"model": ask.name, "out": str(out), **figures.as_json()})
    else:
        print_text("\n".join(lines(figures)))


@contextmanager
def _opened(data: Path | None, config: Config, *, seed: int) -> Iterator[ApiPool]:
    """The APIs of a data set, or of the configured tools for as long as this is open."""
    if data is not None:
        from toolflow_bench.anytoolbench.templates import pool_of_data

        yield pool_of_data(data, seed=seed)
        return
    from toolflow_bench.anytoolbench.pool import pool_of_toolbox

    with open_toolbox(config, talk=say) as toolbox:
        yield pool_of_toolbox(toolbox)
