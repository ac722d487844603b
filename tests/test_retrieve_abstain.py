"""Abstention, and how it is measured."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from atc.retrieve.base import Hit, Ranked, Retrieval, RetrievalUnavailable
from atc.retrieve.document import ToolDocument

np = pytest.importorskip("numpy")
pytest.importorskip("Stemmer")

from atc.retrieve.abstain import Abstain, Calibration, signals  # noqa: E402 - needs numpy
from toolflow_bench.retrieval.abstention import Without, abstention_figures, judged, nearness_without  # noqa: E402
from toolflow_bench.retrieval.data import RetrievalQuery, assembled  # noqa: E402

FOUND = Retrieval(hits=(Hit("t0", 1.0),))


class _Cosines:
    """A ranker whose score of a document is what the query has for it; other documents have 0."""

    def __init__(self, names: Sequence[str], scores: dict[str, dict[str, float]]) -> None:
        self.names, self._scores = list(names), scores

    def top(self, views: Sequence[Any], *, n: int) -> list[Ranked]:
        found = []
        for view in views:
            row = np.array([self._scores.get(view, {}).get(name, 0.0) for name in self.names], dtype=np.float32)
            order = np.argsort(-row, kind="stable")[:n]
            found.append(Ranked(order, row[order]))
        return found

    def scores(self, views: Sequence[Any], positions: Any = None) -> Any:
        raise NotImplementedError


def _judge(scores: dict[str, dict[str, float]], *, tools: int = 50) -> Abstain:
    documents = {f"t{number}": ToolDocument(name=f"t{number}", description="Sends letters.") for number in range(tools)}
    return Abstain(
        dense=_Cosines(list(documents), scores),
        documents=documents,
        calibration=Calibration(words=0.5, threshold=0.15),
    )


def test_a_tool_that_stands_out_fits_and_one_of_a_crowd_does_not() -> None:
    judge = _judge({"far": {"t0": 0.05}, "near": {"t0": 0.5}})
    assert judge("near", FOUND)
    assert not judge("far", FOUND)
    crowd = {"alike": {f"t{number}": 0.5 for number in range(50)}}
    assert not _judge(crowd)("alike", FOUND)


def test_words_that_the_best_document_has_count() -> None:
    judge = _judge({"send a letter": {"t0": 0.05}, "grow a garden": {"t0": 0.05}})
    assert judge.nearness("send a letter") == pytest.approx(0.05 + 0.5)
    assert judge("send a letter", FOUND)
    assert not judge("grow a garden", FOUND)


def test_ten_tools_of_one_kind_do_not_hide_each_other() -> None:
    rivals = {"post": {f"t{number}": 0.5 for number in range(10)}}
    assert _judge(rivals)("post", FOUND)


@pytest.mark.parametrize("tools", [1, 2, 11])
def test_small_indexes_are_judged_too(tools: int) -> None:
    judge = _judge({"near": {"t0": 0.6}}, tools=tools)
    assert judge("near", FOUND)
    assert not judge("unheard of", FOUND)


def test_nothing_found_is_nothing_that_fits() -> None:
    judge = _judge({"near": {"t0": 0.9}})
    assert not judge("near", Retrieval(hits=()))
    assert _judge({}, tools=0).nearness("anything") == float("-inf")


def _index(dense: Any, documents: Any = None) -> Any:
    return SimpleNamespace(dense=dense, documents=documents or {})


def test_only_calibrated_embedding_models_are_judged_by() -> None:
    assert Abstain.over(_index(None)) is None
    unknown = SimpleNamespace(embedder=SimpleNamespace(name="somebody's"))
    assert Abstain.over(_index(unknown)) is None
    known = SimpleNamespace(embedder=SimpleNamespace(name="minilm"))
    judge = Abstain.over(_index(known))
    assert judge is not None
    assert judge.calibration == (0.462, 0.1634)
    with pytest.raises(RetrievalUnavailable, match="calibrated for the embedding models minilm"):
        abstention_figures(assembled("x", [ToolDocument(name="t")], []), _index(unknown), count=1, seed=0)


def test_tools_that_were_taken_away_leave_the_rest_as_it_was() -> None:
    judge = _judge({"q": {"t0": 0.9, "t1": 0.8, "t2": 0.3}})
    cut = Without(judge.dense, frozenset({"t0"}))
    [ranked] = cut.top(["q"], n=2)
    assert [cut.names[int(position)] for position in ranked.positions] == ["t1", "t2"]
    assert nearness_without(judge, "q", ["t0", "t1"]) == pytest.approx(0.3)
    assert judge.nearness("q") == pytest.approx(0.9)


def test_figures_by_hand() -> None:
    found = judged([0.9, 0.5, 0.1, 0.8], [0.1, 0.2, 0.6], threshold=0.3)
    assert found.recall == pytest.approx(2 / 3)
    assert found.lost == 0.25
    assert found.precision == pytest.approx(2 / 3)
    assert found.auc == pytest.approx((3 + 2 + 0.5 + 3) / 12)
    assert judged([0.9], [0.8], threshold=0.1).precision is None


def test_each_query_is_asked_once_with_or_without_its_tools() -> None:
    names = [f"t{number}" for number in range(50)]
    queries = [RetrievalQuery(id=name, text=name, gold=(name,)) for name in names]
    judge = _judge({name: {name: 0.7} for name in names})
    judge.dense.embedder = SimpleNamespace(name="minilm")
    index = _index(judge.dense, judge.documents)
    data = assembled("x", judge.documents.values(), queries)
    found = abstention_figures(data, index, count=20, seed=1)
    assert (found.asked, found.recall, found.lost, found.auc) == (20, 1.0, 0.0, 1.0)
    assert found.precision == 1.0


def test_signals_by_hand() -> None:
    draw = [int(hashlib.sha256(str(number).encode()).hexdigest()[:4], 16) / 65536 for number in range(50)]
    judge = _judge({"send it home": {f"t{number}": value for number, value in enumerate(draw)}})
    ordered = sorted(draw, reverse=True)
    margin, words = signals("send it home", judge.dense, judge.documents)
    assert margin == pytest.approx(ordered[0] - sum(ordered[10:30]) / 20, abs=1e-5)
    assert words == 0.5
    assert judge.nearness("send it home") == pytest.approx(margin + 0.25)
