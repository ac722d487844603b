"""Data sets for retrieval (queries with the tools they need), metrics, and additional expansions.

The data sets are ToolE, StableToolBench, RestBench, ToolFlow, and users' own. An expansion is a
text about a tool that a model writes and that is indexed with the tool. Besides synthetic queries,
the method `blend` uses the two expansions defined here: facets and contrasts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log2
from pathlib import Path
from statistics import fmean, median
from typing import Any

from atc.core.prompts import fill_from
from atc.pipeline.retrieve.base import Ranker
from atc.pipeline.retrieve.document import ToolDocument, documents, vector_text
from atc.pipeline.retrieve.expand import ExpansionKind, render_document
from atc.pipeline.retrieve.prompts import fill as example
from benchmarks.catalogues import service_tools
from benchmarks.restbench.data import pattern
from benchmarks.runner import InvalidData, interval, read_json
from protocols.links import response_paths
from protocols.model import Message
from protocols.toolbox import Toolbox
from toolflow_bench.task import load_tasks

TOOLFLOW = "toolflow"  # what --data names instead of a path
EXPECTED = (
    'a JSON file {"tools": [{"id": …, "description": …}, …], "queries": [{"id": …, "query": …, '
    '"gold": [id, …]}, …]}, '
    "StableToolBench's or RestBench's folder"
)
_DEPTH = 3
"""Maximum number of levels of objects from which response fields are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalQuery:
    """A query, and the names of the tools that it needs, without repetitions."""

    id: str
    text: str
    gold: tuple[str, ...]
    group: str = ""  # the part of the data set to which it belongs, such as `G1_tool` or `tmdb`
    plan: str = ""  # how to solve the query, if the data says so (ToolRet's instructions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalData:
    """A data set: the tools to search, and the queries.

    ToolFlow's data set also has its toolbox, whose tools have links.
    """

    name: str
    documents: tuple[ToolDocument, ...]
    queries: tuple[RetrievalQuery, ...]
    toolbox: Toolbox | None = None

    @property
    def digest(self) -> str:
        """A digest that changes when a tool, a query or a label changes."""
        content = [
            [d.digest for d in self.documents],
            [[q.id, q.text, sorted(q.gold)] for q in self.queries],
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def folder(self, cache: Path) -> Path:
        """Return the folder below `cache` for the index of these documents.

        The folder does not depend on the queries.
        """
        digest = hashlib.sha256(
            "".join(sorted(document.digest for document in self.documents)).encode()
        ).hexdigest()
        return cache / "retrieval" / digest[:16]


def load_data(source: Path | str) -> RetrievalData:
    """Load the tools and queries from a path, or ToolFlow's own if `source` is "toolflow".

    Raises:
        InvalidData: the data cannot be used; the message says what is expected.
    """
    path = Path(source)
    if str(source) == TOOLFLOW:
        toolbox = service_tools()
        queries = [
            {"id": t.id, "query": t.question, "gold": t.operations, "group": t.split}
            for t in load_tasks()
        ]
        return replace(
            build_labelled_data(TOOLFLOW, documents(toolbox.values()), queries), toolbox=toolbox
        )
    if (path / "apis.json").is_file():
        return _stabletoolbench(path)
    if apis := sorted(file.name.removesuffix("_tasks.json") for file in path.glob("*_tasks.json")):
        return _restbench(path, apis)
    content = read_json(path, EXPECTED)
    if not isinstance(content, dict) or not isinstance(content.get("tools"), list):
        raise InvalidData(f"there is no list of tools in {str(path)!r}; give {EXPECTED}.")
    return build_labelled_data(
        path.stem, [read_tool(one) for one in content["tools"]], content.get("queries", [])
    )


def build_labelled_data(
    name: str, tools: Iterable[ToolDocument], queries: Iterable[Mapping[str, Any]]
) -> RetrievalData:
    """Return the data set of these tools and queries.

    Gold tools that do not exist are left out, and so are queries that then have no gold tool.

    Raises:
        InvalidData: a query lacks text or gold tools.
    """
    found = tuple(tools)
    known = {document.name for document in found}
    try:
        asked = [_query(number, row) for number, row in enumerate(queries)]
    except (KeyError, TypeError) as error:
        raise InvalidData(f"{name}: a query lacks {error}; give {EXPECTED}.") from error
    there = (replace(query, gold=tuple(filter(known.__contains__, query.gold))) for query in asked)
    return RetrievalData(
        name=name, documents=found, queries=tuple(query for query in there if query.gold)
    )


def _query(number: int, row: Mapping[str, Any]) -> RetrievalQuery:
    gold = tuple(dict.fromkeys([row["gold"]] if isinstance(row["gold"], str) else row["gold"]))
    plan = row.get("plan") or row.get("instruction") or ""
    id_ = str(row.get("id") or number)
    return RetrievalQuery(
        id=id_, text=row["query"].strip(), gold=gold, group=row.get("group", ""), plan=plan
    )


def read_tool(record: Mapping[str, Any], *, name: str = "", collection: str = "") -> ToolDocument:
    """Return the document of one tool's record in ToolE, StableToolBench or RestBench.

    Fields that the record lacks are empty.
    """
    name = name or str(record.get("id") or record.get("name") or "")
    title = next(
        (str(record[key]).strip() for key in ("name", "summary", "api_name") if record.get(key)), ""
    )
    arguments = {argument: (about, needed) for argument, about, needed in _arguments(record)}
    return ToolDocument(
        name=name,
        title=title if title != name else "",
        description=str(record.get("description") or record.get("api_description") or "").strip(),
        category=str(record.get("category_name") or "").strip(),
        collection=collection or str(record.get("tool_name") or "").strip(),
        parameters={argument: about for argument, (about, _) in arguments.items()},
        required=tuple(sorted(argument for argument, (_, needed) in arguments.items() if needed)),
        returns=tuple(dict.fromkeys(_returns(record))),
    )


def _arguments(record: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield the name and description of each argument, and whether it is required.

    If a name is repeated, the last one is valid.
    """
    for key in ("parameters", "required_parameters", "optional_parameters"):
        for one in record.get(key) or ():
            about = one.get("description") or (one.get("schema") or {}).get("description") or ""
            needed = (
                key == "required_parameters" or str(one.get("required", "")).casefold() == "true"
            )
            yield one["name"], str(about).strip(), needed
    for media in (record.get("request_body") or {}).get("content", {}).values():
        schema = media.get("schema") or {}
        for name, one in schema.get("properties", {}).items():
            yield name, str(one.get("description", "")).strip(), name in schema.get("required", ())


def _returns(record: Mapping[str, Any]) -> Iterator[str]:
    yield from record.get("returns", ())
    for path, _ in response_paths(record.get("response_schema")):
        steps = path.replace("[]", "").strip(".").split(".")
        if steps[-1] and len(steps) <= _DEPTH:
            yield steps[-1]
    yield from _keys(record.get("template_response"), depth=_DEPTH)


def _keys(template: Any, *, depth: int) -> Iterator[str]:
    """Yield the keys of a response template, which is a nested JSON object, in order.

    Keys are read down to a depth of `depth` objects.
    """
    if isinstance(template, list):
        yield from _keys(template[0] if template else None, depth=depth)
    elif isinstance(template, Mapping) and depth:
        for key, value in template.items():
            yield str(key)
            yield from _keys(value, depth=depth - 1)


def _stabletoolbench(folder: Path) -> RetrievalData:
    """Load RapidAPI's APIs, each named `tool/API`, and ToolBench's queries."""
    records = read_json(folder / "apis.json", EXPECTED)
    names: dict[str, str] = {}
    for record in records:
        name = f"{record['tool_name'].strip()}/{record['api_name'].strip()}"
        names[record["id"]] = record["id"] if name in names.values() else name
    tools = [replace(read_tool(record, name=names[record["id"]]), title="") for record in records]
    queries: list[dict[str, Any]] = []
    for file in sorted(folder.glob("queries*.json")):
        for row in read_json(file, EXPECTED):
            gold = [names.get(one, one) for one in row["gold"]]
            queries.append({**row, "gold": gold, "group": row.get("group", file.stem)})
    return build_labelled_data("stabletoolbench", tools, queries)


def _restbench(folder: Path, apis: Sequence[str]) -> RetrievalData:
    """Load the operations and queries of TMDB and Spotify.

    Operations have the same names as in gold paths, such as `GET /movie/{movie_id}`. Only the path
    parameters may have other names there.
    """
    tools: list[ToolDocument] = []
    queries: list[dict[str, Any]] = []
    for api in apis:
        records = read_json(folder / f"{api}_tools.json", EXPECTED)
        names = {pattern(record["id"]): record["id"] for record in records}
        tools += [read_tool(record, collection=api) for record in records]
        for row in read_json(folder / f"{api}_tasks.json", EXPECTED):
            gold = [names.get(pattern(step), step) for step in row["gold_path"]]
            queries.append({**row, "gold": gold, "group": api})
    return build_labelled_data("restbench", tools, queries)


SHOWN = 20
"""Number of tools of a ranking that are kept. No metric needs more."""
MAIN = "ndcg@5"
"""The metric by which methods are compared."""
Row = dict[str, Any]
"""The ranking of one method for one query, best first, and its cost.

A row with an `outage` has no result.
"""


def ndcg(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return nDCG@k, where a gold tool has gain 1 and any other tool gain 0.

    This is the DCG of the best k tools, divided by the DCG of a ranking that has all gold tools
    first.
    """
    gained = sum(1 / log2(place + 2) for place, tool in enumerate(ranking[:k]) if tool in gold)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(gold))))
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold tools that are among the best k tools."""
    return len(set(ranking[:k]) & set(gold)) / len(gold) if gold else 0.0


def completeness(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if all gold tools are among the best k tools, else 0.

    This matters because one missing tool can make a task unsolvable.
    """
    return float(bool(gold) and set(gold) <= set(ranking[:k]))


