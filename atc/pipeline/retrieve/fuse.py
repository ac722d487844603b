"""Selection of the best documents by their scores, and combination of several rankings into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atc.pipeline.retrieve.base import (
    Floats,
    Hit,
    Positions,
    Ranker,
    Ranking,
    Retrieval,
    View,
    hits,
)

_DECIMALS = 6
"""Scores that agree to this many decimals are equal.

Equal documents can get slightly different scores, because a matrix product sums its last rows in a
different order.
"""


def select_best(
    scores: Floats, names: Sequence[str], *, n: int, positions: Positions | None = None
) -> Ranking:
    """Return the `n` documents with the best scores; equal scores are ordered by name.

    `scores` (documents,) has one score for each document; minus infinity excludes a document.
    `positions[i]` is the position in the index to which `scores[i]` belongs, by default `i`. Names
    are read only for documents with equal scores, because they may be on disk.
    """
    kept = np.flatnonzero(scores > -np.inf)
    n = max(0, min(n, len(kept)))
    if 0 < n < len(kept):
        least = np.partition(scores[kept], len(kept) - n)[len(kept) - n]
        kept = kept[scores[kept] >= least - 10.0**-_DECIMALS]
    rounded = np.round(scores[kept].astype(np.float64), _DECIMALS)
    order = np.argsort(-rounded, kind="stable")
    rounded = rounded[order]
    found = kept[order] if positions is None else positions[kept[order]]
    # Start of each run of equal scores.
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    ends = np.append(starts, len(rounded))[1:]
    for start, end in zip(starts, ends, strict=True):
        if start >= n:
            break
        if end - start > 1:
            found[start:end] = sorted(found[start:end], key=lambda position: names[position])
    return Ranking(found[:n].astype(np.int64), rounded[:n].astype(np.float32))


def zscores(scores: Floats) -> Floats:
    """Scale the scores of each query to mean 0 and standard deviation 1 (z-scores).

    If all scores of a query are equal, they become 0. Scores of different kinds can then be added.
    Input and output have the shape (views, documents) or (documents,).
    """
    if not scores.size:
        return scores
    mean = scores.mean(axis=-1, keepdims=True)
    deviation = scores.std(axis=-1, keepdims=True)
    return standardize(scores, mean, deviation)


def standardize(scores: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return by how many standard deviations each score differs from `mean`.

    Return 0 if all scores are equal up to rounding.
    """
    flat = deviation <= 10.0**-_DECIMALS * np.maximum(1.0, np.abs(mean))
    result: Floats = np.where(flat, 0.0, (scores - mean) / np.where(flat, 1.0, deviation)).astype(
        np.float32
    )
    return result


def peak_rank(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge the results of several queries as in ToolQP: tools are ordered by their best rank.

    Tools with equal best ranks are ordered by the highest similarity in any list, then by name.
    """
    return _by_places(lists, anywhere=True)


def multi_view(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge the results of several queries for one task as in Re-Invoke (Algorithm 2).

    Tools are ordered by their best rank in any result; tools with equal best ranks are ordered by
    the similarity at this rank. Results may be cut after k tools without changing the first k
    merged tools, because each of these is among the first k of some result.
    """
    return _by_places(lists, anywhere=False)


def _by_places(lists: Sequence[Sequence[Hit]], *, anywhere: bool) -> list[Hit]:
    """Merge ranked lists of tools. The tool with the best rank in any list comes first.

    Tools with equal best ranks are ordered by their similarity to the query. This is the highest
    similarity in any list if `anywhere` is True, else the one at the best rank.
    """
    places: dict[str, tuple[float, ...]] = {}
    for one in lists:
        for rank, hit in enumerate(one):
            place = (-rank, round(hit.score, _DECIMALS))
            held = places.get(hit.tool, place)
            highest = max(held, place)
            places[hit.tool] = (highest[0], max(held[1], place[1])) if anywhere else highest
    return _in_order(places)


def _in_order(worth: Mapping[str, tuple[float, ...]]) -> list[Hit]:
    """Return tools as hits, ordered by value, highest first; equal ones are in name order.

    The scores of the hits, in (0, 1], only express that order.
    """
    names = sorted(worth)
    # The sort is stable, so tools of equal value stay in name order.
    names.sort(key=worth.__getitem__, reverse=True)
    return [Hit(name, 1 - place / len(names)) for place, name in enumerate(names)]


class Hybrid:
    """A `Ranker` whose scores are the weighted sum of the z-scores of several rankers.

    All rankers have the same documents. With up to `full` documents, mean and deviation are those
    of all scores for a query. With more documents, only the `pool` best documents of each ranker
    are candidates, and mean and deviation are estimated from a sample of evenly spaced documents.
    """

    def __init__(
        self, parts: Sequence[tuple[Ranker, float]], *, full: int = 100_000, pool: int = 200
    ) -> None:
        self._parts = list(parts)
        self._full = full
        self._pool = pool

    @property
    def names(self) -> Sequence[str]:
        """The name of each document, in order of position."""
        return self._parts[0][0].names

    def scores(self, views: Sequence[View], positions: Positions | None = None) -> Floats:
        """Return the weighted sum of the rankers' z-scores for each document and query.

        The shape is (views, documents). If `positions` is not None, only the documents at these
        positions are scored.
        """
        small = len(self.names) <= self._full
        total: Floats | None = None
        for ranker, weight in self._parts:
            if small:
                every = zscores(ranker.scores(views))
                part = every if positions is None else every[:, positions]
            else:
                sample = ranker.scores(views, self._sample())
                mean = sample.mean(axis=1, keepdims=True)
                deviation = sample.std(axis=1, keepdims=True)
                part = standardize(ranker.scores(views, positions), mean, deviation)
            total = weight * part if total is None else total + weight * part
        assert total is not None
        return total

    def top(self, views: Sequence[View], *, n: int) -> list[Ranking]:
        """Return the `n` best documents for each of the queries `views`."""
        if len(self.names) <= self._full:
            return [select_best(row, self.names, n=n) for row in self.scores(views)]
        lists = [ranker.top(views, n=max(n, self._pool)) for ranker, _ in self._parts]
        found = []
        for number, view in enumerate(views):
            candidates = np.unique(np.concatenate([one[number].positions for one in lists]))
            row = self.scores([view], candidates)[0]
            found.append(select_best(row, self.names, n=n, positions=candidates))
        return found

    def _sample(self) -> Positions:
        """Return evenly spaced positions of documents, few enough to be scored for every query."""
        return np.unique(
            np.linspace(0, len(self.names) - 1, num=min(self._full, 4096)).astype(np.int64)
        )


@dataclass(frozen=True, slots=True)
class PlainRetriever:
    """A `Retriever` that returns the best documents of one ranker for the unchanged query."""

    ranker: Ranker

    def search(self, query: str, *, k: int) -> Retrieval:
        """Return the `k` best tools according to the ranker, best first."""
        [found] = self.ranker.top([query], n=k)
        return Retrieval(hits=hits(found, self.ranker.names, k=k))
