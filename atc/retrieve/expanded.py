"""Rankers over documents that were expanded with synthetic queries, and how consistent those queries are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from atc.retrieve.base import Ranked, Ranker, View
from atc.retrieve.best import best
from atc.retrieve.dense import Dense
from atc.retrieve.document import ToolDocument, vector_text, words_text
from atc.retrieve.expand import QUERIES, Expansions
from atc.retrieve.expand.vectors import embedded
from atc.retrieve.lexical import Lexical

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions
    from atc.retrieve.embed import Embedder

Form = Literal["appended", "queries"]
"""What stands in a copy: the document with one query behind it, or the query alone (Table 3b)."""
_BATCH = 512


def expanded_dense(
    documents: Sequence[ToolDocument],
    expansions: Expansions,
    embedder: Embedder,
    *,
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
    form: Form = "appended",
    aggregate: Literal["mean", "max"] = "mean",
) -> Ranker:
    """Re-Invoke's documents: a copy with each synthetic query, whose embeddings are averaged (Algorithm 2).

    The mean is not brought to length one, so that a score is the mean of the copies' similarities; `max` scores a
    document by its most similar copy (Table 3d). A document without queries counts as it stands.
    """
    copies = [_copies(document, expansions.texts(document, kinds, most=queries), form) for document in documents]
    names = [document.name for document in documents]
    owners = np.repeat(np.arange(len(documents)), [len(texts) for texts in copies])
    texts = [text for of_one in copies for text in of_one]
    vectors = embedded(texts, embedder, expansions)
    if aggregate == "max":
        return Closest(Dense(texts, vectors, embedder), names, owners)
    return Dense(names, mean_rows(vectors, owners, len(names)), embedder)


def expanded_lexical(
    documents: Sequence[ToolDocument],
    expansions: Expansions,
    *,
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
    form: Form = "appended",
) -> Ranker:
    """BM25 over documents with all their synthetic queries behind them, or over the queries alone.

    BM25 scores of copies do not average into a document's: rare words of one query would count as often as it has
    copies. So one text holds all queries, as in Doc2Query.
    """
    texts = []
    for document in documents:
        said = expansions.texts(document, kinds, most=queries)
        alone = form == "queries" and said
        texts.append("\n".join(said if alone else (words_text(document), *said)))
    return Lexical.build([document.name for document in documents], texts)


@dataclass(frozen=True)
class Closest:
    """A `Ranker` that scores a document by the closest of its copies. `owners` are the copies' documents, ascending."""

    copies: Ranker
    names: Sequence[str]
    owners: Positions

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The greatest score of a copy, shape (views, documents or positions)."""
        starts = np.flatnonzero(np.diff(self.owners, prepend=-1))
        found: Floats = np.maximum.reduceat(self.copies.scores(views), starts, axis=1)
        return found if positions is None else found[:, positions]

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` best documents."""
        return [best(row, self.names, n=n) for row in self.scores(views)]


def mean_rows(vectors: Floats, owners: Positions, count: int) -> Floats:
    """The mean of the rows of each of `count` owners; an owner of none has the zero vector."""
    total = np.zeros((count, vectors.shape[1]), np.float64)
    np.add.at(total, owners, vectors)
    rows = np.maximum(np.bincount(owners, minlength=count), 1)
    mean: Floats = (total / rows[:, None]).astype(np.float32)
    return mean


def round_trip(
    ranker: Ranker,
    documents: Sequence[ToolDocument],
    expansions: Expansions,
    *,
    at: Collection[int] = (5, 10),
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
) -> dict[int, float]:
    """Round-trip consistency (§6.2): for each k the share of synthetic queries that find their own tool among k.

    0 where there are no queries. Over documents that were expanded with these very queries the figure flatters, as it
    does in the paper; over the plain documents it does not.
    """
    asked = [
        (text, document.name) for document in documents for text in expansions.texts(document, kinds, most=queries)
    ]
    found = dict.fromkeys(at, 0)
    for start in range(0, len(asked), _BATCH):
        part = asked[start : start + _BATCH]
        for (_, name), ranked in zip(part, ranker.top([text for text, _ in part], n=max(at)), strict=True):
            names = [ranker.names[position] for position in ranked.positions.tolist()]
            for k in at:
                found[k] += name in names[:k]
    return {k: count / max(len(asked), 1) for k, count in found.items()}


def _copies(document: ToolDocument, queries: Sequence[str], form: Form) -> list[str]:
    if not queries:
        return [vector_text(document)]
    return list(queries) if form == "queries" else [f"{vector_text(document)}\n{query}" for query in queries]
