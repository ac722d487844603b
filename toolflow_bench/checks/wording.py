"""Similarity of two questions: the Jaccard index of their three-word sequences, names included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from toolflow_bench.numbers import folded_words
from toolflow_bench.task import GradedQuestion

MOST_ALIKE = 0.5
"""Questions with at least this similarity are near-duplicates. One of them must be reworded."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return all sequences of three consecutive words; of a shorter text, the whole text."""
    words = folded_words(text)
    return frozenset(tuple(words[start : start + 3]) for start in range(max(1, len(words) - 2)))


def near_duplicates(
    questions: Sequence[GradedQuestion],
) -> Iterator[tuple[GradedQuestion, GradedQuestion, float]]:
    """Yield the pairs whose similarity is at least `MOST_ALIKE`, with that similarity."""
    for (one, own), (other, others) in combinations(
        [(one, shingles(one.question)) for one in questions], 2
    ):
        if (share := len(own & others) / len(own | others)) >= MOST_ALIKE:
            yield one, other, share
