"""Metrics, rows, running and the table of the retrieval bench."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from atc.retrieve.base import Hit, Retrieval
from atc.types import Usage
from protocols.errors import ModelUnavailable
from toolflow_bench.retrieval.data import RetrievalData, RetrievalQuery, assembled
from toolflow_bench.retrieval.metrics import completeness, ndcg, recall
from toolflow_bench.retrieval.rows import RetrievalFile, RetrievalRow, read_rows
from toolflow_bench.retrieval.suite import MOST_OUTAGES, Outage, ask_method, data_digest
from toolflow_bench.retrieval.table import figures, lines
from toolflow_bench.rows import InvalidRunFile

HEADER = {"data": "x", "model": "none", "methods": ["a"]}
QUERIES = tuple(RetrievalQuery(id=f"q{number}", text=f"text {number}", gold=("b",)) for number in range(12))


@pytest.mark.parametrize("k", [1, 5, 10])
def test_ndcg_is_scikit_learns(k: int) -> None:
    score = pytest.importorskip("sklearn.metrics").ndcg_score
    draw = random.Random(k)
    names = [f"t{number:02}" for number in range(30)]
    for _ in range(50):
        ranking = draw.sample(names, len(names))
        gold = draw.sample(names, draw.randint(1, 12))
        scores = [float(len(names) - ranking.index(name)) for name in names]
        relevant = [float(name in gold) for name in names]
        assert ndcg(ranking, gold, k) == pytest.approx(score([relevant], [scores], k=k))


def test_metrics_by_hand() -> None:
    assert ndcg(["a", "b"], ["b"], 5) == pytest.approx(0.6309, abs=1e-4)  # 1/log2(3)
    assert ndcg(["b"], ["b", "c"], 5) == pytest.approx(0.6131, abs=1e-4)  # what is not named is not found
    assert ndcg([], ["b"], 5) == 0
    assert recall(["a", "b", "c"], ["b", "d"], 3) == 0.5
    assert recall(["a", "b"], ["b"], 1) == 0
    assert [completeness(["a", "b"], gold, 2) for gold in (["a", "b"], ["a", "d"], [])] == [1, 0, 0]
    assert completeness(["a", "b"], ["b"], 1) == 0


@dataclass
class _Scripted:
    """Finds `a` and `b`; fails where `fails` says so. Counts what it was asked."""

    fails: dict[str, Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, query: str, *, k: int) -> Retrieval:
        with self.lock:
            self.asked.append(query)
        if query in self.fails:
            raise self.fails[query]
        hits = (Hit("a", 2.0), Hit("b", 1.0), Hit("a", 0.5))
        return Retrieval(hits=hits[:k], usage=Usage(model_calls=2, input_tokens=30, output_tokens=12))


def test_each_row_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "rows.jsonl"
    with RetrievalFile(path, HEADER) as file:
        rows = ask_method("a", _Scripted(), QUERIES[:3], file)
    assert [row.ranking for row in rows] == [("a", "b")] * 3
    assert (rows[0].model_calls, rows[0].input_tokens, rows[0].output_tokens) == (2, 30, 12)
    with path.open("a") as file_:
        file_.write('{"method": "a", "id": "q3", "rank')  # killed while it wrote
    again = _Scripted()
    with RetrievalFile(path, {**HEADER, "methods": ["a", "b"]}) as file:
        assert ask_method("a", again, QUERIES[:5], file)[:3] == rows
    assert again.asked == ["text 3", "text 4"]
    assert len(read_rows(path)[1]) == 5


def test_another_method_has_rows_of_its_own(tmp_path: Path) -> None:
    with RetrievalFile(tmp_path / "rows.jsonl", HEADER) as file:
        ask_method("a", _Scripted(), QUERIES[:2], file)
        other = _Scripted()
        ask_method("b", other, QUERIES[:2], file)
        assert len(other.asked) == 2


def test_several_at_once_give_the_same_rows(tmp_path: Path) -> None:
    met = threading.Barrier(3, timeout=20)

    class Together(_Scripted):
        def search(self, query: str, *, k: int) -> Retrieval:
            met.wait()  # passes only where three are asked at once
            return super().search(query, k=k)

    with RetrievalFile(tmp_path / "rows.jsonl", HEADER) as file:
        rows = ask_method("a", Together(), QUERIES, file, workers=3)
    assert [row.id for row in rows] == [query.id for query in QUERIES]


@pytest.mark.parametrize("workers", [1, 3])
def test_an_outage_keeps_rows_and_the_same_run_goes_on(tmp_path: Path, workers: int) -> None:
    down = {query.text: ModelUnavailable("the endpoint is down.") for query in QUERIES[3:]}
    path = tmp_path / "rows.jsonl"
    with (
        RetrievalFile(path, HEADER) as file,
        pytest.raises(Outage, match=r"a: the endpoint is down\. It failed 5 times in a row; .*goes on from there"),
    ):
        ask_method("a", _Scripted(down), QUERIES, file, workers=workers)
    kept = read_rows(path)[1]
    assert {row.id for row in kept if row.status == "ok"} == {"q0", "q1", "q2"}
    assert sum(row.status == "outage" for row in kept) == MOST_OUTAGES
    up = _Scripted()
    with RetrievalFile(path, HEADER) as file:
        rows = ask_method("a", up, QUERIES, file, workers=workers)
    assert len(up.asked) == 9
    assert {row.status for row in rows} == {"ok"}


def test_a_bug_of_ours_costs_one_query_alone(tmp_path: Path) -> None:
    with RetrievalFile(tmp_path / "rows.jsonl", HEADER) as file:
        rows = ask_method("a", _Scripted({"text 1": KeyError("oh")}), QUERIES[:3], file)
        [found] = figures({"a": rows}, QUERIES)
    assert [row.status for row in rows] == ["ok", "crash", "ok"]
    assert rows[1].error == "KeyError: 'oh'"
    assert (found.queries, found.crashes) == (2, 1)
    assert "1 crashes" in lines([found])[-1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("mine, not yours\n", "is not a retrieval run's file"),
        ('{"format": "atc-retrieval-1", "data": "y", "model": "none"}\n', "data was 'y', is 'x'"),
        ('{"format": "atc-retrieval-1", "data": "x", "model": "none"}\n{"no": "row"}\n', "line 2 is no row"),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(InvalidRunFile, match=said):
        RetrievalFile(path, HEADER)
    assert path.read_text() == content


def test_restart_empties_a_runs_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with RetrievalFile(path, {**HEADER, "data": "y"}) as file:
        file.append(RetrievalRow(method="a", id="q0"))
        with pytest.raises(InvalidRunFile, match="another process is writing"):
            RetrievalFile(path, HEADER)
    with RetrievalFile(path, HEADER, restart=True) as file:
        assert not file.rows
    path.write_text("precious")
    with pytest.raises(InvalidRunFile, match="is not a retrieval run's file"):
        RetrievalFile(path, HEADER, restart=True)
    assert path.read_text() == "precious"


def test_digest_is_of_tools_queries_and_labels() -> None:
    def data(description: str = "d", gold: str = "a", text: str = "q") -> RetrievalData:
        from atc.retrieve.document import ToolDocument

        tools = [ToolDocument(name="a", description=description), ToolDocument(name="b")]
        return assembled("x", tools, [RetrievalQuery(id="1", text=text, gold=(gold,))])

    assert data_digest(data()) == data_digest(data())
    assert (
        len({data_digest(data(**{key: "b"})) for key in ("description", "gold", "text")} | {data_digest(data())}) == 4
    )


def _row(method: str, number: int, *ranking: str, seconds: float = 0.002) -> RetrievalRow:
    return RetrievalRow(method=method, id=f"q{number}", ranking=ranking, seconds=seconds, input_tokens=5)


def test_figures_and_paired_differences() -> None:
    queries = [
        RetrievalQuery(id=f"q{number}", text="", gold=("b",), group="odd" if number % 2 else "even")
        for number in range(4)
    ]
    first = [_row("a", number, "a", "b") for number in range(4)]
    second = [_row("b", number, "b", seconds=0.004) for number in (1, 2)]
    one, two = figures({"a": first, "b": second}, queries)
    assert one.metrics["ndcg@1"] == 0
    assert one.metrics["recall@5"] == 1
    assert one.groups == {"even": pytest.approx(0.6309, abs=1e-4), "odd": pytest.approx(0.6309, abs=1e-4)}
    assert one.against is None
    assert two.against is not None
    assert (two.against.n, two.against.mean) == (2, pytest.approx(0.3691, abs=1e-4))
    assert (two.seconds_p50, two.tokens_p50) == (0.004, 5)
    text = "\n".join(lines([one, two]))
    assert "b against a: nDCG@5 +0.369 (+0.369 to +0.369, 2 queries)" in text
    json.dumps([one.as_json(), two.as_json()])


def test_methods_without_a_common_query_are_not_compared() -> None:
    queries = [RetrievalQuery(id=f"q{number}", text="", gold=("b",)) for number in range(2)]
    found = figures({"a": [_row("a", 0, "b")], "b": [_row("b", 1, "b")], "c": []}, queries)
    assert "b and a have no query in common" in lines(found)
    assert found[2].queries == 0
