"""Rankings made one: z-scores, multi-view, peak rank, and the hybrid ranker."""

import numpy as np

from atc.pipeline.retrieve.base import Hit, Ranking, hits
from atc.pipeline.retrieve.fuse import Hybrid, multi_view, peak_rank

NAMES = ["ant", "bee", "cat", "dog", "eel"]


def ranked(*pairs: tuple[str, float]) -> list[Hit]:
    return [Hit(name, score) for name, score in pairs]


def order(found: list[Hit]) -> list[str]:
    assert all(0 < hit.score <= 1 for hit in found)
    assert sorted(found, key=lambda hit: -hit.score) == found
    return [hit.tool for hit in found]


class Fixed:
    """A ranker that gives the same scores for every view."""

    def __init__(self, scores, names=NAMES):
        self.names, self._scores = names, np.array(scores, np.float32)

    def scores(self, views, positions=None):
        chosen = self._scores if positions is None else self._scores[positions]
        return np.tile(chosen, (len(views), 1))

    def top(self, views, *, n):
        positions = np.argsort(-self._scores, kind="stable")[:n]
        return [Ranking(positions, self._scores[positions]) for _ in views]


def test_ties_go_to_the_best_similarity():
    lists = [
        ranked(("ant", 0.3), ("bee", 0.2)),
        ranked(("cat", 0.9), ("ant", 0.8)),
        ranked(("bee", 0.4)),
    ]
    assert order(peak_rank(lists)) == ["cat", "ant", "bee"]
    assert order(multi_view(lists)) == ["cat", "bee", "ant"]


def test_a_hybrid_weighs_its_rankers():
    meaning, words = Fixed([5, 4, 3, 2, 1]), Fixed([10, 20, 30, 40, 50])
    for weights, first in (((0.8, 0.2), "ant"), ((0.2, 0.8), "eel")):
        both = Hybrid([(meaning, weights[0]), (words, weights[1])])
        assert NAMES[both.top(["a query"], n=1)[0].positions[0]] == first
        assert hits(both.top(["a query"], n=2)[0], NAMES, k=2)[0].tool == first


def test_the_hybrid_equals_a_full_pass():
    generator = np.random.default_rng(7)
    names = [f"t{number:04}" for number in range(2000)]
    parts = [(Fixed(generator.standard_normal(2000), names), weight) for weight in (0.7, 0.3)]
    full, candidates = Hybrid(parts), Hybrid(parts, full=1000, pool=150)
    (wanted,), (got,) = full.top(["q"], n=5), candidates.top(["q"], n=5)
    assert got.positions.tolist() == wanted.positions.tolist()
    assert np.allclose(got.scores, wanted.scores, atol=0.2)
