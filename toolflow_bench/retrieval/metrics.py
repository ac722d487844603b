"""How well a ranking finds a query's tools. Relevance is binary; definitions equal scikit-learn's where it has one.

A ranking names each tool once, best first. A method that gives fewer than k tools is taken as it is: what it does not
name has no rank. Ties are the method's to break; all of ours break them by name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """nDCG@k with gains 0 and 1: DCG of the best k, divided by that of a ranking with all gold tools first."""
    gained = sum(1 / log2(place + 2) for place, tool in enumerate(ranking[:k]) if tool in gold)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(gold))))
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold tools that are among the best k."""
    return len(set(ranking[:k]) & set(gold)) / len(gold) if gold else 0.0


def precision(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the best k that are gold tools; a method that gives fewer is judged by those that it gives."""
    best = set(ranking[:k])
    return len(best & set(gold)) / len(best) if best else 0.0


def completeness(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 where all gold tools are among the best k, else 0: one that is missing can sink a task."""
    return float(bool(gold) and set(gold) <= set(ranking[:k]))
