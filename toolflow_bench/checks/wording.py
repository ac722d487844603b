"""Similarity of two questions: the Jaccard index of their sequences of three words.

Names count as words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from toolflow_bench.numbers import folded_words
from toolflow_bench.task import GradedQuestion

MOST_ALIKE = 0.5
"""Similarity from which two questions are near-duplicates, so that one must be reworded."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return all sequences of three consecutive words in a text.

    A text with fewer words is one sequence.
    """
    words = folded_words(text)
    return frozenset(tuple(words[start : start + 3]) for start in range(max(1, len(words) - 2)))


def near_duplicates(
    questions: Sequence[GradedQuestion],
) -> Iterator[tuple[GradedQuestion, GradedQuestion, float]]:
    """Yield the pairs of questions that are near-duplicates, each with its similarity."""
    for (one, own), (other, others) in combinations(
        [(one, shingles(one.question)) for one in questions], 2
    ):
        if (share := len(own & others) / len(own | others)) >= MOST_ALIKE:
            yield one, other, share
