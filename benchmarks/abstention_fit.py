"""Fits the weight and the threshold of abstention (atc/retrieve/abstain.py), on data that nothing is reported on.

    python benchmarks/abstention_fit.py KAMEL_DIR BFCL_DIR [--embedder NAME ...] [--queries 300]

KAMEL's relations are tools and its questions queries; BFCL's functions are tools and each turn of its conversations
is a query. Each query is judged with all tools and without its own. Logistic regression of the two gives the weight of
shared words beside the margin; the threshold is where one in ten of the queries with their tools is lost.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from atc.retrieve.abstain import signals  # noqa: E402
from atc.retrieve.embedders import choose  # noqa: E402
from atc.retrieve.index import ToolIndex  # noqa: E402
from toolflow_bench.retrieval.abstention import Without  # noqa: E402
from toolflow_bench.retrieval.data import RetrievalData, draw  # noqa: E402
from toolflow_bench.retrieval.data_labelled import labelled  # noqa: E402

LOST = 0.1
"""The share of answerable queries that the threshold gives up."""
_CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "TwitterAPI": "posting_api",
    "MathAPI": "math_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "VehicleControlAPI": "vehicle_control",
    "TravelAPI": "travel_booking",
    "MessageAPI": "message_api",
}


def kamel(folder: Path) -> RetrievalData:
    """KAMEL's relations, and the questions over thirty of them."""
    content = json.loads((folder / "relations_dev.json").read_text())
    tools, names = [], dict[Any, str]()
    for key, said in content["api_desc"].items():
        name, arguments, description = re.match(r"(\w+)\(([^)]*)\):?\s*(.*)", said, re.DOTALL).groups()  # type: ignore[union-attr]
        names[key] = name if name not in names.values() else f"{name}_{key}"
        tools.append(
            {"id": names[key], "description": description, "parameters": dict.fromkeys(arguments.split(", "), "")}
        )
    queries = [{"query": test["question"], "gold": [names[test["api"]]]} for test in content["tests"]["30"]]
    return labelled({"tools": tools, "queries": queries}, name="kamel", where=str(folder))


def bfcl(folder: Path) -> RetrievalData:
    """BFCL's functions, and each turn of its conversations with what it takes."""
    documents = json.loads((folder / "func_docs.json").read_text())
    tools, names = [], dict[Any, str]()
    for kind in _CLASSES.values():
        for function in documents[kind]:
            name = function["name"]
            names[kind, name] = name if name not in names.values() else f"{kind}.{name}"
            said = re.sub(r"^This tool belongs to .*?Tool description: ", "", function["description"], flags=re.DOTALL)
            schema = {"type": "object", "properties": function["parameters"].get("properties", {})}
            returns = list(function.get("response", {}).get("properties", {}))
            tools.append(
                {
                    "id": names[kind, name],
                    "description": said,
                    "parameters": schema,
                    "returns": returns,
                    "collection": kind,
                }
            )
    queries = []
    for talk in json.loads((folder / "multi_turn_base.json").read_text()):
        kinds = [_CLASSES[name] for name in talk["involved_classes"]]
        for number, (turn, calls) in enumerate(zip(talk["question"], talk["ground_truth"], strict=True)):
            text = " ".join(message["content"] for message in turn)
            called = {call.partition("(")[0] for call in calls}
            gold = sorted(names[kind, name] for kind in kinds for name in called if (kind, name) in names)
            if text.strip() and gold:
                queries.append({"id": f"{talk['id']} {number}", "query": text, "gold": gold})
    return labelled({"tools": tools, "queries": queries}, name="bfcl", where=str(folder))


def measured(data: RetrievalData, embedder: Any, count: int) -> tuple[Any, Any]:
    """Margin and shared words of each query, with its tools and without; arrays (queries, 2)."""
    index = ToolIndex.build(data.documents, embedder=embedder)
    dense = index.dense
    assert dense is not None
    pairs = [
        (
            signals(query.text, dense, index.documents),
            signals(query.text, Without(dense, frozenset(query.gold)), index.documents),
        )
        for query in draw(data.queries, count, seed=0)
    ]
    return np.array([one for one, _ in pairs]), np.array([other for _, other in pairs])


def regression(features: Any, labels: Any) -> Any:
    """Weights of a logistic regression, the constant last, by Newton's method."""
    rows = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (labels - chance)
        weights += np.linalg.solve((rows * (chance * (1 - chance))[:, None]).T @ rows, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kamel", type=Path)
    parser.add_argument("bfcl", type=Path)
    parser.add_argument("--embedder", action="append")
    parser.add_argument("--queries", type=int, default=300)
    args = parser.parse_args()
    for name in args.embedder or ["minilm"]:
        embedder = choose(name)
        both = [measured(data, embedder, args.queries) for data in (kamel(args.kamel), bfcl(args.bfcl))]
        answerable, unanswerable = (np.concatenate([one[place] for one in both]) for place in (0, 1))
        labels = np.concatenate([np.ones(len(answerable)), np.zeros(len(unanswerable))])
        margin, words, _ = regression(np.concatenate([answerable, unanswerable]), labels)
        weight = words / margin
        with_tools, without = (some[:, 0] + weight * some[:, 1] for some in (answerable, unanswerable))
        for lost in (LOST / 2, LOST, 2 * LOST):
            threshold = float(np.quantile(with_tools, lost))
            caught = float((without < threshold).mean())
            print(
                f"{embedder.name}: weight {weight:.3f}, threshold {threshold:.4f}: {lost:.0%} lost, {caught:.1%} caught"
            )


if __name__ == "__main__":
    main()
