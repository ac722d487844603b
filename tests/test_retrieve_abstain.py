"""Abstention: whether anything in the index fits a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from atc.retrieve.base import Hit, Ranked, Retrieval
from atc.retrieve.document import ToolDocument

np = pytest.importorskip("numpy")
pytest.importorskip("Stemmer")

from atc.retrieve.abstain import WORDS, Abstain  # noqa: E402 - needs numpy

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
    return Abstain(dense=_Cosines(list(documents), scores), documents=documents)


def test_a_tool_that_stands_out_fits_and_one_of_a_crowd_does_not() -> None:
    judge = _judge({"far": {"t0": 0.05}, "near": {"t0": 0.5}})
    assert judge("near", FOUND)
    assert not judge("far", FOUND)
    crowd = {"alike": {f"t{number}": 0.5 for number in range(50)}}
    assert not _judge(crowd)("alike", FOUND)


def test_words_that_the_best_document_has_count() -> None:
    judge = _judge({"send a letter": {"t0": 0.05}, "grow a garden": {"t0": 0.05}})
    assert judge.nearness("send a letter") == pytest.approx(0.05 + WORDS)
    assert judge("send a letter", FOUND)
    assert not judge("grow a garden", FOUND)