METRICS: Mapping[str, Callable[[Sequence[str], Collection[str]], float]] = {
    **{f"ndcg@{k}": partial(ndcg, k=k) for k in (1, 5, 10)},
    **{f"recall@{k}": partial(recall, k=k) for k in (1, 5, 10, 20)},
    **{f"completeness@{k}": partial(completeness, k=k) for k in (5, 10, 20)},
    "pool_recall": lambda ranking, gold: len(set(ranking) & set(gold)) / len(gold),
    "pool_precision": lambda ranking, gold: (
        len(set(ranking) & set(gold)) / len(ranking) if ranking else 0.0
    ),
    "pool_tools": lambda ranking, _: float(len(ranking)),
}


def method_figures(
    rows: Mapping[str, Sequence[Row]], queries: Sequence[RetrievalQuery], *, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Return the measurements of each search method. Outages are counted and otherwise left out.

    Metrics are means over the queries, with intervals. Metrics named `pool_…` use all returned
    tools. `groups` has the nDCG@5 of each part of the data. `against` is the mean paired difference
    in nDCG@5 from the first method, over the queries that both answered. Seconds, tokens and calls
    are medians over the queries.
    """
    gold = {query.id: query for query in queries}
    first: dict[str, float] = {}
    found = {}
    for method, every in rows.items():
        good = [row for row in every if not row.get("outage")]
        values = _metric_values(good, gold)
        main = {row["id"]: value for row, value in zip(good, values[MAIN], strict=True)}
        differences = [main[one] - first[one] for one in main if one in first]
        found[method] = {
            "queries": len(good),
            "outages": len(every) - len(good),
            **{name: interval(some, seed) for name, some in values.items()},
            "against": interval(differences, seed),
            "groups": _group_means(main, gold),
            **_median_costs(good),
        }
        first = first or main
    return found


def _metric_values(
    rows: Sequence[Row], gold: Mapping[str, RetrievalQuery]
) -> dict[str, list[float]]:
    """Return for each metric its value for each row (the ranking for one query).

    `gold` has the queries with the tools that they need, keyed by id.
    """
    values: dict[str, list[float]] = {}
    for name, metric in METRICS.items():
        values[name] = [metric(row["ranking"], gold[row["id"]].gold) for row in rows]
    return values


def _group_means(
    values: Mapping[str, float], gold: Mapping[str, RetrievalQuery]
) -> dict[str, float]:
    """Return the mean value of each group of queries; empty if there is only one group."""
    groups: dict[str, list[float]] = {}
    for query_id, value in values.items():
        groups.setdefault(gold[query_id].group, []).append(value)
    if len(groups) < 2:
        return {}
    return {name: fmean(some) for name, some in sorted(groups.items())}


def _median_costs(rows: Sequence[Row]) -> dict[str, float]:
    """Return the median seconds, tokens and model calls per query."""
    return {
        "seconds_p50": median([row["seconds"] for row in rows] or [0.0]),
        "tokens_p50": median([row["input_tokens"] + row["output_tokens"] for row in rows] or [0]),
        "model_calls_p50": median([row["model_calls"] for row in rows] or [0]),
    }


fill = partial(fill_from, "benchmarks.retrieval.prompts")
_FACETS = ("question", "command", "situation", "problem", "detailed", "beginner", "keywords")
FACETS = ExpansionKind("facets", _FACETS, max_tokens=700, fill=fill)
"""An expansion: seven user messages about a tool, such as a question, a command and a problem."""


@dataclass(frozen=True)
class Contrast(ExpansionKind):
    """An expansion: what a tool does that its most similar tools do not do."""

    name: str = "contrast"
    keys: tuple[str, ...] = ("only", "first", "second", "third")
    max_tokens: int = 400
    fill: Callable[..., str] = fill
    near: Callable[[ToolDocument], Sequence[ToolDocument]] = lambda _: ()
    """A function that returns the documents which are most easily confused with a document."""

    def messages(self, document: ToolDocument) -> list[Message]:
        others = "\n".join(map(render_document, self.near(document)))
        return [
            *self.build_prefix(),
            Message("user", fill("expand_others", tool=render_document(document), others=others)),
        ]

    def build_prefix(self, tool: str = "") -> list[Message]:
        others = fill("expand_example_others")
        return super().build_prefix(
            tool or fill("expand_others", tool=example("expand_example_tool"), others=others)
        )


def neighbours(
    documents: Sequence[ToolDocument], ranker: Ranker
) -> Callable[[ToolDocument], list[ToolDocument]]:
    """Return a function that finds the three documents nearest to a document, as `ranker` ranks."""
    by_name = {document.name: document for document in documents}

    def near(document: ToolDocument) -> list[ToolDocument]:
        (found,) = ranker.top([vector_text(document)], n=4)
        names = [ranker.names[position] for position in found.positions.tolist()]
        return [by_name[name] for name in names if name != document.name and name in by_name][:3]

    return near
