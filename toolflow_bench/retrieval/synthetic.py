"""Synthetic queries of the tools: making them for a whole data set, and asking them where nobody wrote queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from atc.types import Usage
from protocols.ask import Ask
from toolflow_bench.retrieval.data import RetrievalData, RetrievalQuery

if TYPE_CHECKING:
    from atc.retrieve.expand.keep import Expansions
    from atc.retrieve.index import ToolIndex

SAMPLED = "queries"
"""The kind of expansion that is queries as people ask them."""

_ASKED_SHARE = 3
"""One in so many of a tool's synthetic queries is asked in a round trip, at least one; the others may be searched."""


def expand(
    data: RetrievalData,
    index: ToolIndex,
    expansions: Expansions,
    ask: Ask,
    *,
    queries: int,
    kinds: tuple[str, ...],
    workers: int,
    watch: Callable[[int, int], None] | None = None,
) -> Usage:
    """Make what is missing of the data set's synthetic queries.

    Raises:
        ModelUnavailable: the model does not answer; what was made until then is kept.
    """
    from atc.retrieve.expand.expander import expand_all, neighbours

    near = neighbours(data.documents, index.dense or index.lexical)
    return expand_all(
        data.documents,
        expansions,
        ask,
        kinds=kinds,
        queries=queries,
        near=near,
        workers=workers,
        watch=watch,
    )


def round_trip(data: RetrievalData, expansions: Expansions, rest: Expansions) -> RetrievalData:
    """The same tools, asked synthetic queries of their own: each must find the tool that it was written for.

    What is asked is held out: `rest` gets all other synthetic queries, for methods that search in them.
    """
    from atc.retrieve.expand.kinds import KINDS

    asked = []
    for document in data.documents:
        queries = expansions.texts(document, kinds=(SAMPLED,))
        if not queries:
            continue
        count = max(1, len(queries) // _ASKED_SHARE)
        asked += [
            RetrievalQuery(id=f"{document.name} #{number}", text=text, gold=(document.name,))
            for number, text in enumerate(queries[-count:])
        ]
        for kind in KINDS:
            kept = queries[:-count] if kind == SAMPLED else expansions.texts(document, kinds=(kind,))
            if kept:
                rest.keep(document, kept, kind=kind, prompt="", model="held out", sample=0)
    note = f"{len(asked)} synthetic queries are asked, none of which is searched: a round trip."
    return replace(data, name=f"{data.name} (round trip)", queries=tuple(asked), notes=(*data.notes, note))
