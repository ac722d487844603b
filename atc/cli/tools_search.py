"""`atc tools search` and `atc tools index`: finding the tools that fit, and preparing for it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.options import json_option, model_option, servers_options, tools_option
from atc.cli.output import print_columns, print_json, print_text, say
from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.cli.tools import line_of, summary
from atc.cli.wiring import choose_model, open_toolbox
from atc.config import Config
from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import documents
from atc.retrieve.expand import expand_all
from atc.retrieve.finder import NOTHING_FITS, open_finder, open_index, spelled_out
from atc.retrieve.methods import AUTO, read
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from atc.retrieve.index import ToolIndex  # needs numpy

_SEARCH_EPILOG = """\b
Examples:
  atc tools search weather at an airport -k 3
  atc tools search --method bm25 --explain planes of an airline
  atc tools search --method toolqp:queries=6 --model local late flights and their planes
"""
_INDEX_EPILOG = """\b
Examples:
  atc tools index --tools openapi.json
  atc tools index --tools openapi.json --expand --model local
"""

_embedder_option = click.option(
    "--embedder", metavar="NAME", help="What makes vectors: an embedding model of 'atc models list', or openai:NAME."
)
_index_option = click.option(
    "--index",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder that keeps what search needs. Default: one in the cache for these sources.",
)


@click.command(epilog=_SEARCH_EPILOG)
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "count", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="At most N.")
@click.option(
    "--method",
    "retrieval",
    metavar="NAME",
    help="How: auto (default), bm25, dense, hybrid, blend, reinvoke, hyde, q2e, q2d, d2q, toolqp, anytool …, with "
    "flags as in reinvoke:queries=5,on=bm25.",
)
@click.option("--explain", is_flag=True, help="Show how they were found, and what it took.")
@click.option("--fitting", is_flag=True, help="None where none seems to fit (right for two queries in three).")
@model_option
@_embedder_option
@_index_option
@tools_option
@servers_options
@json_option
def search(
    query: tuple[str, ...],
    *,
    count: int,
    explain: bool,
    fitting: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """The tools that fit QUERY, best first, and those that make the ids they need.

    A tool that QUERY names comes first. Methods from hyde on ask a model for each query.
    """
    text = " ".join(query)
    if (flags["retrieval"] or AUTO) != AUTO:
        read(flags["retrieval"])  # a mistake is told before anything is read
    config = load_config(flags)[0]
    with open_toolbox(config) as toolbox:
        began = time.monotonic()
        found, how = _search(text, count, toolbox, config, abstain=fitting)
        seconds = time.monotonic() - began
        if as_json:
            hits = [line_of(toolbox[hit.tool]) | {"score": round(hit.score, 4), "why": hit.why} for hit in found.hits]
            print_json(_explained(hits, found, how, seconds) if explain else hits)
            return
        print_columns((f"{hit.score:.2f}", hit.tool, _said(hit, toolbox)) for hit in found.hits)
        if not found.hits:
            near = next((line[len(NOTHING_FITS) :] for line in found.transcript if line.startswith(NOTHING_FITS)), "")
            none = f"None of the {len(toolbox)} tools fits {text!r}{': ' if near else ''}{near}"
            say(f"{none}; 'atc tools list' shows all.")
        if explain:
            print_text("\n".join(["", *_how(found, how, seconds)]))


def _search(text: str, count: int, toolbox: Toolbox, config: Config, *, abstain: bool) -> tuple[Retrieval, str]:
    """What was found, and by which method."""
    with ExitStack() as stack:
        index = open_index(toolbox, config, method=config.retrieval)
        stack.callback(index.close)
        spec = spelled_out(config.retrieval, index)
        ask = choose_model(config, talk=say) if read(spec)[0].asks else None
        stack.callback(getattr(ask, "close", lambda: None))
        finder = open_finder(spec, index, toolbox, ask=ask, abstain=abstain)
        return finder.search(text, k=count), spec


def _said(hit: Hit, toolbox: Toolbox) -> str:
    said = summary(toolbox[hit.tool])
    return f"{said} [{hit.why}]" if hit.why else said


def _how(found: Retrieval, method: str, seconds: float) -> list[str]:
    usage = found.usage
    asked = f", {usage.model_calls} model calls, {usage.input_tokens + usage.output_tokens:,} tokens"
    took = f"{method}: {seconds * 1000:,.0f} ms{asked if usage.model_calls else ''}"
    return [*found.transcript, took]


def _explained(hits: list[dict[str, Any]], found: Retrieval, method: str, seconds: float) -> dict[str, Any]:
    usage = found.usage
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {
        "method": method,
        "seconds": round(seconds, 4),
        "model_calls": usage.model_calls,
        **tokens,
        "transcript": list(found.transcript),
        "hits": hits,
    }


@click.command(epilog=_INDEX_EPILOG)
@_index_option
@_embedder_option
@click.option("--words-only", is_flag=True, help="No vectors: search by words alone.")
@click.option("--expand", is_flag=True, help="Let the model write questions that each tool answers (Re-Invoke).")
@click.option(
    "--queries",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    metavar="N",
    help="Of --expand: questions a tool.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Asked at once.")
@model_option
@tools_option
@servers_options
@json_option
def index(*, words_only: bool, expand: bool, queries: int, workers: int, as_json: bool, **flags: Any) -> None:
    """Prepare searching: words, vectors and, with --expand, questions that the model thinks of.

    Only what has changed is read again; questions that were kept are not asked for again, and a fetch or a model that
    fails loses nothing. Half a minute a tool with the embedded model; --queries 3 is most of the gain in a third of
    that.
    """
    config = load_config(flags)[0]
    with open_toolbox(config) as toolbox:
        began = time.monotonic()
        with bar("Reading tools", total=len(toolbox)) as watch:
            made = open_index(toolbox, config, method="bm25" if words_only else "hybrid", watch=watch)
        asked = _expand(made, toolbox, config, queries, workers) if expand else 0
        report = _report(made, asked, time.monotonic() - began)
    if as_json:
        print_json(report)
    else:
        place = report["folder"] or "nowhere: tools without a source are indexed anew each time"
        vectors = f", vectors by {report['embedder']}" if report["embedder"] else ""
        questions = f", questions for {report['expanded']}" if report["expanded"] else ""
        print_text(f"{report['tools']} tools: words{vectors}{questions}; {report['seconds']} s; kept in {place}")


def _expand(made: ToolIndex, toolbox: Toolbox, config: Config, queries: int, workers: int) -> int:
    """Asks for what questions are missing; how many calls that took."""
    ask = choose_model(config, talk=say)
    try:
        with bar("Asking for questions", total=len(toolbox)) as watch:
            return expand_all(
                documents(toolbox.values()),
                made.store,
                ask,
                queries=queries,
                workers=workers,
                watch=lambda done, _: watch(done),
            ).model_calls
    finally:
        getattr(ask, "close", lambda: None)()


def _report(made: ToolIndex, asked: int, seconds: float) -> dict[str, Any]:
    return {
        "tools": len(made.names),
        "embedder": made.dense.embedder.name if made.dense is not None else None,
        "expanded": made.store.expanded,
        "model_calls": asked,
        "folder": str(made.folder) if made.folder is not None else None,
        "seconds": round(seconds, 2),
    }
