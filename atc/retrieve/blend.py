"""The best search that asks no model: documents, synthetic queries and words together, for one request or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from atc.retrieve.base import Ranker, Retrieval
from atc.retrieve.best import best
from atc.retrieve.expand import Expansions
from atc.retrieve.fuse import Hybrid, hits
from atc.retrieve.segment import split
from atc.retrieve.signals import Signals, softmax

if TYPE_CHECKING:
    from atc.retrieve.base import Floats
    from atc.retrieve.index import ToolIndex

FULL = 100_000
"""Documents up to which every one is scored for every query."""
_POOL = 500


class Blend:
    """A `Retriever` that ranks tools by their probability: for the whole query, and at most for one of its requests.

    For the query and for each of its requests (`split`) the scores of all documents become probabilities; a document
    has its probability for the whole query plus its highest for a request. A part of the query that asks for nothing
    spreads its probability over many tools and so lifts none: it need not be known whether a query takes one tool or
    several. `ranker` gives scores in standard deviations.
    """

    def __init__(self, ranker: Ranker, *, segments: bool = True) -> None:
        self._ranker, self._segments = ranker, segments

    @classmethod
    def build(cls, index: ToolIndex, expansions: Expansions, *, segments: bool = True) -> Self:
        """Over an index with vectors, as it is now, and what was written about its documents.

        Above 100,000 documents only the documents' vectors and words are blended.

        Raises:
            RetrievalUnavailable: see `Signals.build`.
        """
        dense = index.dense
        if dense is None:
            raise ValueError("a blend needs an index with vectors")
        if len(index.names) > FULL:
            return cls(Hybrid([(dense, 0.8), (index.lexical, 0.2)]), segments=segments)
        return cls(Signals.build(index, dense, expansions), segments=segments)

    def search(self, query: str, *, k: int) -> Retrieval:
        """The `k` best tools; the transcript lists the requests that the query was taken apart into."""
        requests = split(query) if self._segments else ()
        views = [query, *requests] if len(requests) > 1 else [query]
        names = self._ranker.names
        if len(names) <= FULL:
            found = best(mixture(self._ranker.scores(views)), names, n=k)
        else:
            lists = self._ranker.top(views, n=max(k, _POOL))
            pool = np.unique(np.concatenate([one.positions for one in lists]))
            found = best(mixture(self._ranker.scores(views, pool)), names, n=k, positions=pool)
        return Retrieval(hits=hits(found, names, k=k), transcript=tuple(f"request: {view}" for view in views[1:]))


def mixture(scores: Floats) -> Floats:
    """One score for each document from those of the views (views, documents), the first of which is the whole query.

    It is a logarithm, so that unlikely documents keep their order.
    """
    if not scores.size:
        return np.zeros(scores.shape[1], np.float32)
    likely = softmax(scores.astype(np.float64))
    total = likely[0] + likely[1:].max(axis=0, initial=0.0)
    result: Floats = np.log(np.maximum(total, 1e-30)).astype(np.float32)
    return result
