"""The search method `blend`, which combines several scores of each tool.

The scores come from the tools' documents, from synthetic queries that a model has written for the
tools, and from words. It is the best method that asks no model during a search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from atc.pipeline.retrieve.base import Floats, Positions, Ranker, Ranking, Retrieval, View, hits
from atc.pipeline.retrieve.dense import Dense
from atc.pipeline.retrieve.document_store import EXPANSION_KINDS, DocumentStore
from atc.pipeline.retrieve.fuse import select_best, zscores
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.reinvoke import expanded_lexical, mean_rows, split_requests

DOCUMENT = 0.2
QUERIES = 0.2
ADAPTED = 0.4
WORDS = 0.1
"""Weights of the signals, together with `DOCUMENT`, `QUERIES` and `ADAPTED`.

`WORDS` counts twice: for the document and for the document with its synthetic queries. The weights
were chosen on the odd-numbered queries of ToolE's development split; for `ADAPTED`, values from .2
to .6 were about equally good.
"""
COVERED = 0.95
"""Minimum fraction of documents that must have synthetic queries for these queries to be used.

Below it, the other documents would rarely be found, because a query resembles other queries more
than it resembles a document.
"""
_BANK = 2_000
"""Number of synthetic queries used to measure how often each document is found."""
_BLOCK = 256
_OWN_DOCUMENT = 3.0
"""Weight of a document when its centre is computed: it counts as this many synthetic queries."""
_SHRINKAGE = 0.5
"""How far the covariance is shrunk towards a multiple of the identity, from 0 to 1.

