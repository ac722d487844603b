"""`atc tools search` and `atc tools index`: find tools for a text, and build the search index."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import click

from atc.cli import options, output, wiring
from atc.cli.tool_text import describe_tool, tool_document
from atc.pipeline.retrieve.base import Hit
from atc.pipeline.retrieve.document import documents
from atc.pipeline.retrieve.expand import expand_all
from atc.pipeline.retrieve.finder import open_finder, open_index, resolve_method
from atc.pipeline.retrieve.methods import read_method
from atc.settings.reading import load_config
from protocols.tool import Tool

_METHODS = (
    "How: auto (default), bm25, dense, hybrid, blend, d2q, reinvoke, hyde, q2e, q2d, toolqp, "
    "anytool …, with flags as in reinvoke:queries=5,on=bm25."
)
_embedder_option = click.option(
    "--embedder", metavar="NAME", help="An embedding model of 'atc models list', or openai:NAME."
)


@click.command(
    "search",
    cls=options.Verb,
    examples=[
        "atc tools search weather at an airport -k 3",
        "atc tools search --method bm25 planes of an airline",
        (
            "atc tools search --explain --method toolqp:queries=6 --model local"
            " late flights and their planes"
        ),
    ],
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k", type=options.AT_LEAST_ONE, default=10, show_default=True, metavar="N", help="At most N."
)
@click.option("--method", "retrieval", metavar="NAME", help=_METHODS)
@click.option("--explain", is_flag=True, help="Also show how they were found.")
@options.model_option
@_embedder_option
@options.tools_options
def search(query: tuple[str, ...], *, k: int, explain: bool, **flags: Any) -> None:
    """Search for the tools that fit QUERY, best first.

    A tool that QUERY names comes first. The tools found are followed by tools that return the ids
    which they need as arguments. In the list of methods, reinvoke and those after it ask a model
    for each query.
    """
    text = " ".join(query)
    config = load_config(flags)
    with ExitStack() as stack:
        toolbox = stack.enter_context(wiring.open_toolbox(config))
        index = open_index(toolbox, config, method=config.retrieval)
        stack.callback(index.close)
        method = resolve_method(config.retrieval, index)
        ask = (
            stack.enter_context(wiring.open_model(config)) if read_method(method)[0].asks else None
        )
        found = open_finder(method, index, toolbox, ask=ask).search(text, k=k)
        hits = [_hit_document(toolbox[hit.tool], hit) for hit in found.hits]
        report = {
            "method": method,
            "transcript": found.transcript,
            "usage": asdict(found.usage),
            "hits": hits,
        }
        rows = [_hit_row(toolbox[hit.tool], hit) for hit in found.hits]
        output.print_result(report if explain else hits, rows)
        for line in (method, *found.transcript) if explain else ():
            output.say(line)
        if not hits:
            output.say(
                f"None of the {len(toolbox)} tools fits {text!r}; 'atc tools list' shows all."
            )


def _hit_document(tool: Tool, hit: Hit) -> dict[str, Any]:
    """Return one result of a search as a JSON object."""
    return tool_document(tool) | {"score": round(hit.score, 4), "why": hit.why}


def _hit_row(tool: Tool, hit: Hit) -> tuple[str, str, str]:
    """Return one result of a search as a table row: score, alias and description of the tool."""
    why = f" [{hit.why}]" if hit.why else ""
    return f"{hit.score:.2f}", hit.tool, f"{describe_tool(tool)}{why}"


@click.command(
    "index",
    cls=options.Verb,
    examples=[
        "atc tools index --tools openapi.json",
        "atc tools index --tools openapi.json --expand --model local",
        "atc tools index --tools catalogue/ --workers ray:10.0.0.5:6379",
    ],
)
@_embedder_option
@click.option("--words-only", is_flag=True, help="No vectors: search by words alone.")
@click.option(
    "--expand",
    is_flag=True,
    help="Let the model write questions that each tool answers (Re-Invoke).",
)
@click.option(
    "--queries",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    metavar="N",
    help="Of --expand: questions a tool.",
)
@options.jobs_option
@options.workers_option
@options.model_option
@options.tools_options
def index(*, words_only: bool, expand: bool, queries: int, jobs: int | None, **flags: Any) -> None:
    """Build the search index of the tools, for search by words, vectors and questions.

    Only tools that have changed since the last time are indexed again. Questions that are stored
    are not requested from the model again, and nothing is lost if a download or the model fails.
    With --expand, the embedded model takes half a minute for each tool; --queries 3 brings most of
    the gain in a third of that time. The setting 'index' names the folder of the index. By default
    it is in the cache, where each set of sources has its own index.
    """
    config = load_config(flags)
    began = time.monotonic()
    asked = 0
    with ExitStack() as stack:
        toolbox = stack.enter_context(wiring.open_toolbox(config))
        pool = stack.enter_context(wiring.open_pool(config, jobs))
        # On this machine, one embedding model uses all cores by itself.
        embedding = pool if config.workers is not None else None
        with output.bar("Reading tools", total=len(toolbox)) as advance:
            method = "bm25" if words_only else "hybrid"
            built = open_index(toolbox, config, method=method, pool=embedding, watch=advance)
        if expand:
            shared = stack.enter_context(wiring.SharedResources(config))
            with output.bar("Asking for questions", total=len(toolbox)) as advance:
                texts = documents(toolbox.values())
                usage = expand_all(
                    texts,
                    built.store,
                    lambda: shared.ask,
                    queries=queries,
                    pool=pool,
                    watch=advance,
                )
                asked = usage.model_calls
        report = {
            "tools": len(built.names),
            "embedder": built.dense.embedder.name if built.dense is not None else None,
            "expanded": built.store.expanded_count,
            "model_calls": asked,
            "folder": str(built.folder) if built.folder is not None else None,
            "seconds": round(time.monotonic() - began, 2),
        }
    how = f"vectors by {report['embedder']}" if report["embedder"] else "words alone"
    place = report["folder"] or "memory: tools without a source are indexed anew each time"
    questions = f"questions for {report['expanded']}"
    text = f"{report['tools']} tools: {how}, {questions}; {report['seconds']} s; kept in {place}"
    output.print_result(report, text)
