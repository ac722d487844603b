"""`atc bench run retrieval`: how well each method of search finds the tools that queries need."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_retrieval_run import (
    Options,
    asked,
    measure_abstention,
    opened,
    rank,
    read_data,
    write_expansions,
)
from atc.cli.options import json_option, model_option
from atc.cli.output import say
from atc.cli.settings import load_config

_EPILOG = """\b
Examples:
  atc bench run retrieval --data ../shared/data/toole/single_dev.json
  atc bench run retrieval --data ../shared/data/stabletoolbench --expand --queries 3 --model local
  atc bench run retrieval --data ../shared/data/restbench --method hybrid --method toolqp --model gpt-5-mini --workers 8
  atc bench run retrieval --data toolflow --measure closure --method hybrid
"""
_DIR = click.Path(path_type=Path, file_okay=False)


@click.command(epilog=_EPILOG)
@click.option(
    "--data",
    required=True,
    metavar="FILE",
    help="Tools and queries: a JSON file (ToolE's format), a folder (StableToolBench, RestBench), listings of MCP "
    "servers, or 'toolflow' for ToolFlow's tasks.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME[:FLAG=VALUE,…]",
    help="A method of 'atc tools search'; repeatable. Default: all that need no model for a query.",
)
@click.option(
    "--measure",
    type=click.Choice(["ranking", "round-trip", "closure", "abstention"]),
    default="ranking",
    show_default=True,
    help="round-trip: synthetic queries instead (always so where there are no others). closure: with the producers of "
    "ids (toolflow). abstention: queries whose tools were taken away.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="N queries drawn by --seed, for every method.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All queries for every method. Default: 100 drawn ones for a method that asks a model for each query.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What queries are drawn by.")
@click.option(
    "--depth",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Tools that a search gives at most (20); given, pools are compared, too: recall and precision of all of them.",
)
@model_option
@click.option("--planner-model", metavar="NAME", help="ToolQP's trained planner. Default: --model is prompted to plan.")
@click.option("--embedder", default="minilm+paraphrase", show_default=True, metavar="NAME", help="The embedding model.")
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    metavar="N",
    help="Queries, or tools to expand, for which the model is asked at once.",
)
@click.option(
    "--index", type=_DIR, metavar="DIR", help="Folder of the index and the synthetic queries. Default: in the cache."
)
@click.option(
    "--expand", is_flag=True, help="Only write the tools' synthetic queries with --model, or what is missing."
)
@click.option(
    "--queries",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    metavar="N",
    help="Of --expand: synthetic queries a tool.",
)
@click.option(
    "--kinds",
    default="queries,facets,contrast",
    show_default=True,
    metavar="NAMES",
    help="Of --expand: the kinds of synthetic queries.",
)
@click.option(
    "--protocols",
    multiple=True,
    metavar="SERVICE=DIR",
    help="Of closure: a service's probed protocols, whose links are measured too; repeatable.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="File of rows, continued if it is there.")
@click.option("--restart", is_flag=True, help="Empty --out first.")
@json_option
def retrieval(**given: Any) -> None:
    """Measure methods of search on queries whose tools are known.

    Each query and method is one line of a file; a run that was stopped goes on where it was when the same command is
    given again. Synthetic queries are written once (--expand) and kept beside the index. Exit status 3 if something is
    left that failed on our side.
    """
    from toolflow_bench.retrieval.closure import CLOSED
    from toolflow_bench.retrieval.rows import DEPTH
    from toolflow_bench.retrieval.run import Wanted

    options = Options(**given)
    config = load_config({"model": options.model})[0]
    wanted = Wanted(
        methods=options.methods,
        limit=options.limit,
        everything=options.everything,
        seed=options.seed,
        depth=options.depth or (CLOSED if options.measure == "closure" else DEPTH),
    )
    specs = wanted.specs()
    data, toolflow = read_data(options.data)
    if options.measure == "closure" and toolflow is None:
        raise click.UsageError("closure needs links and tasks: give --data toolflow.")
    for note in data.notes:
        say(f"{data.name}: {note}")
    with opened(options, config, data, specs) as setup:
        if options.expand:
            write_expansions(options, data, setup)
        elif options.measure == "abstention":
            measure_abstention(options, data, setup)
        else:
            with asked(options, data, setup) as (questions, searched):
                sys.exit(rank(options, config, wanted, questions, searched, toolflow))
