"""Several rankings made one: z-scores, reciprocal ranks, peak rank, Re-Invoke's multi-view ranking, and `Hybrid`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atc.retrieve.base import Hit, Ranked, Ranker, View
from atc.retrieve.best import best

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_DECIMALS = 6
"""Similarities that agree to here are tied, as in `best`."""


def zscores(scores: Floats) -> Floats:
    """Each row brought to mean 0 and deviation 1, so that scores of different kinds add up; a constant row becomes 0.

    Shape (views, documents) in and out, or (documents,).
    """
    if not scores.size:
        return scores
    mean = scores.mean(axis=-1, keepdims=True)
    deviation = scores.std(axis=-1, keepdims=True)
    return standardized(scores, mean, deviation)


def standardized(scores: Floats, mean: Floats, deviation: Floats) -> Floats:
    """`scores` in deviations from `mean`; 0 where all scores are the same (rounding aside)."""
    flat = deviation <= 10.0**-_DECIMALS * np.maximum(1.0, np.abs(mean))
    result: Floats = np.where(flat, 0.0, (scores - mean) / np.where(flat, 1.0, deviation)).astype(np.float32)
    return result


def multi_view(scores: Floats) -> Floats:
    """Re-Invoke's ranking of documents by several views of one query (Algorithm 2), from (views, documents).

    In each view a document has the tuple (reversed rank, similarity): the least similar has reversed rank 1. Its tuple
    is the greatest over the views, and documents are ordered by theirs. Documents of the same similarity share a rank
    (the mean of those they take). Gives (documents,): numbers in (0, 1] that stand in that order, equal where the
    tuples are; only their order means something.
    """
    similarity = np.round(np.atleast_2d(scores).astype(np.float64), _DECIMALS)
    ranks = np.stack([_reversed_ranks(row) for row in similarity])
    highest = ranks.max(axis=0)
    ties = np.where(ranks == highest, similarity, -np.inf).max(axis=0)
    return _in_order(highest, ties)


def peak_rank(ranked: Sequence[Ranked], names: Sequence[str]) -> Ranked:
    """ToolQP's aggregation of what several queries found: the best rank that a document has in any list counts.

    Ties are broken by the highest similarity in any list, then by name. Scores lie in (0, 1]; only their order means
    something.
    """
    return _merged(ranked, names, anywhere=True)


def multi_view_lists(ranked: Sequence[Ranked], names: Sequence[str]) -> Ranked:
    """`multi_view` over the best documents of each view: equal similarities there are in name order already.

    The first k are those of `multi_view` over all documents where each list holds k: whoever is among them has a rank
    of at most k in some view.
    """
    return _merged(ranked, names, anywhere=False)


def rrf(
    ranked: Sequence[Ranked], names: Sequence[str], *, constant: float = 60.0, weights: Sequence[float] | None = None
) -> Ranked:
    """Reciprocal rank fusion: the sum of weight / (constant + rank) over the lists that hold a document."""
    each = weights or [1.0] * len(ranked)
    total: dict[int, float] = {}
    for one, weight in zip(ranked, each, strict=True):
        for rank, position in enumerate(one.positions.tolist(), start=1):
            total[position] = total.get(position, 0.0) + weight / (constant + rank)
    found = np.array(list(total), dtype=np.int64)
    # As a share of what a document has that is first everywhere: a sum of small fractions alone would be rounded away.
    share = np.array(list(total.values())) * ((constant + 1) / max(sum(each), 1e-9))
    return best(share.astype(np.float32), names, n=len(found), positions=found)


def hits(ranked: Ranked, names: Sequence[str], *, k: int) -> tuple[Hit, ...]:
    """The first `k` of `ranked` as hits."""
    pairs = zip(ranked.positions[:k].tolist(), ranked.scores[:k].tolist(), strict=True)
    return tuple(Hit(names[position], score) for position, score in pairs)


class Hybrid:
    """A `Ranker`: the weighted sum of the z-scores of several rankers over the same documents.

    Up to `full` documents a score is standardized by all scores of its view. Above, only the `pool` best documents of
    each ranker are candidates, and mean and deviation come from `full` documents at even distances: what a full pass
    over a million documents would give, within their sampling error.
    """

    def __init__(self, parts: Sequence[tuple[Ranker, float]], *, full: int = 100_000, pool: int = 200) -> None:
        if not parts:
            raise ValueError("a hybrid needs at least one ranker")
        if len({len(ranker.names) for ranker, _ in parts}) > 1:
            raise ValueError("the rankers of a hybrid must have the same documents")
        self._parts, self._full, self._pool = list(parts), full, pool

    @property
    def names(self) -> Sequence[str]:
        """The name of each document, by position."""
        return self._parts[0][0].names

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """The weighted sums of z-scores, shape (views, documents or positions)."""
        small = len(self.names) <= self._full
        total: Floats | None = None
        for ranker, weight in self._parts:
            if small:
                every = zscores(ranker.scores(views))
                part = every if positions is None else every[:, positions]
            else:
                sample = ranker.scores(views, self._sample())
                mean, deviation = sample.mean(axis=1, keepdims=True), sample.std(axis=1, keepdims=True)
                part = standardized(ranker.scores(views, positions), mean, deviation)
            total = weight * part if total is None else total + weight * part
        assert total is not None
        return total

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """For each view the `n` best documents."""
        if len(self.names) <= self._full:
            return [best(row, self.names, n=n) for row in self.scores(views)]
        lists = [ranker.top(views, n=max(n, self._pool)) for ranker, _ in self._parts]
        found = []
        for number, view in enumerate(views):
            candidates = np.unique(np.concatenate([one[number].positions for one in lists]))
            row = self.scores([view], candidates)[0]
            found.append(best(row, self.names, n=n, positions=candidates))
        return found

    def _sample(self) -> Positions:
        """Few enough positions to score for each view, spread evenly."""
        return np.unique(np.linspace(0, len(self.names) - 1, num=min(self._full, 4096)).astype(np.int64))


def _reversed_ranks(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for the least of `row`, its length for the greatest; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(row, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: NDArray[np.float64] = (last - (counts - 1) / 2.0)[inverse]
    return shared


def _in_order(first: NDArray[np.float64], second: NDArray[np.float64]) -> Floats:
    """Numbers in (0, 1] that stand in the order of the pairs (first, second)."""
    if not len(first):
        return np.zeros(0, dtype=np.float32)
    order = np.lexsort((second, first))
    differs = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    place = np.concatenate([[1], 1 + np.cumsum(differs)])
    scores = np.empty(len(first), dtype=np.float32)
    scores[order] = place / place[-1]
    return scores


def _merged(ranked: Sequence[Ranked], names: Sequence[str], *, anywhere: bool) -> Ranked:
    """The union of lists by (best rank, similarity); that of the best-ranked place, or the highest `anywhere`."""
    places: dict[int, tuple[int, float]] = {}
    for one in ranked:
        for rank, (position, score) in enumerate(zip(one.positions.tolist(), one.scores.tolist(), strict=True)):
            place = (-rank, round(score, _DECIMALS))
            held = places.get(position, place)
            highest = max(held, place)
            places[position] = (highest[0], max(held[1], place[1])) if anywhere else highest
    found = np.array(list(places), dtype=np.int64)
    pairs = np.array(list(places.values()), dtype=np.float64).reshape(-1, 2)
    return best(_in_order(pairs[:, 0], pairs[:, 1]), names, n=len(found), positions=found)
