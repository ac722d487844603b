"""The figures of a retrieval run: methods by ranking and as pools, closure over links, and abstention."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import log2
from statistics import fmean, median
from typing import Any

from atc.retrieve.abstain import CALIBRATIONS, Abstain
from atc.retrieve.base import Hit, Ranked, Ranker, RetrievalUnavailable, View
from atc.retrieve.index import ToolIndex
from atc.retrieve.searches import with_producers
from benchmarks.retrieval.data import RetrievalData, RetrievalQuery, draw
from benchmarks.retrieval.run import DEPTH, Row
from protocols.links import guess_links
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.columns import columns
from toolflow_bench.resampling import Estimate, estimate

MAIN = "ndcg@5"
"""What methods are compared by."""


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
}


def method_figures(
    rows: Mapping[str, Sequence[Row]], queries: Sequence[RetrievalQuery], *, seed: int = 0
) -> list[dict[str, Any]]:
    """The figures of each method's rows; those that failed on our side are counted and otherwise left out.

    `metrics` are means over `queries`, with the interval of nDCG@5; `groups` has nDCG@5 by part of the data; `against`
    is the mean paired difference in nDCG@5 to the first method over the queries that both have; `pool` has recall and
    precision of all tools that were given. Seconds, tokens and calls are those of a query: half take less.
    """
    gold = {query.id: query for query in queries}
    first: dict[str, float] | None = None
    found = []
    for method, every in rows.items():
        good = [row for row in every if row.status == "ok"]
        values = {name: [of(row.ranking, gold[row.id].gold) for row in good] for name, of in METRICS.items()}
        main = {row.id: value for row, value in zip(good, values[MAIN], strict=True)}
        groups: dict[str, list[float]] = {}
        for query_id, value in main.items():
            groups.setdefault(gold[query_id].group, []).append(value)
        hits = [(len(set(row.ranking) & set(gold[row.id].gold)), row) for row in good]
        pool = {
            "recall": [count / len(gold[row.id].gold) for count, row in hits],
            "precision": [count / len(row.ranking) if row.ranking else 0.0 for count, row in hits],
            "tools": [float(len(row.ranking)) for row in good],
        }
        found.append(
            {
                "method": method,
                "queries": len(good),
                "metrics": {name: fmean(some) for name, some in values.items() if some},
                "pool": {name: _interval(some, seed) for name, some in pool.items() if some},
                "interval": _interval(values[MAIN], seed),
                "against": _interval([main[one] - first[one] for one in main if one in first], seed) if first else None,
                "groups": {name: fmean(some) for name, some in sorted(groups.items())} if len(groups) > 1 else {},
                "seconds_p50": median([row.seconds for row in good] or [0.0]),
                "tokens_p50": median([row.input_tokens + row.output_tokens for row in good] or [0]),
                "model_calls_p50": median([row.model_calls for row in good] or [0]),
                "outages": sum(row.status == "outage" for row in every),
                "crashes": sum(row.status == "crash" for row in every),
            }
        )
        first = main if first is None else first
    return found


def method_lines(found: Sequence[Mapping[str, Any]], *, pools: bool) -> list[str]:
    """The tables for people."""
    shown = ("ndcg@1", "ndcg@5", "ndcg@10", "recall@5", "recall@10", "completeness@5", "completeness@10")
    table = [("method", "queries", *shown, "95% of ndcg@5", "ms p50", "tokens p50")]
    pool = [("method", "tools", "recall", "95%", "precision", "95%", "calls p50", "s p50")]
    notes = []
    for one in (one for one in found if one["queries"]):
        cells = [f"{one['metrics'][name]:.3f}" for name in shown]
        took = (f"{1000 * one['seconds_p50']:,.1f}", f"{one['tokens_p50']:,.0f}")
        table.append((one["method"], str(one["queries"]), *cells, _range(one["interval"]), *took))
        shares = [cell for name in ("recall", "precision") for cell in _share(one["pool"][name])]
        tools = f"{one['pool']['tools']['mean']:.1f}"
        pool.append((one["method"], tools, *shares, f"{one['model_calls_p50']:.0f}", f"{one['seconds_p50']:.2f}"))
        if gap := one["against"]:
            to_first = f"{one['method']} against {found[0]['method']}"
            notes.append(f"{to_first}: nDCG@5 {gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})")
        if one["groups"]:
            parts = ", ".join(f"{name or 'other'} {value:.3f}" for name, value in one["groups"].items())
            notes.append(f"{one['method']}: nDCG@5 {parts}")
    lost = [f"{one['method']}: {one['outages']} outages, {one['crashes']} crashes" for one in found]
    lost = [line for one, line in zip(found, lost, strict=True) if one["outages"] or one["crashes"]]
    return [*columns(table), *notes, *lost, *(["", *columns(pool)] if pools else [])]


def _interval(values: Sequence[float], seed: int) -> dict[str, Any] | None:
    found: Estimate | None = estimate(values, seed=seed)
    return asdict(found) if found is not None else None


def _share(interval: Mapping[str, float]) -> tuple[str, str]:
    return f"{interval['mean']:.3f}", _range(interval)


def _range(interval: Mapping[str, float]) -> str:
    return f"{interval['low']:.3f}–{interval['high']:.3f}"


Given = Mapping[str, Mapping[str, ToolProtocol]]
"""Service → tool → its probed protocol, as `toolflow_bench.settings.load_given` reads them."""


def with_links(toolbox: Toolbox, kind: str, given: Given) -> Toolbox:
    """The same tools with links of one kind: `declared`, `guessed`, of `probed` protocols, or all that are `known`."""

    def linked(tool: Tool) -> Tool:
        known = given.get(tool.source, {}).get(tool.protocol.name)
        links = {
            "declared": tuple(link for link in tool.protocol.links if link.support == "declared"),
            "guessed": guessed[tool.source, tool.protocol.name].links,
            "probed": known.links if known is not None else (),
            "known": tool.protocol.links,
        }
        return replace(tool, protocol=replace(tool.protocol, links=links[kind]))

    guessed: dict[tuple[str, str], ToolProtocol] = {}
    for source in {tool.source for tool in toolbox.values()}:
        bare = [replace(tool.protocol, links=()) for tool in toolbox.values() if tool.source == source]
        guessed |= {(source, protocol.name): protocol for protocol in guess_links(bare)}
    return toolbox.map(linked)


def needing_ids(data: RetrievalData) -> set[str]:
    """The queries of which a gold tool has a required argument that, by a declared link, another gold tool yields."""
    assert data.toolbox is not None
    found = set()
    for query in data.queries:
        tools = data.toolbox.only(query.gold).values()
        gold = {(tool.source, tool.protocol.name) for tool in tools}
        if any(
            link.support == "declared"
            and link.argument in tool.protocol.required
            and (tool.source, link.tool) in gold - {(tool.source, tool.protocol.name)}
            for tool in tools
            for link in tool.protocol.links
        ):
            found.add(query.id)
    return found


def closure_figures(
    rows: Mapping[str, Sequence[Row]], data: RetrievalData, given: Given, *, seed: int = 0
) -> list[dict[str, Any]]:
    """How often all needed tools are among 20: without closure (`none`), and with each kind of links.

    `tasks` are `all`, or those that need `ids`; `gain` is the paired difference in completeness to no closure.
    """
    assert data.toolbox is not None
    boxes = {kind: with_links(data.toolbox, kind, given) for kind in ("declared", "guessed", "known")}
    boxes |= {"probed": with_links(data.toolbox, "probed", given)} if given else {}
    gold, ids = {query.id: query.gold for query in data.queries}, needing_ids(data)
    found = []
    for method, every in rows.items():
        good = [row for row in every if row.status == "ok"]
        rankings = {"none": {row.id: row.ranking for row in good}}
        for kind, box in boxes.items():
            rankings[kind] = {}
            for row in good:
                hits = [Hit(tool, score) for tool, score in zip(row.ranking, row.scores, strict=True)]
                rankings[kind][row.id] = tuple(hit.tool for hit in with_producers(hits, box, k=DEPTH))
        for tasks in ("all", "ids"):
            some = [row.id for row in good if tasks == "all" or row.id in ids]
            before = [completeness(rankings["none"][one], gold[one], DEPTH) for one in some]
            for kind, of_kind in rankings.items():
                whole = [completeness(of_kind[one], gold[one], DEPTH) for one in some]
                gains = [one - other for one, other in zip(whole, before, strict=True)]
                found.append(
                    {
                        "method": method,
                        "links": kind,
                        "tasks": tasks,
                        "queries": len(some),
                        "completeness": fmean(whole) if whole else 0.0,
                        "recall": fmean(recall(of_kind[one], gold[one], DEPTH) for one in some) if some else 0.0,
                        "gain": _interval(gains, seed) if kind != "none" else None,
                    }
                )
    return found


@dataclass(frozen=True, slots=True)
class Without:
    """A ranker over an index that lacks some tools: exactly what its scores would be there, since cosines do not depend
    on other documents.
    """

    ranker: Ranker
    lacking: frozenset[str]

    @property
    def names(self) -> Sequence[str]:
        """See `Ranker.names`."""
        return self.ranker.names

    def top(self, views: Sequence[View], *, n: int) -> list[Ranked]:
        """See `Ranker.top`."""
        found = []
        for ranked in self.ranker.top(views, n=n + len(self.lacking)):
            names = [self.names[position] for position in ranked.positions.tolist()]
            kept = [place for place, name in enumerate(names) if name not in self.lacking][:n]
            found.append(Ranked(ranked.positions[kept], ranked.scores[kept]))
        return found

    def scores(self, views: Sequence[View], positions: Any = None) -> Any:
        """See `Ranker.scores`; what is lacking is scored too."""
        return self.ranker.scores(views, positions)


def abstention_figures(data: RetrievalData, index: ToolIndex, *, count: int, seed: int) -> dict[str, Any]:
    """How well abstaining tells queries apart: of up to `2 * count` drawn ones every second is asked without its tools.

    Taking away the gold tools leaves their neighbours, so this is the hard case. `precision`: of the queries that were
    abstained on, those without gold tools. `recall`: of those without, the ones abstained on. `lost`: of the answerable
    ones, those abstained on. `auc`: how often an answerable query is nearer than one that is not.

    Raises:
        RetrievalUnavailable: the index has no vectors, or of an embedding model that was not calibrated.
    """
    judge = Abstain.over(index)
    if judge is None:
        raise RetrievalUnavailable(f"abstention was calibrated for {', '.join(CALIBRATIONS)}; index with one of them.")
    threshold, drawn = judge.calibration.threshold, draw(data.queries, 2 * count, seed=seed)
    answerable = [judge.nearness(query.text) for query in drawn[::2]]
    others = [
        replace(judge, dense=Without(judge.dense, frozenset(query.gold))).nearness(query.text) for query in drawn[1::2]
    ]
    lost, right = sum(one < threshold for one in answerable), sum(one < threshold for one in others)
    wins = sum((one > other) + 0.5 * (one == other) for one in answerable for other in others)
    return {
        "asked": len(answerable),
        "threshold": threshold,
        "precision": right / (right + lost) if right + lost else None,
        "recall": right / max(1, len(others)),
        "lost": lost / max(1, len(answerable)),
        "auc": wins / max(1, len(answerable) * len(others)),
    }
