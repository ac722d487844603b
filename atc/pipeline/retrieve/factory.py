"""Construction of search methods for an index of tools.

The module needs the packages of the `retrieval` extra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from atc.core.specs import Flags
from atc.core.types import Usage
from atc.pipeline.retrieve.anytool import AnyTool
from atc.pipeline.retrieve.base import Ranker, RetrievalUnavailable, Retriever
from atc.pipeline.retrieve.blend import Blend, Signals
from atc.pipeline.retrieve.dense import Dense
from atc.pipeline.retrieve.document import ToolDocument, json_text, words_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.fuse import Hybrid, PlainRetriever
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.listwise import Listwise
from atc.pipeline.retrieve.methods import UnknownMethod, read_method
from atc.pipeline.retrieve.planned import PlannedRetriever
from atc.pipeline.retrieve.reinvoke import (
    FoundIntents,
    ReInvoke,
    d2q,
    expanded_dense,
    expanded_lexical,
    extract_intents,
    split_requests,
)
from atc.pipeline.retrieve.rewrite import REWRITERS as REWRITERS
from atc.pipeline.retrieve.rewrite import Rewriter
from atc.pipeline.retrieve.search_agents import AnyToolOptions
from atc.pipeline.retrieve.toolqp import ToolQP


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The components from which search methods are built, such as the index and a model.

    A component may be None. A method that needs this component then raises `RetrievalUnavailable`
    when it is built.
    """

    index: ToolIndex
    ask: Any = None
    """The model (`Ask`) for methods that ask one for each query, or None."""
    expansions: DocumentStore | None = None
    """Store of the tools' synthetic queries."""
    threads: int = 16
    """Maximum number of concurrent model requests of one search."""

    @property
    def documents(self) -> list[ToolDocument]:
        """All documents of the index, in the order of the index."""
        return list(self.index.documents.values())


Build: TypeAlias = Callable[[Setup, Flags], Retriever]


def build(spec: str, setup: Setup) -> Retriever:
    """Build the search method that `spec` describes, such as `reinvoke:queries=5`.

    Raises:
        UnknownMethod: there is no such method or flag, or the flag does not accept the value.
        RetrievalUnavailable: the method needs vectors, synthetic queries or a model that `setup`
            lacks.
    """
    method, flags = read_method(spec)
    if method.asks and setup.ask is None:
        raise RetrievalUnavailable(
            f"the method {method.name!r} asks a model for every query; name one with --model."
        )
    try:
        return BUILDERS[method.name](setup, flags)
    except ValueError as error:
        raise UnknownMethod(f"{spec}: {error}") from error


def ranker(setup: Setup, on: str) -> Ranker:
    """Return the ranker with this name over the index's documents: `bm25`, `dense` or `hybrid`.

    Raises:
        RetrievalUnavailable: the ranker needs vectors, and the index was built without them.
    """
    if on == "bm25":
        return setup.index.lexical
    dense = _require_dense(setup)
    return dense if on == "dense" else Hybrid([(dense, 0.8), (setup.index.lexical, 0.2)])


def _require_dense(setup: Setup) -> Dense:
    if setup.index.dense is None:
        raise RetrievalUnavailable(
            "this search goes by meaning, and the index has no vectors; make them with 'atc tools"
            " index'."
        )
    return setup.index.dense


def _require_expansions(setup: Setup) -> DocumentStore:
    if setup.expansions is None:
        raise RetrievalUnavailable(
            "the tools have no synthetic queries yet; let a model write them with 'atc tools index"
            " --expand'."
        )
    return setup.expansions


def _rewriter(setup: Setup, flags: Flags, *, method: str) -> Retriever:
    on = flags.pop("on", "dense")
    text = words_text if on == "bm25" else json_text
    return Rewriter(
        ranker(setup, on), setup.ask, method, documents=setup.index.documents, text=text, **flags
    )


def _toolqp(setup: Setup, flags: Flags) -> Retriever:
    return ToolQP(
        PlainRetriever(ranker(setup, flags.pop("on", "dense"))),
        setup.index.documents,
        setup.ask,
        **flags,
    )


def _reinvoke(setup: Setup, flags: Flags, *, by: str) -> Retriever:
    by = flags.pop("intents", by)
    ways: dict[str, Callable[[str], FoundIntents] | None] = {
        "model": partial(extract_intents, ask=setup.ask),
        "split": lambda query: (split_requests(query), Usage()),
        "none": None,
    }
    return ReInvoke(_expanded_ranker(setup, flags), find=ways[by])


def _expanded_ranker(setup: Setup, flags: Flags) -> Ranker:
    """Build a ranker over the documents with their synthetic queries."""
    on = flags.pop("on", "dense")
    if flags.get("queries") == 0:
        return ranker(setup, on)
    if on == "bm25":
        return expanded_lexical(setup.documents, _require_expansions(setup), **flags)
    return expanded_dense(
        setup.documents, _require_expansions(setup), _require_dense(setup).embedder, **flags
    )


def _d2q(setup: Setup, flags: Flags) -> Retriever:
    if flags.pop("on", "dense") == "bm25":
        return PlainRetriever(
            expanded_lexical(setup.documents, _require_expansions(setup), **flags)
        )
    return PlainRetriever(
        d2q(setup.documents, _require_expansions(setup), _require_dense(setup).embedder, **flags)
    )


def _planned(setup: Setup, flags: Flags) -> Retriever:
    best = "bm25" if setup.index.dense is None else "hybrid"
    return PlannedRetriever(ranker=ranker(setup, flags.get("on", best)), ask=setup.ask)


def _listwise(setup: Setup, flags: Flags) -> Retriever:
    base = build(flags.pop("of", "hybrid"), setup)
    return Listwise(retriever=base, documents=setup.index.documents, ask=setup.ask, **flags)


def _anytool(setup: Setup, flags: Flags) -> Retriever:
    return AnyTool(
        setup.index.documents, setup.ask, options=AnyToolOptions(threads=setup.threads, **flags)
    )


BUILDERS: Mapping[str, Build] = {
    "bm25": lambda setup, _: PlainRetriever(ranker(setup, "bm25")),
    "dense": lambda setup, _: PlainRetriever(ranker(setup, "dense")),
    "hybrid": lambda setup, _: PlainRetriever(ranker(setup, "hybrid")),
    "blend": lambda setup, _: Blend(
        Signals.build(setup.index, _require_dense(setup), _require_expansions(setup))
    ),
    "d2q": _d2q,
    "reinvoke": partial(_reinvoke, by="model"),
    "reinvoke-split": partial(_reinvoke, by="split"),
    **{name: partial(_rewriter, method=name) for name in REWRITERS},
    "planned": _planned,
    "toolqp": _toolqp,
    "listwise": _listwise,
    "anytool": _anytool,
}
"""Functions that build a retriever, keyed by the name of the method.

They get flags that `read_method` has parsed and raise ValueError for invalid values.
"""
