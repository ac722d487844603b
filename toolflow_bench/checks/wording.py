"""How alike two questions are: the share of three-word runs that they have in common (Jaccard), names included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from toolflow_bench.numbers import words
from toolflow_bench.task import Question

MOST_ALIKE = 0.5
"""From here on two questions are near-duplicates, and one of them has to be asked in other words."""


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Each run of three words; all of the words where there are fewer."""
    said = words(text)
    return frozenset(tuple(said[start : start + 3]) for start in range(max(1, len(said) - 2)))


def alike(one: str, other: str) -> float:
    """From 0 (no run of three words in common) to 1 (the same words)."""
    first, second = shingles(one), shingles(other)
    return len(first & second) / len(first | second)


def near_duplicates(questions: Sequence[Question]) -> Iterator[tuple[Question, Question, float]]:
    """Pairs that are at least `MOST_ALIKE`. Only pairs with a run of words in common are compared."""
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    pairs: set[tuple[int, int]] = set()
    for number, question in enumerate(questions):
        for run in shingles(question.question):
            pairs.update((earlier, number) for earlier in holders[run])
            holders[run].append(number)
    for first, second in sorted(pairs):
        one, other = questions[first], questions[second]
        if (share := alike(one.question, other.question)) >= MOST_ALIKE:
            yield one, other, share
