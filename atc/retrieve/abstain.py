"""Abstention: whether anything in the index fits a query at all, so that nothing is returned where nothing does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atc.retrieve.base import Ranker, Retrieval
from atc.retrieve.document import ToolDocument, words_text
from atc.retrieve.embedders import DEFAULT
from atc.retrieve.index import ToolIndex
from atc.retrieve.words import tokens

EMBEDDER, WORDS, THRESHOLD = DEFAULT, 0.419, 0.1716
"""The embedding model that this was fitted for, since its cosines are of its own scale; what the share of shared words
counts beside the margin; and the nearness below which nothing fits.

Fitted by logistic regression on KAMEL's relations (300 questions) and BFCL's functions (300 turns), each query
once with and once without its tools in the index: the weights of a logistic regression, and the nearness at which one
in ten of the queries that can be answered are lost. Neither data set is reported on.
"""

_SEEN = 30
_NEAREST = 10
"""Tools that may be as near as the best: rivals of one kind do not make it a worse match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstain:
    """Says whether anything fits. A tool fits that stands out, and whose document has the query's words."""

    dense: Ranker
    documents: Mapping[str, ToolDocument]

    @classmethod
    def over(cls, index: ToolIndex) -> Abstain | None:
        """The judge over an index; None where it has no vectors of the default model."""
        dense = index.dense
        if dense is None or dense.embedder.name != EMBEDDER:
            return None
        return cls(dense=dense, documents=index.documents)

    def __call__(self, query: str, found: Retrieval) -> bool:
        """Whether something in the index fits; where nothing was `found`, nothing does."""
        return bool(found.hits) and self.nearness(query) >= THRESHOLD

    def nearness(self, query: str) -> float:
        """How near the best document is: its margin and the weighted share of words; minus infinity for no document.

        The margin is the cosine of query and best document, less the mean of those of the documents at ranks 11 to 30
        (or, of fewer documents, of the last one).
        """
        [ranked] = self.dense.top([query], n=_SEEN)
        scores = [float(score) for score in ranked.scores]
        if not scores:
            return float("-inf")
        others = scores[_NEAREST:] or scores[1:][-1:] or [0.0]
        best = self.documents[self.dense.names[int(ranked.positions[0])]]
        wanted = set(tokens(query))
        shared = len(wanted & set(tokens(words_text(best)))) / len(wanted) if wanted else 0.0
        return scores[0] - sum(others) / len(others) + WORDS * shared
