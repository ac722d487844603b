"""What speaks for a tool, added up: its document, its synthetic queries, an adapter trained on them, and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from atc.retrieve.adapter import discriminant
from atc.retrieve.base import Ranked, Ranker, View
from atc.retrieve.best import best
from atc.retrieve.expand import KINDS, Expansions
from atc.retrieve.expand.vectors import embedded
from atc.retrieve.expanded import expanded_lexical, mean_rows
from atc.retrieve.fuse import zscores

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions
    from atc.retrieve.dense import Dense
    from atc.retrieve.index import ToolIndex

DOCUMENT, QUERIES, ADAPTED, WORDS = 0.2, 0.2, 0.4, 0.1
"""How much each signal counts; words twice, in the document and in the expanded one. Chosen on the queries of ToolE's
development split that have odd numbers; from .2 to .6 for the adapter the others found about as much.
"""
SHARPNESS = 1.0
"""Of the softmax that makes a probability of a score, whose unit is a standard deviation."""
COVERED = 0.95
"""Share of the documents that something was written about, from which on it is used: below, the others would be hidden
behind them, since a query is more like a query than like a document.
"""
_BANK = 2_000
"""Synthetic queries by which it is measured how often a document comes up."""
_BLOCK = 256
_OWN_DOCUMENT = 3.0
"""How many queries a document weighs against its own, where its place among them is taken."""


@dataclass(frozen=True, kw_only=True)
class Signals:
    """A `Ranker` by the weighted sum of z-scores: linear ones of a view's embedding, and rankers by words.

    `prior` (documents,) is taken from every score: half of what a document comes up more often than its share
    (query-bank normalisation, Bogolin et al., 2022, over synthetic queries).
    """

    names: Sequence[str]
    embed: Callable[[Sequence[View]], Floats]
    linear: Sequence[tuple[Floats, Floats, float]]
    """Weights (documents, dimensions), biases (documents,), and how much it counts."""
    lexical: Sequence[tuple[Ranker, float]]
    prior: Floats | float = 0.0

    @classmethod
    def build(cls, index: ToolIndex, dense: Dense, expansions: Expansions) -> Signals:
        """Over the documents of an index as it is now; one that nothing was written about takes part as it stands.

        Raises:
            RetrievalUnavailable: see `Embedder`, `Expansions`.
        """
        names = list(index.names)
        documents = [index.documents[name] for name in names]
        kinds: list[str] = list(KINDS)
        written = [expansions.texts(document, kinds) for document in documents]
        if sum(map(bool, written)) < COVERED * len(names):
            kinds, written = [], [()] * len(names)
        texts = [text for of_one in written for text in of_one]
        owners = np.repeat(np.arange(len(names)), [len(of_one) for of_one in written])
        queries = embedded(texts, dense.embedder, expansions, queries=True)
        vectors = dense.scores_of(np.eye(dense.embedder.dimensions, dtype=np.float32)).T.copy()
        rows = np.bincount(owners, minlength=len(names))[:, None]
        means = mean_rows(queries, owners, len(names))
        flat = np.zeros(len(names), np.float32)
        centres = ((rows * means + _OWN_DOCUMENT * vectors) / (rows + _OWN_DOCUMENT)).astype(np.float32)
        plain = cls(
            names=names,
            embed=dense.embed,
            linear=[
                (vectors, flat, DOCUMENT),
                (np.where(rows > 0, means, vectors), flat, QUERIES),
                (*discriminant(queries, owners, centres), ADAPTED),
            ],
            lexical=[
                (index.lexical, WORDS),
                (expanded_lexical(documents, expansions, kinds=kinds), WORDS),
            ],
        )
        bank = _spread(len(texts))
        return replace(plain, prior=0.5 * plain.popularity([texts[place] for place in bank], queries[bank]))

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """In deviations from a view's mean, shape (views, documents or positions)."""
        found = self._added(views, self.embed(views))
        return found if positions is None else found[:, positions]

    def _added(self, views: Sequence[View], vectors: Floats) -> Floats:
        """The scores of views whose embeddings are known."""
        total = np.zeros((len(views), len(self.names)), np.float32)
        for weights, biases, share in self.linear:
            total += share * zscores(vectors @ weights.T + biases)
        for ranker, share in self.lexical:
            total += share * zscores(ranker.scores(views))
        found: Floats = zscores(total) - self.prior
        return found

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` best documents."""
        return [best(row, self.names, n=n) for row in self.scores(views)]

    def popularity(self, bank: Sequence[str], vectors: Floats) -> Floats:
        """Of each document, how much more often than the others it is what a query of the `bank` finds, in the unit of
        scores; 0 without a bank. `vectors` are the bank's embeddings.
        """
        mass = np.zeros(len(self.names), np.float64)
        for start in range(0, len(bank), _BLOCK):
            part = slice(start, start + _BLOCK)
            mass += softmax(self._added(bank[part], vectors[part])).sum(axis=0)
        share = (mass + 1) * len(self.names) / (len(bank) + len(self.names))  # 1 for who comes up as often as is fair
        result: Floats = (np.log(share) / SHARPNESS).astype(np.float32)
        return result


def softmax(scores: Floats) -> Floats:
    """The probability of each document, shape as that of `scores` (views, documents)."""
    sharp = np.exp(SHARPNESS * (scores - scores.max(axis=1, keepdims=True)))
    result: Floats = sharp / sharp.sum(axis=1, keepdims=True)
    return result


def _spread(count: int) -> Positions:
    """Few enough places of `count`, spread evenly."""
    return np.unique(np.linspace(0, count - 1, num=min(count, _BANK)).astype(np.int64))
