"""The dense ranker, and the best of many scores."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

np = pytest.importorskip("numpy", reason="the retrieval extra is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from atc.pipeline.retrieve.dense import Dense  # noqa: E402
from atc.pipeline.retrieve.embed import normalize_rows  # noqa: E402
from atc.pipeline.retrieve.fuse import Hybrid, select_best  # noqa: E402
from tests.labs.rankers import found  # noqa: E402


class Compass:
    """Embeds texts of the letters n, e, s, w as the sum of their directions."""

    name, dimensions = "compass", 2

    def embed(self, texts: Sequence[str]):
        ways = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
        sums = [
            np.sum([ways[letter] for letter in text], axis=0) if text else np.zeros(2)
            for text in texts
        ]
        return normalize_rows(np.array(sums, np.float32).reshape(len(texts), 2))


def compass(*texts: str) -> Dense:
    return Dense(list(texts), Compass().embed(texts), Compass())


def test_the_nearest_come_first_with_their_cosines():
    dense = compass("n", "e", "s", "ne")
    ranked = dense.top(["n", "e"], n=3)
    assert [list(one.positions) for one in ranked] == [[0, 3, 1], [1, 3, 0]]
    assert ranked[0].scores.tolist() == pytest.approx([1, 0.5**0.5, 0], abs=1e-6)
    assert dense.scores(["n"]).tolist()[0] == pytest.approx([1, 0, -1, 0.5**0.5], abs=1e-6)
    assert dense.scores(["n", "e"], np.array([3, 2])).tolist() == [
        pytest.approx([0.5**0.5, -1], abs=1e-6),
        pytest.approx([0.5**0.5, 0], abs=1e-6),
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, -np.inf]), max_size=30), st.integers(-1, 40))
def test_the_best_are_sorted_with_ties_by_name(scores, n):
    names = [f"{(7 * row) % 31:02}" for row in range(len(scores))]
    wanted = sorted(
        (row for row in range(len(scores)) if scores[row] > -np.inf),
        key=lambda r: (-scores[r], names[r]),
    )
    ranked = select_best(np.array(scores, np.float32), names, n=n)
    assert ranked.positions.tolist() == wanted[: max(0, n)]
    assert ranked.scores.tolist() == [scores[row] for row in wanted[: max(0, n)]]


def test_a_query_is_embedded_once():
    asked = []

    class Counting(Compass):
        def embed(self, texts: Sequence[str]):
            asked.append(list(texts))
            return super().embed(texts)

    dense = Dense(["n", "e", "s", "ne"], Compass().embed(["n", "e", "s", "ne"]), Counting())
    other = compass("n", "e", "s", "ne")
    assert found(dense, "n") == found(other, "n")
    assert dense.scores([("n", "e"), "n"]).tolist() == other.scores([("n", "e"), "n"]).tolist()
    assert asked == [["n"], ["e"]]
    fused = Hybrid([(dense, 0.5), (dense, 0.5)], full=2, pool=3)
    assert found(fused, "s", n=1) == ["s"]
    assert asked == [["n"], ["e"], ["s"]]
