"""Every method of search by name."""

from __future__ import annotations

from collections.abc import Mapping

from atc.flags import Flags
from atc.retrieve.base import RetrievalUnavailable, Retriever
from atc.retrieve.methods import builders
from atc.retrieve.methods import method as methods
from atc.retrieve.methods.method import Method, Setup, UnknownMethod

_ON: Mapping[str, type] = {"on": str}


def read(spec: str) -> tuple[Method, Flags]:
    """The method and the flags of a spec. Raises `UnknownMethod`."""
    return methods.read(spec, METHODS)


def build(spec: str, setup: Setup) -> Retriever:
    """The retriever that `spec` spells, over `setup`.

    Raises:
        UnknownMethod: no such method or flag, or a value that the flag does not take.
        RetrievalUnavailable: it needs vectors, synthetic queries or a model that `setup` has not.
    """
    method, flags = read(spec)
    trained = method.name == "toolqp" and setup.planner is not None
    if method.asks and setup.ask is None and not trained:
        raise RetrievalUnavailable(f"the method {method.name!r} asks a model for every query; name one with --model.")
    try:
        return method.build(setup, flags)
    except ValueError as error:
        raise UnknownMethod(f"{spec}: {error}") from error


_EXPANDED: Mapping[str, type] = {**_ON, "queries": int, "form": str, "aggregate": str}
_AGENT: Mapping[str, type] = {"pool": int, "tools_per_agent": int, "steps": int, "tokens": int, "prompt_tokens": int}

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(name="bm25", summary="shared words, stemmed, rare ones first", build=builders.over("bm25")),
        Method(name="dense", summary="meaning: cosine of embeddings", build=builders.over("dense"), embeds=True),
        Method(name="hybrid", summary="both, standardised and weighted", build=builders.over("hybrid"), embeds=True),
        Method(
            name="blend",
            summary="documents, synthetic queries and words together; the best without a model",
            build=builders.blend,
            embeds=True,
            expands=True,
        ),
        Method(
            name="d2q",
            summary="documents with the queries behind them that a model expects (Doc2Query)",
            build=builders.d2q,
            flags={**_ON, "queries": int},
            embeds=True,
            expands=True,
        ),
        Method(
            name="reinvoke-split",
            summary="Re-Invoke with the query cut at its punctuation instead of by a model",
            build=lambda setup, flags: builders.reinvoke(setup, {"intents": "split", **flags}),
            flags={**_EXPANDED, "intents": str, "own_query": bool},
            embeds=True,
            expands=True,
        ),
        Method(
            name="reinvoke",
            summary="synthetic queries of the tools, intents of the query, multi-view ranking (Re-Invoke)",
            build=builders.reinvoke,
            flags={**_EXPANDED, "intents": str, "own_query": bool},
            asks=True,
            embeds=True,
            expands=True,
        ),
        *(
            Method(
                name=name,
                summary=summary,
                build=builders.rewriter(name),
                flags={**_ON, "samples": int, "feedback": int},
                asks=True,
                embeds=True,
            )
            for name, summary in (
                ("hyde", "a document that the model imagines stands for the query (Gao et al.)"),
                ("hyde-1shot", "the same with one example, as Re-Invoke ran it"),
                ("hyde-prf", "the same with the best documents of a first pass in view"),
                ("q2e", "words that the model adds to the query (Jagerman et al.)"),
                ("q2e-prf", "the same with the best documents of a first pass in view"),
                ("q2d", "texts that the model adds to the query (Query2doc)"),
                ("q2d-prf", "the same with the best documents of a first pass in view"),
            )
        ),
        Method(
            name="toolqp",
            summary="a plan, and a query for each sub-task with what was found in view (ToolQP)",
            build=builders.toolqp,
            flags={
                **_ON,
                "queries": int,
                "shown": int,
                "aggregation": str,
                "own_query": bool,
                "tool_format": bool,
                "seed": int,
            },
            asks=True,
            embeds=True,
        ),
        Method(
            name="rerank",
            summary="the best of another method, read again by a cross-encoder",
            build=builders.rerank,
            flags={"of": str, "model": str, "candidates": int},
            embeds=True,
        ),
        Method(
            name="listwise",
            summary="the best of another method, put in order by the language model",
            build=builders.listwise,
            flags={"of": str, "candidates": int},
            asks=True,
            embeds=True,
        ),
        Method(
            name="anytool",
            summary="agents over categories, collections and tools fill a pool (AnyTool)",
            build=builders.anytool,
            flags={**_AGENT, "flat": bool},
            asks=True,
        ),
        Method(
            name="plain-agent",
            summary="one agent that reads all tools in groups (a rival in AnyTool's paper)",
            build=builders.plain_agent,
            flags={**_AGENT, "shows": str},
            asks=True,
        ),
        Method(
            name="segments",
            summary="an agent over the best segments of 1,000 tokens (a rival in AnyTool's paper)",
            build=builders.segments,
            flags={"segments": int, "segment_tokens": int},
            asks=True,
            embeds=True,
        ),
    )
}
"""In the order in which `--help` and tables show them."""
