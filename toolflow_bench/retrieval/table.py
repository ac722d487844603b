"""The figures of a retrieval run: a line a method, and how each method differs from the first on the same queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import fmean, median
from typing import Any

from toolflow_bench.probing.tables import columns
from toolflow_bench.resampling import Estimate, estimate
from toolflow_bench.retrieval.data import RetrievalQuery
from toolflow_bench.retrieval.metrics import completeness, ndcg, precision, recall
from toolflow_bench.retrieval.rows import RetrievalRow

Metric = Callable[[Sequence[str], Sequence[str]], float]

MAIN = "ndcg@5"
"""What methods are compared by."""

METRICS: Mapping[str, Metric] = {
    **{f"ndcg@{k}": partial(ndcg, k=k) for k in (1, 5, 10)},
    **{f"recall@{k}": partial(recall, k=k) for k in (1, 5, 10, 20)},
    **{f"completeness@{k}": partial(completeness, k=k) for k in (5, 10, 20)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigures:
    """What one method's rows come to; those that failed on our side are counted and otherwise left out.

    `metrics` are means over `queries`; `pool` has recall and precision of all tools that were given, and how many those
    are, as means with intervals; `interval` is that of nDCG@5; `groups` has nDCG@5 by part of the data; `against` is
    the mean paired difference in nDCG@5 to the first method over the queries that both have. Seconds and tokens are
    those of a query (p50: half take less); a query that is answered beside others waits for them.
    """

    method: str
    queries: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    pool: Mapping[str, Estimate] = field(default_factory=dict)
    interval: Estimate | None = None
    against: Estimate | None = None
    groups: Mapping[str, float] = field(default_factory=dict)
    seconds_p50: float = 0.0
    tokens_p50: float = 0.0
    model_calls_p50: float = 0.0
    outages: int = 0
    crashes: int = 0

    def as_json(self) -> dict[str, Any]:
        """The figures as plain JSON."""
        return asdict(self)


def figures(
    rows: Mapping[str, Sequence[RetrievalRow]], queries: Sequence[RetrievalQuery], *, seed: int = 0
) -> list[MethodFigures]:
    """The figures of each method's rows, in their order; `queries` are those that rows refer to by id."""
    known = {query.id: query for query in queries}
    values = {
        method: {row.id: METRICS[MAIN](row.ranking, known[row.id].gold) for row in some if row.status == "ok"}
        for method, some in rows.items()
    }
    first = next(iter(values.values()), {})
    found = []
    for number, (method, some) in enumerate(rows.items()):
        against = [values[method][id_] - first[id_] for id_ in values[method] if id_ in first] if number else []
        found.append(_figures(method, some, known, estimate(against, seed=seed), seed=seed))
    return found


def _figures(
    method: str,
    rows: Sequence[RetrievalRow],
    queries: Mapping[str, RetrievalQuery],
    against: Estimate | None,
    *,
    seed: int,
) -> MethodFigures:
    good = [row for row in rows if row.status == "ok"]
    outages, crashes = (sum(row.status == status for row in rows) for status in ("outage", "crash"))
    if not good:
        return MethodFigures(method=method, queries=0, outages=outages, crashes=crashes)
    values = {name: [metric(row.ranking, queries[row.id].gold) for row in good] for name, metric in METRICS.items()}
    pools = {
        "recall": [recall(row.ranking, queries[row.id].gold, len(row.ranking)) for row in good],
        "precision": [precision(row.ranking, queries[row.id].gold, len(row.ranking)) for row in good],
        "tools": [float(len(row.ranking)) for row in good],
    }
    groups: dict[str, list[float]] = {}
    for row, value in zip(good, values[MAIN], strict=True):
        groups.setdefault(queries[row.id].group, []).append(value)
    return MethodFigures(
        method=method,
        queries=len(good),
        metrics={name: fmean(some) for name, some in values.items()},
        pool={name: found for name, some in pools.items() if (found := estimate(some, seed=seed)) is not None},
        interval=estimate(values[MAIN], seed=seed),
        against=against,
        groups={name: fmean(some) for name, some in sorted(groups.items())} if len(groups) > 1 else {},
        seconds_p50=median(row.seconds for row in good),
        tokens_p50=median(row.input_tokens + row.output_tokens for row in good),
        model_calls_p50=median(row.model_calls for row in good),
        outages=outages,
        crashes=crashes,
    )


def lines(found: Sequence[MethodFigures]) -> list[str]:
    """The table for people."""
    shown = ("ndcg@1", "ndcg@5", "ndcg@10", "recall@5", "recall@10", "completeness@5", "completeness@10")
    heads = [("method", "queries", *shown, "95% of ndcg@5", "ms p50", "tokens p50")]
    table = columns([*heads, *(_cells(one, shown) for one in found)])
    groups = [
        f"{one.method}: nDCG@5 " + ", ".join(f"{name or 'other'} {_share(value)}" for name, value in one.groups.items())
        for one in found
        if one.groups
    ]
    return [*table, *map(_against(found), found[1:]), *groups, *filter(None, map(_lost, found))]


def pool_lines(found: Sequence[MethodFigures]) -> list[str]:
    """What each method gives as a pool, not as a ranking: all of its tools count alike."""
    heads = ("method", "tools", "recall", "95%", "precision", "95%", "model calls p50", "tokens p50", "s p50")
    return columns([heads, *(_pool_cells(one) for one in found if one.pool)])


def _pool_cells(one: MethodFigures) -> tuple[str, ...]:
    shares = [one.pool[name] for name in ("recall", "precision")]
    return (
        one.method,
        f"{one.pool['tools'].mean:.1f}",
        *(cell for share in shares for cell in (_share(share.mean), f"{_share(share.low)}–{_share(share.high)}")),
        f"{one.model_calls_p50:,.0f}",
        f"{one.tokens_p50:,.0f}",
        f"{one.seconds_p50:,.2f}",
    )


def _cells(one: MethodFigures, shown: Sequence[str]) -> tuple[str, ...]:
    if one.interval is None:
        return (one.method, "0", *("–" for _ in shown), "–", "–", "–")
    return (
        one.method,
        str(one.queries),
        *(_share(one.metrics[name]) for name in shown),
        f"{_share(one.interval.low)}–{_share(one.interval.high)}",
        f"{1000 * one.seconds_p50:,.1f}",
        f"{one.tokens_p50:,.0f}",
    )


def _against(found: Sequence[MethodFigures]) -> Callable[[MethodFigures], str]:
    def told(one: MethodFigures) -> str:
        if one.against is None:
            return f"{one.method} and {found[0].method} have no query in common"
        gap = one.against
        return (
            f"{one.method} against {found[0].method}: nDCG@5 {gap.mean:+.3f} "
            f"({gap.low:+.3f} to {gap.high:+.3f}, {gap.n} queries)"
        )

    return told


def _lost(one: MethodFigures) -> str:
    if not (one.outages or one.crashes):
        return ""
    return f"{one.method}: {one.outages} outages, {one.crashes} crashes; the same command asks these again"


def _share(value: float) -> str:
    return f"{value:.3f}"
