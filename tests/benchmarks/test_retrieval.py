"""The retrieval benchmark: data, metrics, rows that are continued, figures, and the command."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from atc.core.types import Usage  # noqa: E402
from atc.pipeline.retrieve.base import Hit, Retrieval  # noqa: E402
from atc.pipeline.retrieve.document import ToolDocument  # noqa: E402
from benchmarks.retrieval import __main__ as running  # noqa: E402
from benchmarks.retrieval.__main__ import main, run_method  # noqa: E402
from benchmarks.retrieval.data import (  # noqa: E402  # noqa: E402
    RetrievalQuery,
    Row,
    build_labelled_data,
    load_data,
    method_figures,
)
from benchmarks.runner import MOST_OUTAGES, InvalidData, Outage, Rows  # noqa: E402
from protocols.errors import ModelUnavailable  # noqa: E402

HEADER = {"format": running.FORMAT, "data": "x"}
TOOLS = [
    ToolDocument(name="a", description="Sends letters."),
    ToolDocument(name="b", description="Reads a map."),
]
QUERIES = [{"id": f"q{number}", "query": f"text {number}", "gold": ["b"]} for number in range(12)]
DATA = build_labelled_data("x", TOOLS, QUERIES)


@dataclass
class Scripted:
    """Finds `a` and `b`; fails where `fails` says so. Remembers what it was asked."""

    fails: dict[str, Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def search(self, query: str, *, k: int) -> Retrieval:
        self.asked.append(query)
        if query in self.fails:
            raise self.fails[query]
        hits = (Hit("a", 2.0), Hit("b", 1.0), Hit("a", 0.5))
        return Retrieval(
            hits=hits[:k], usage=Usage(model_calls=2, input_tokens=30, output_tokens=12)
        )


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks a scripted method (one that asks a model) some of the queries, with rows in one file."""

    def asked(
        retriever: Scripted, limit: int = 12, *, workers: int = 1, header: Any = HEADER
    ) -> list[Row]:
        monkeypatch.setattr(running, "build", lambda *_: retriever)
        data = build_labelled_data("x", TOOLS, QUERIES[:limit])
        with Rows(tmp_path / "rows.jsonl", header, key=("method", "id")) as file:
            return run_method("toolqp", data.queries, None, file, jobs=workers)  # type: ignore[arg-type]

    return asked


def test_an_outage_keeps_rows(ask: Any, tmp_path: Path) -> None:
    down = {str(query["query"]): ModelUnavailable("the endpoint is down.") for query in QUERIES[3:]}
    ask(Scripted(), limit=3)  # before: a success that comes late would interrupt the row
    with pytest.raises(Outage, match=r"toolqp: the endpoint is down\. It failed 5 times in a row"):
        ask(Scripted(down), workers=3)
    kept = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()[1:]]
    assert (
        MOST_OUTAGES <= sum("outage" in row for row in kept) <= MOST_OUTAGES + 2
    )  # those under way, in any order
    up = Scripted()
    rows = ask(up, workers=3)
    assert not any("outage" in row for row in rows)
    assert [rows[0][key] for key in ("ranking", "model_calls", "input_tokens")] == [
        ["a", "b"],
        2,
        30,
    ]
    assert len(up.asked) == 9


def test_figures_and_paired_differences() -> None:
    none = {"seconds": 0.0, "model_calls": 0, "input_tokens": 0, "output_tokens": 0}
    first = [{**none, "id": f"q{n}", "ranking": ["a", "b"], "input_tokens": 5} for n in range(4)]
    second = [{**none, "id": f"q{n}", "ranking": ["b"], "seconds": 0.004} for n in (1, 2)]
    second.append({"id": "q3", "outage": "down"})
    queries = [
        RetrievalQuery(id=f"q{n}", text="", gold=("b",), group="odd" if n % 2 else "even")
        for n in range(4)
    ]
    one, two = method_figures({"a": first, "b": second}, queries).values()
    assert (one["ndcg@1"]["mean"], one["recall@5"]["mean"], one["against"]) == (0, 1, None)
    assert one["groups"] == {
        "even": pytest.approx(0.6309, abs=1e-4),
        "odd": pytest.approx(0.6309, abs=1e-4),
    }
    assert (two["against"]["n"], two["against"]["mean"]) == (2, pytest.approx(0.3691, abs=1e-4))
    assert (two["seconds_p50"], one["tokens_p50"], two["pool_precision"]["mean"]) == (0.004, 5, 1.0)
    assert (two["queries"], two["outages"]) == (2, 1)


def test_unknown_gold_tools_are_left_out() -> None:
    odd = [
        {"query": "x", "gold": ["a", "zzz"]},
        {"query": "X ", "gold": "b"},
        {"query": "y", "gold": ["zzz"]},
    ]
    data = build_labelled_data("x", TOOLS, odd)
    assert [query.gold for query in data.queries] == [("a",), ("b",)]
    assert data.digest != build_labelled_data("x", TOOLS, odd[:1]).digest
    with pytest.raises(InvalidData, match="lacks 'gold'"):
        build_labelled_data("x", TOOLS, [{"query": "x"}])


def test_the_command_ranks_and_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = {
        "tools": [{"id": one.name, "description": one.description} for one in TOOLS],
        "queries": [{"query": "who reads maps", "gold": ["b"]}, {"query": "zebra", "gold": ["b"]}],
    }
    (tmp_path / "data.json").write_text(json.dumps(content))
    common = ["--data", "data.json", "--index", "index", "--json"]

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, [*common, *arguments])

    found = run("--method", "bm25", "--out", "rows.jsonl")
    assert (found.exit_code, json.loads(found.stdout)["methods"]["bm25"]["ndcg@5"]["mean"]) == (
        0,
        0.5,
    )
    assert run("--method", "bm25", "--out", "rows.jsonl").stdout == found.stdout
    assert "did you mean 'bm25'" in run("--method", "bm24").output
    about = {
        "document": load_data("data.json").documents[1].digest,
        "kind": "queries",
        "prompt": "p",
        "model": "m",
    }
    (tmp_path / "said.gz").write_bytes(
        gzip.compress(json.dumps({**about, "sample": 0, "texts": ["zebra"]}).encode())
    )
    found = run("--method", "d2q:on=bm25", "--written", "said.gz", "--out", "d2q.jsonl")
    assert json.loads(found.stdout)["methods"]["d2q:on=bm25"]["ndcg@5"]["mean"] == 1, found.output
