"""Dependency closure on ToolFlow's tasks: how often all needed tools are among 20, with and without their producers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from atc.retrieve.base import Hit
from atc.retrieve.closure import with_producers
from protocols.toolbox import Toolbox
from toolflow_bench.probing.tables import columns
from toolflow_bench.resampling import Estimate, estimate
from toolflow_bench.retrieval.data_toolflow import Given, Links, ToolFlowData, with_links
from toolflow_bench.retrieval.metrics import completeness, recall
from toolflow_bench.retrieval.rows import DEPTH, RetrievalRow

CLOSED = 100
"""Tools that a search is asked for before its producers come along: so many as `atc tools search` asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosureFigures:
    """What closure over one kind of links (`none`: without closure) does to one method's rankings.

    `gain` is the paired difference in completeness@20 to the rankings without closure.
    """

    method: str
    links: str
    tasks: str
    """`all`, or `ids`: those that need ids."""
    queries: int
    completeness: float
    recall: float
    gain: Estimate | None = None

    def as_json(self) -> dict[str, Any]:
        """The figures as plain JSON."""
        return asdict(self)


def closure_figures(
    rows: Mapping[str, Sequence[RetrievalRow]], data: ToolFlowData, *, given: Given | None = None, seed: int = 0
) -> list[ClosureFigures]:
    """Figures of each method's rankings without closure, and with each kind of links (`probed` where `given`)."""
    kinds: list[Links] = ["declared", "guessed", "known", *(["probed"] if given else [])]  # type: ignore[list-item]
    toolboxes = {kind: with_links(data.toolbox, kind, given) for kind in kinds}
    found = []
    for method, some in rows.items():
        good = [row for row in some if row.status == "ok"]
        rankings = {"none": {row.id: row.ranking for row in good}}
        for kind, toolbox in toolboxes.items():
            rankings[kind] = {row.id: _closed(row, toolbox) for row in good}
        for tasks, ids in (("all", {row.id for row in good}), ("ids", {r.id for r in good} & data.needing_ids)):
            found += [_figures(method, kind, tasks, sorted(ids), rankings, data, seed=seed) for kind in rankings]
    return found


def _closed(row: RetrievalRow, toolbox: Toolbox) -> tuple[str, ...]:
    hits = [Hit(tool, score) for tool, score in zip(row.ranking, row.scores, strict=True)]
    return tuple(hit.tool for hit in with_producers(hits, toolbox, k=DEPTH))


def _figures(
    method: str,
    kind: str,
    tasks: str,
    ids: Sequence[str],
    rankings: Mapping[str, Mapping[str, tuple[str, ...]]],
    data: ToolFlowData,
    *,
    seed: int,
) -> ClosureFigures:
    gold = {query.id: query.gold for query in data.data.queries}
    without = [completeness(rankings["none"][one], gold[one], DEPTH) for one in ids]
    complete = [completeness(rankings[kind][one], gold[one], DEPTH) for one in ids]
    gaps = [after - before for after, before in zip(complete, without, strict=True)]
    return ClosureFigures(
        method=method,
        links=kind,
        tasks=tasks,
        queries=len(ids),
        completeness=fmean(complete) if ids else 0.0,
        recall=fmean(recall(rankings[kind][one], gold[one], DEPTH) for one in ids) if ids else 0.0,
        gain=estimate(gaps, seed=seed) if kind != "none" else None,
    )


def closure_lines(found: Sequence[ClosureFigures]) -> list[str]:
    """The table for people."""
    heads = ("method", "links", "tasks", "queries", f"completeness@{DEPTH}", f"recall@{DEPTH}", "gain in completeness")
    return columns([heads, *map(_cells, found)])


def _cells(one: ClosureFigures) -> tuple[str, ...]:
    gain = one.gain
    return (
        one.method,
        one.links,
        one.tasks,
        str(one.queries),
        f"{one.completeness:.1%}",
        f"{one.recall:.1%}",
        f"{100 * gain.mean:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})" if gain else "",
    )