There are fewer queries than entries to estimate.
"""


@dataclass(kw_only=True)
class Signals:
    """A `Ranker` that adds several scores of each document, each with a weight.

    The scores, called signals, are first scaled to z-scores. Some are linear functions of a query's
    embedding, the others come from lexical rankers. `prior` (documents,) is subtracted from every
    score: half of the log of how much more often than average a document is found. This is
    query-bank normalisation (Bogolin et al., 2022) over synthetic queries.
    """

    names: Sequence[str]
    embed: Callable[[Sequence[View]], Floats]
    linear: Sequence[tuple[Floats, Floats, float]]
    """Weights (documents, dimensions), biases (documents,) and weight of each linear signal."""
    lexical: Sequence[tuple[Ranker, float]]
    prior: Floats | float = 0.0

    @classmethod
    def build(cls, index: ToolIndex, dense: Dense, expansions: DocumentStore) -> Signals:
        """Build the signals for the current documents of an index.

        A document without synthetic queries is represented by its own text alone.

        Raises:
            RetrievalUnavailable: the embedding model or the store is not available.
        """
        names = list(index.names)
        documents = [index.documents[name] for name in names]
        kinds: list[str] = list(EXPANSION_KINDS)
        written = [expansions.texts(document, kinds) for document in documents]
        if sum(map(bool, written)) < COVERED * len(names):
            kinds = []
            written = [()] * len(names)
        texts = [text for of_one in written for text in of_one]
        owners = np.repeat(np.arange(len(names)), [len(of_one) for of_one in written])
        queries = expansions.embed_texts(texts, dense.embedder)
        vectors = dense.scores_of(np.eye(dense.embedder.dimensions, dtype=np.float32)).T.copy()
        rows = np.bincount(owners, minlength=len(names))[:, None]
        means = mean_rows(queries, owners, len(names))
        flat = np.zeros(len(names), np.float32)
        centres = ((rows * means + _OWN_DOCUMENT * vectors) / (rows + _OWN_DOCUMENT)).astype(
            np.float32
        )
        signals = cls(
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
        bank = np.unique(
            np.linspace(0, len(texts) - 1, num=min(len(texts), _BANK)).astype(np.int64)
        )
        signals.prior = 0.5 * signals.popularity([texts[place] for place in bank], queries[bank])
        return signals

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """Return the score of each document for each of the queries `views`.

        Scores are in standard deviations from the mean of the query. The shape is (views,
        documents), or (views, positions) if `positions` are passed.
        """
        found = self._added(views, self.embed(views))
        return found if positions is None else found[:, positions]

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """Return the `n` best documents for each of the queries `views`."""
        return [select_best(row, self.names, n=n) for row in self.scores(views)]

    def popularity(self, bank: Sequence[str], vectors: Floats) -> Floats:
        """Return the log of how much more often than average each document is found.

        `bank` are the queries, and `vectors` their embeddings. Without queries the result is 0.
        """
        mass = np.zeros(len(self.names), np.float64)
        for start in range(0, len(bank), _BLOCK):
            part = slice(start, start + _BLOCK)
            mass += softmax(self._added(bank[part], vectors[part])).sum(axis=0)
        # 1 for a document that is found as often as average.
        share = (mass + 1) * len(self.names) / (len(bank) + len(self.names))
        result: Floats = np.log(share).astype(np.float32)
        return result

    def _added(self, views: Sequence[View], vectors: Floats) -> Floats:
        """Return the scores of all documents for the queries `views`, shape (views, documents).

        A score is the weighted sum of all signals, scaled to a z-score, less `prior`. `vectors` are
        the embeddings of the queries.
        """
        total = np.zeros((len(views), len(self.names)), np.float32)
        for weights, biases, share in self.linear:
            total += share * zscores(vectors @ weights.T + biases)
        for ranker, share in self.lexical:
            total += share * zscores(ranker.scores(views))
        found: Floats = zscores(total) - self.prior
        return found


def softmax(scores: Floats) -> Floats:
    """Return, for each query, the probability that each document is the right one.

    `scores` are in standard deviations. Input and output have the shape (views, documents).
    """
    sharp = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Floats = sharp / sharp.sum(axis=1, keepdims=True)
    return result


def discriminant(queries: Floats, owners: Positions, prototypes: Floats) -> tuple[Floats, Floats]:
    """Return a linear discriminant that tells to which document a query belongs.

    The results are weights (documents, dimensions) and biases (documents,):
    `x @ weights.T + biases` is, up to a constant of x, the log-odds that a query with embedding x
    belongs to each document. `queries` (n, dimensions) are the embeddings of the synthetic queries,
    `owners` the positions of their documents, and `prototypes` the centres of the documents.
    Directions in which queries of the same tool differ (phrasing, invented names and places) count
    little. Directions in which tools differ count much. Without queries the weights are the
    prototypes.
    """
    dimensions = prototypes.shape[1]
    centred = (queries - prototypes[owners]).astype(np.float64)
    if not len(centred):
        return prototypes, np.zeros(len(prototypes), np.float32)
    covariance = centred.T @ centred / len(centred)
    ball = np.trace(covariance) / dimensions
    shrunk = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * max(ball, 1e-6) * np.eye(dimensions)
    weights = np.linalg.solve(shrunk, prototypes.T.astype(np.float64)).T
    biases = -0.5 * np.einsum("nd,nd->n", weights, prototypes)
    return weights.astype(np.float32), biases.astype(np.float32)


class Blend:
    """A `Retriever` that ranks tools for the whole query and for the single requests in it.

    The scores of all documents become probabilities, once for the query and once for each of its
    requests (`split_requests`). A document gets its probability for the whole query plus its
    highest probability for a request. A part of the query that requests nothing spreads its
    probability over many tools and so raises none; therefore it need not be known whether a query
    needs one tool or several. `ranker` must return scores in standard deviations.
    """

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    def search(self, query: str, *, k: int) -> Retrieval:
        """Return the `k` best tools for `query`, best first.

        A query such as "Book a flight and tell me the weather" is split into its requests, here
        two. The `transcript` of the result lists them. It is empty if there is only one.
        """
        requests = split_requests(query)
        views = [query, *requests] if len(requests) > 1 else [query]
        names = self._ranker.names
        found = select_best(mixture(self._ranker.scores(views)), names, n=k)
        return Retrieval(
            hits=hits(found, names, k=k), transcript=tuple(f"request: {view}" for view in views[1:])
        )


def mixture(scores: Floats) -> Floats:
    """Combine the scores for a query and for the requests in it into one score per document.

    `scores` has the shape (views, documents). Its first row is for the user's whole query, the
    others are for the single requests. The result is a logarithm, so that unlikely documents keep
    their order.
    """
    if not scores.size:
        return np.zeros(scores.shape[1], np.float32)
    likely = softmax(scores.astype(np.float64))
    total = likely[0] + likely[1:].max(axis=0, initial=0.0)
    result: Floats = np.log(np.maximum(total, 1e-30)).astype(np.float32)
    return result
