"""The cross-encoder slot: a model that reads query and document together re-scores what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from atc.retrieve.base import Retrieval, RetrievalUnavailable, Retriever
from atc.retrieve.document import ToolDocument, json_text

if TYPE_CHECKING:
    from atc.retrieve.base import Floats


class CrossEncoder(Protocol):
    """A model of how well a document fits a query."""

    @property
    def name(self) -> str:
        """What a transcript calls the model."""

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """How well each text fits, shape (texts,); any scale, higher fits better.

        Raises:
            RetrievalUnavailable: the model cannot be had.
        """


@dataclass(frozen=True, kw_only=True)
class Reranked:
    """Finds by `retriever` and orders the best of it anew by `model`; 20 candidates, as in ToolQP's Table 1.

    Where more than `candidates` are asked for, that many are re-scored, so that the scores of a result compare. What
    the model reads of a tool is `text` of its document.
    """

    retriever: Retriever
    documents: Mapping[str, ToolDocument]
    model: CrossEncoder
    candidates: int = 20
    text: Callable[[ToolDocument], str] = json_text

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools, see `Retriever.search`; a hit's score is the model's.

        Raises:
            RetrievalUnavailable: as the model says, or it gave something else than numbers.
        """
        found = self.retriever.search(query, k=max(k, self.candidates))
        if not found.hits:
            return found
        scores = self.model.scores(query, [self.text(self.documents[hit.tool]) for hit in found.hits])
        scored = [replace(hit, score=float(score)) for hit, score in zip(found.hits, scores, strict=True)]
        if not all(isfinite(hit.score) for hit in scored):
            raise RetrievalUnavailable(
                f"the reranker {self.model.name!r} gave a score that is no number; use another, or search without it."
            )
        scored.sort(key=lambda hit: (-hit.score, hit.tool))
        note = f"{len(scored)} tools scored again by {self.model.name}"
        return replace(found, hits=tuple(scored[:k]), transcript=(*found.transcript, note))
