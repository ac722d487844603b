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
from benchmarks.runner import interval
from protocols.links import guess_links
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

SHOWN = 20
"""Tools of a ranking that are kept: no metric looks further down."""
MAIN = "ndcg@5"
"""What methods are compared by."""
Row = dict[str, Any]
"""What one method found for one query, best first, and what it took: `method`, `id`, `ranking`, `seconds` of the whole
search, `model_calls`, `input_tokens`, `output_tokens`, and `scores` where more than `SHOWN` tools are asked for. A row
with an `outage` says nothing of the method, and is asked again."""


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
                rankings[kind][row["id"]] = tuple(hit.tool for hit in with_producers(hits, box, k=SHOWN))
        for tasks in ("all", "ids"):
            some = [row["id"] for row in good if tasks == "all" or row["id"] in ids]
            for kind, of_kind in rankings.items():
                whole = [completeness(of_kind[one], gold[one], SHOWN) for one in some]
                gains = [now - completeness(rankings["none"][one], gold[one], SHOWN)
                         for now, one in zip(whole, some, strict=True)]  # fmt: skip
                about = {"method": method, "links": kind, "tasks": tasks, "queries": len(some)}
                found.append(about | {"completeness": fmean(whole) if whole else 0.0, "gain": interval(gains, seed)})
    return found
