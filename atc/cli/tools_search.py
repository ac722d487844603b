"""`atc tools search` and `atc tools index`: finding the tools that fit, and preparing for it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import click

from atc.cli import options
from atc.cli.output import print_columns, print_json, print_result, print_text, say
from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.cli.wiring import Shared, SharedModel, choose_model, open_pool, open_toolbox
from atc.retrieve.document import documents
from atc.retrieve.expand import expand_all
from atc.retrieve.finder import open_finder, open_index, spelled_out
from atc.retrieve.methods import read
from protocols.toolbox import Tool

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
  atc tools index --tools catalogue/ --workers ray:10.0.0.5:6379
"""
_METHODS = (
    "How: auto (default), bm25, dense, hybrid, blend, reinvoke, hyde, q2e, q2d, d2q, toolqp, anytool …, with flags as "
    "in reinvoke:queries=5,on=bm25."
)
_embedder_option = click.option(
    "--embedder", metavar="NAME", help="An embedding model of 'atc models list', or openai:NAME."
)


@click.command(epilog=_SEARCH_EPILOG)
@click.argument("query", nargs=-1, required=True)
@click.option("-k", "count", type=options.AT_LEAST_ONE, default=10, show_default=True, metavar="N", help="At most N.")
@click.option("--method", "retrieval", metavar="NAME", help=_METHODS)
@click.option("--explain", is_flag=True, help="Show how they were found, and what it took.")
@click.option("--fitting", is_flag=True, help="None where none seems to fit (right for two queries in three).")
@options.model_option
@_embedder_option
@options.tools_options
@options.json_option
def search(query: tuple[str, ...], *, count: int, explain: bool, fitting: bool, as_json: bool, **flags: Any) -> None:
    """The tools that fit QUERY, best first.

    Those that make the ids which they need follow. A tool that QUERY names comes first. Methods from hyde on ask a
    model for each query.
    """
    text = " ".join(query)
    config = load_config(flags)[0]
    with ExitStack() as stack:
        toolbox = stack.enter_context(open_toolbox(config))
        began = time.monotonic()
        index = open_index(toolbox, config, method=config.retrieval)
        stack.callback(index.close)
        method = spelled_out(config.retrieval, index)
        ask = choose_model(config) if read(method)[0].asks else None
        stack.callback(getattr(ask, "close", lambda: None))
        found = open_finder(method, index, toolbox, ask=ask, abstain=fitting).search(text, k=count)
        seconds = time.monotonic() - began
        usage = found.usage
        if as_json:
            hits = [line_of(toolbox[hit.tool]) | {"score": round(hit.score, 4), "why": hit.why} for hit in found.hits]
            report = {
                "method": method,
                "seconds": round(seconds, 4),
                "model_calls": usage.model_calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "transcript": list(found.transcript),
                "hits": hits,
            }
            print_json(report if explain else hits)
            return
        shown = [(hit, f"{summary(toolbox[hit.tool])}{f' [{hit.why}]' if hit.why else ''}") for hit in found.hits]
        print_columns((f"{hit.score:.2f}", hit.tool, said) for hit, said in shown)
        if not found.hits:
            say(f"None of the {len(toolbox)} tools fits {text!r}; 'atc tools list' shows all.")
        if explain:
            asked = f", {usage.model_calls} model calls, {usage.input_tokens + usage.output_tokens:,} tokens"
            took = f"{method}: {seconds * 1000:,.0f} ms{asked if usage.model_calls else ''}"
            print_text("\n".join(["", *found.transcript, took]))


@click.command(epilog=_INDEX_EPILOG)
@_embedder_option
@click.option("--words-only", is_flag=True, help="No vectors: search by words alone.")
@click.option("--expand", is_flag=True, help="Let the model write questions that each tool answers (Re-Invoke).")
@click.option("--queries", type=click.IntRange(1, 50), default=10, show_default=True, metavar="N",
              help="Of --expand: questions a tool.")  # fmt: skip
@options.jobs_option
@options.workers_option
@options.model_option
@options.tools_options
@options.json_option
def index(*, words_only: bool, expand: bool, queries: int, jobs: int | None, as_json: bool, **flags: Any) -> None:
    """Prepare searching by words, vectors and questions.

    Only what has changed is read again; questions that were kept are not asked for again, and a fetch or a model that
    fails loses nothing. Half a minute a tool with the embedded model; --queries 3 is most of the gain in a third of
    that. The setting 'index' names the folder that keeps them, else it is one in the cache for these sources.
    """
    config = load_config(flags)[0]
    began, asked = time.monotonic(), 0
    with ExitStack() as stack:
        toolbox = stack.enter_context(open_toolbox(config))
        pool = stack.enter_context(open_pool(config, jobs))
        embedding = pool if config.workers is not None else None  # here, a model takes all cores by itself
        with bar("Reading tools", total=len(toolbox)) as advance:
            method = "bm25" if words_only else "hybrid"
            made = open_index(toolbox, config, method=method, pool=embedding, watch=advance)
        if expand:
            ask = SharedModel(stack.enter_context(Shared(config)))
            with bar("Asking for questions", total=len(toolbox)) as advance:
                texts = documents(toolbox.values())
                watch = lambda done, _: advance(done)  # noqa: E731 - the bar takes one number
                asked = expand_all(texts, made.store, ask, queries=queries, pool=pool, watch=watch).model_calls
        report = {
            "tools": len(made.names),
            "embedder": made.dense.embedder.name if made.dense is not None else None,
            "expanded": made.store.expanded,
            "model_calls": asked,
            "folder": str(made.folder) if made.folder is not None else None,
            "seconds": round(time.monotonic() - began, 2),
        }
    how = f"vectors by {report['embedder']}" if report["embedder"] else "words alone"
    place = report["folder"] or "memory: tools without a source are indexed anew each time"
    text = f"{report['tools']} tools: {how}, questions for {report['expanded']}; {report['seconds']} s; kept in {place}"
    print_result(report, text, as_json=as_json)


def line_of(tool: Tool) -> dict[str, Any]:
    """A tool as an object of a list in JSON."""
    return {
        "alias": tool.alias,
        "name": tool.protocol.name,
        "source": tool.source,
        "writes": tool.protocol.writes,
        "title": tool.protocol.title,
        "description": tool.protocol.description,
        "arguments": list(tool.arguments),
        "required": sorted(tool.required),
    }


def summary(tool: Tool) -> str:
    """What a tool does, on one line."""
    text = tool.protocol.description or tool.protocol.title
    return " ".join(text.partition("\n\n")[0].split())
