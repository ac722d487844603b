"""How each method of search is put together over an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc.flags import Flags
from atc.retrieve.base import Ranker, RetrievalUnavailable, Retriever
from atc.retrieve.methods.method import Build, Plain, Setup, UnknownMethod

if TYPE_CHECKING:
    from atc.retrieve.embed import Embedder
    from atc.retrieve.expand import Expansions
    from protocols.ask import Ask

_INTENTS = ("model", "split", "both", "none")


def ranker(setup: Setup, on: str = "dense") -> Ranker:
    """The ranker `bm25`, `dense` or `hybrid` over the index's documents.

    Raises:
        RetrievalUnavailable: it goes by meaning, and the index was built without vectors.
        UnknownMethod: there is no such ranker.
    """
    if on == "bm25":
        return setup.index.lexical
    if on not in {"dense", "hybrid"}:
        raise UnknownMethod(f"no ranker is named {on!r}; on= takes bm25, dense or hybrid.")
    dense = setup.index.dense
    if dense is None:
        raise RetrievalUnavailable(
            f"{on} search goes by meaning, and this index has no vectors; make them with 'atc tools index'."
        )
    if on == "dense":
        return dense
    from atc.retrieve.fuse import Hybrid

    return Hybrid([(dense, 0.8), (setup.index.lexical, 0.2)])


def over(on: str) -> Build:
    """Plain search with one ranker."""
    return lambda setup, flags: Plain(ranker(setup, on))  # noqa: ARG005 - has no flags


def rewriter(name: str) -> Build:
    """A method that rewrites the query (`Rewriter`)."""

    def build_it(setup: Setup, flags: Flags) -> Retriever:
        from atc.retrieve.document import json_text, words_text
        from atc.retrieve.rewrite import Rewriter

        on = flags.pop("on", "dense")
        text = words_text if on == "bm25" else json_text
        return Rewriter(ranker(setup, on), _ask(setup), name, documents=setup.index.documents, text=text, **flags)

    return build_it


def toolqp(setup: Setup, flags: Flags) -> Retriever:
    """`ToolQP`, with a trained planner where there is one."""
    from atc.retrieve.plan import Options, PromptedPlanner, ToolQP, TrainedPlanner

    base = ranker(setup, flags.pop("on", "dense"))
    planner = TrainedPlanner(setup.planner) if setup.planner is not None else PromptedPlanner(_ask(setup))
    return ToolQP(base, setup.index.documents, planner, options=Options(**flags))


def anytool(setup: Setup, flags: Flags) -> Retriever:
    """`AnyTool`'s retriever."""
    from atc.retrieve.hierarchy import AnyTool, Options

    return AnyTool(setup.index.documents, _ask(setup), options=Options(threads=setup.threads, **flags))


def plain_agent(setup: Setup, flags: Flags) -> Retriever:
    """`PlainAgent`."""
    from atc.retrieve.hierarchy import Options, PlainAgent

    shows = flags.pop("shows", "names")
    return PlainAgent(setup.index.documents, _ask(setup), shows=shows, options=Options(threads=setup.threads, **flags))


def segments(setup: Setup, flags: Flags) -> Retriever:
    """`SegmentRetriever`."""
    from atc.retrieve.hierarchy import SegmentRetriever

    return SegmentRetriever(setup.index.documents, _ask(setup), _embedder(setup), **flags)


def reinvoke(setup: Setup, flags: Flags) -> Retriever:
    """`ReInvoke` over expanded documents."""
    from atc.retrieve.intents import Intents
    from atc.retrieve.reinvoke import ReInvoke

    by = flags.pop("intents", "model")
    if by not in _INTENTS:
        raise UnknownMethod(f"reinvoke:intents={by}: it takes {', '.join(_INTENTS)}.")
    own_query = flags.pop("own_query", False)
    asked = _ask(setup) if by in ("model", "both") else None
    intents = None if by == "none" else Intents(asked, split=by in ("split", "both"))
    return ReInvoke(_expanded(setup, flags), intents=intents, own_query=own_query)


def _expanded(setup: Setup, flags: Flags) -> Ranker:
    """A ranker over the documents with their synthetic queries."""
    on = flags.pop("on", "dense")
    if flags.get("queries") == 0:
        return ranker(setup, on)
    from atc.retrieve.expanded import expanded_dense, expanded_lexical

    found = list(setup.index.documents.values())
    if on == "bm25":
        return expanded_lexical(found, _expansions(setup), **flags)
    return expanded_dense(found, _expansions(setup), _embedder(setup), **flags)


def d2q(setup: Setup, flags: Flags) -> Retriever:
    """Doc2Query: each document with its queries in one text."""
    from atc.retrieve.rewrite.d2q import d2q as expanded_in_one

    embedder = None if flags.pop("on", "dense") == "bm25" else _embedder(setup)
    return Plain(expanded_in_one(list(setup.index.documents.values()), _expansions(setup), embedder, **flags))


def blend(setup: Setup, flags: Flags) -> Retriever:
    """`Blend`."""
    from atc.retrieve.blend import Blend

    return Blend.build(setup.index, _expansions(setup), **flags)


def rerank(setup: Setup, flags: Flags) -> Retriever:
    """`Reranked` by a cross-encoder."""
    from atc.retrieve.methods.table import build
    from atc.retrieve.rerank import Reranked, cross_encoder

    base = build(flags.pop("of", "hybrid"), setup)
    model = cross_encoder(flags.pop("model", ""))
    return Reranked(retriever=base, documents=setup.index.documents, model=model, **flags)


def listwise(setup: Setup, flags: Flags) -> Retriever:
    """`Listwise`."""
    from atc.retrieve.methods.table import build
    from atc.retrieve.rerank import Listwise

    base = build(flags.pop("of", "hybrid"), setup)
    return Listwise(retriever=base, documents=setup.index.documents, ask=_ask(setup), **flags)


def _expansions(setup: Setup) -> Expansions:
    if setup.expansions is None:
        raise RetrievalUnavailable(
            "the tools have no synthetic queries yet; let a model write them with 'atc tools index --expand'."
        )
    return setup.expansions


def _ask(setup: Setup) -> Ask:
    assert setup.ask is not None, "build() has seen to it"
    return setup.ask


def _embedder(setup: Setup) -> Embedder:
    ranker(setup, "dense")
    assert setup.index.dense is not None
    return setup.index.dense.embedder
