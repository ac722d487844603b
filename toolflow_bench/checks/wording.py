"""How alike two questions are: the share of three-word runs that they have in common (Jaccard), names included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from toolflow_bench.numbers import folded_words
from toolflow_bench.task import GradedQuestion

MOST_ALIKE = 0.5
"""From here on two questions are near-duplicates, and one of them has to be asked in other words."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Each run of three words; all of the words where there are fewer."""
    said = folded_words(text)
    return frozenset(tuple(said[start : start + 3]) for start in range(max(1, len(said) - 2)))


def near_duplicates(
    questions: Sequence[GradedQuestion],
) -> Iterator[tuple[GradedQuestion, GradedQuestion, float]]:
    """Pairs that are at least `MOST_ALIKE`, each with how alike they are."""
    for (one, own), (other, others) in combinations(
        [(one, shingles(one.question)) for one in questions], 2
    ):
        if (share := len(own & others) / len(own | others)) >= MOST_ALIKE:
            yield one, other, share
