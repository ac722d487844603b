"""The figures of a retrieval run: methods by ranking and as pools, and closure over links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log2
from statistics import fmean, median
from typing import Any

from atc.retrieve.base import Hit
from atc.retrieve.searches import with_producers
from benchmarks.retrieval.data import RetrievalData, RetrievalQuery
from benchmarks.retrieval.run import DEPTH, Row
from benchmarks.runner import interval
from protocols.links import guess_links
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.columns import columns

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
        good = [row for row in every if not row.get("outage")]
        pairs = [(row["ranking"], gold[row["id"]]) for row in good]
        values = {name: [of(ranking, query.gold) for ranking, query in pairs] for name, of in METRICS.items()}
        main = {row["id"]: value for row, value in zip(good, values[MAIN], strict=True)}
        groups: dict[str, list[float]] = {}
        for query_id, value in main.items():
            groups.setdefault(gold[query_id].group, []).append(value)
        hits = [(len(set(ranking) & set(query.gold)), ranking, query) for ranking, query in pairs]
        pool = {
            "recall": [count / len(query.gold) for count, _, query in hits],
            "precision": [count / len(ranking) if ranking else 0.0 for count, ranking, _ in hits],
            "tools": [float(len(ranking)) for _, ranking, _ in hits],
        }
        against = [main[one] - first[one] for one in main if one in first] if first else []
        one = {"method": method, "queries": len(good), "outages": len(every) - len(good)}
        one["metrics"] = {name: fmean(some) for name, some in values.items() if some}
        one["pool"] = {name: interval(some, seed) for name, some in pool.items()}
        one |= {"interval": interval(values[MAIN], seed), "against": interval(against, seed)}
        one["groups"] = {name: fmean(some) for name, some in sorted(groups.items())} if len(groups) > 1 else {}
        one["seconds_p50"] = median([row["seconds"] for row in good] or [0.0])
        one["tokens_p50"] = median([row["input_tokens"] + row["output_tokens"] for row in good] or [0])
        found.append(one | {"model_calls_p50": median([row["model_calls"] for row in good] or [0])})
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
    lost = [f"{one['method']}: {one['outages']} outages" for one in found if one["outages"]]
    return [*columns(table), *notes, *lost, *(["", *columns(pool)] if pools else [])]


def _share(found: Mapping[str, float]) -> tuple[str, str]:
    return f"{found['mean']:.3f}", _range(found)


def _range(found: Mapping[str, float]) -> str:
    return f"{found['low']:.3f}–{found['high']:.3f}"


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
        good = [row for row in every if not row.get("outage")]
        rankings = {"none": {row["id"]: row["ranking"] for row in good}}
        for kind, box in boxes.items():
            rankings[kind] = {}
            for row in good:
                hits = [Hit(tool, score) for tool, score in zip(row["ranking"], row["scores"], strict=True)]
                rankings[kind][row["id"]] = tuple(hit.tool for hit in with_producers(hits, box, k=DEPTH))
        for tasks in ("all", "ids"):
            some = [row["id"] for row in good if tasks == "all" or row["id"] in ids]
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
                        "gain": interval(gains, seed) if kind != "none" else None,
                    }
                )
    return found
