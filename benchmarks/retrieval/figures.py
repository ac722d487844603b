"""The figures of a retrieval run: methods by ranking, and as pools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import log2
from statistics import fmean, median
from typing import Any

from benchmarks.retrieval.data import RetrievalQuery
from benchmarks.runner import interval

SHOWN = 20
"""Tools of a ranking that are kept: no metric looks further down."""
MAIN = "ndcg@5"
"""What methods are compared by."""
Row = dict[str, Any]
"""What one method found for one query, best first, and what it took: `method`, `id`, `ranking`, `seconds` of the whole
search, `model_calls`, `input_tokens`, `output_tokens`. A row with an `outage` says nothing of the method, and is asked
again."""


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """nDCG@k with gains 0 and 1: DCG of the best k, divided by that of a ranking with all gold tools first."""
    gained = sum(1 / log2(place + 2) for place, tool in enumerate(ranking[:k]) if tool in gold)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(gold))))
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold tools that are among the best k."""
    return len(set(ranking[:k]) & set(gold)) / len(gold) if gold else 0.0


def completeness(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 where all gold tools are among the best k, else 0: one that is missing can sink a task."""
    return float(bool(gold) and set(gold) <= set(ranking[:k]))


METRICS: Mapping[str, Callable[[Sequence[str], Collection[str]], float]] = {
    **{f"ndcg@{k}": partial(ndcg, k=k) for k in (1, 5, 10)},
    **{f"recall@{k}": partial(recall, k=k) for k in (1, 5, 10, 20)},
    **{f"completeness@{k}": partial(completeness, k=k) for k in (5, 10, 20)},
    "pool_recall": lambda ranking, gold: len(set(ranking) & set(gold)) / len(gold),
    "pool_precision": lambda ranking, gold: len(set(ranking) & set(gold)) / len(ranking) if ranking else 0.0,
    "pool_tools": lambda ranking, _: float(len(ranking)),
}


def method_figures(
    rows: Mapping[str, Sequence[Row]], queries: Sequence[RetrievalQuery], *, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """The figures of each method's rows; those that failed on our side are counted and otherwise left out.

    Metrics are means over `queries` (`pool_…`: of all tools that were given) with their intervals; `groups` has nDCG@5
    by part of the data; `against` is the mean paired difference in nDCG@5 to the first method over the queries that
    both have. Seconds, tokens and calls are those of a query: half take less.
    """
    gold = {query.id: query for query in queries}
    first: dict[str, float] = {}
    found = {}
    for method, every in rows.items():
        good = [row for row in every if not row.get("outage")]
        values = {name: [of(row["ranking"], gold[row["id"]].gold) for row in good] for name, of in METRICS.items()}
        main = {row["id"]: value for row, value in zip(good, values[MAIN], strict=True)}
        groups: dict[str, list[float]] = {}
        for query_id, value in main.items():
            groups.setdefault(gold[query_id].group, []).append(value)
        one: dict[str, Any] = {"queries": len(good), "outages": len(every) - len(good)}
        one |= {name: interval(some, seed) for name, some in values.items()}
        one["against"] = interval([main[id_] - first[id_] for id_ in main if id_ in first], seed)
        one["groups"] = {name: fmean(some) for name, some in sorted(groups.items())} if len(groups) > 1 else {}
        one["seconds_p50"] = median([row["seconds"] for row in good] or [0.0])
        one["tokens_p50"] = median([row["input_tokens"] + row["output_tokens"] for row in good] or [0])
        found[method] = one | {"model_calls_p50": median([row["model_calls"] for row in good] or [0])}
        first = first or main
    return found
