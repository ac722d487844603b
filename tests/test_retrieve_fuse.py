"""Rankings made one: z-scores, multi-view, peak rank, reciprocal ranks, and the hybrid ranker."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from atc.retrieve.base import Ranked
from atc.retrieve.fuse import Hybrid, hits, multi_view, multi_view_lists, peak_rank, rrf, zscores

NAMES = ["ant", "bee", "cat", "dog", "eel"]
quickly = settings(max_examples=25, deadline=None)
SCORES = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
    elements=st.integers(-4, 4).map(lambda number: number / 4),
)


def ranked(*pairs: tuple[str, float]) -> Ranked:
    positions, scores = zip(*[(NAMES.index(name), score) for name, score in pairs], strict=True)
    return Ranked(np.array(positions, np.int64), np.array(scores, np.float32))


def order(found: Ranked) -> list[str]:
    return [NAMES[position] for position in found.positions]


class Fixed:
    """A ranker that gives the same scores for every view."""

    def __init__(self, scores, names=NAMES):
        self.names, self._scores = names, np.array(scores, np.float32)

    def scores(self, views, positions=None):
        chosen = self._scores if positions is None else self._scores[positions]
        return np.tile(chosen, (len(views), 1))

    def top(self, views, *, n):
        positions = np.argsort(-self._scores, kind="stable")[:n]
        return [Ranked(positions, self._scores[positions]) for _ in views]


def tuples(scores) -> list[tuple[float, float]]:
    """Algorithm 2 word by word: the greatest (reversed rank, similarity) over the views, ranks of ties averaged."""
    found = []
    for document in range(scores.shape[1]):
        of_views = []
        for row in scores:
            below, same = np.sum(row < row[document]), np.sum(row == row[document])
            of_views.append((below + (same + 1) / 2, row[document]))
        found.append(max(of_views))
    return found


@quickly
@given(SCORES)
def test_multi_view_orders_documents_as_algorithm_2_orders_its_tuples(scores):
    got, wanted = multi_view(scores), tuples(scores)
    for one in range(len(wanted)):
        for other in range(len(wanted)):
            assert (got[one] < got[other]) == (wanted[one] < wanted[other])


@quickly
@given(SCORES, st.randoms())
def test_multi_view_does_not_depend_on_the_order_of_views(scores, random):
    shuffled = list(scores)
    random.shuffle(shuffled)
    assert np.array_equal(multi_view(np.array(shuffled)), multi_view(scores))


@quickly
@given(SCORES, st.randoms())
def test_multi_view_does_not_depend_on_the_order_of_documents(scores, random):
    columns = list(range(scores.shape[1]))
    random.shuffle(columns)
    assert np.array_equal(multi_view(scores[:, columns]), multi_view(scores)[columns])


@quickly
@given(SCORES)
def test_one_view_keeps_its_order(scores):
    row = scores[:1]
    assert np.array_equal(np.argsort(multi_view(row), kind="stable"), np.argsort(row[0], kind="stable"))


@quickly
@given(SCORES)
def test_the_same_view_twice_changes_nothing(scores):
    assert np.array_equal(multi_view(np.concatenate([scores, scores])), multi_view(scores))


def test_each_view_brings_its_best_document_before_the_second_of_any():
    views = np.array([[0.9, 0.8, 0.1, 0.0], [0.05, 0.1, 0.2, 0.3]], np.float32)
    assert np.argsort(-multi_view(views)).tolist() == [0, 3, 1, 2]


def test_multi_view_of_no_documents_is_empty():
    assert multi_view(np.zeros((2, 0), np.float32)).shape == (0,)


def test_the_first_of_cut_lists_are_those_of_all_documents():
    scores = np.random.default_rng(5).random((3, len(NAMES))).astype(np.float32)
    whole = np.argsort(-multi_view(scores))
    for k in range(1, len(NAMES) + 1):
        lists = [Ranked(np.argsort(-row)[:k], np.sort(row)[::-1][:k]) for row in scores]
        assert multi_view_lists(lists, NAMES).positions[:k].tolist() == whole[:k].tolist()


def test_peak_rank_goes_by_rank_then_similarity_then_name():
    lists = [ranked(("bee", 0.5), ("dog", 0.4)), ranked(("ant", 0.9), ("eel", 0.4)), ranked(("cat", 0.9))]
    found = peak_rank(lists, NAMES)
    assert order(found) == ["ant", "cat", "bee", "dog", "eel"]
    assert all(before >= after for before, after in pairwise(found.scores))


def test_peak_rank_breaks_ties_by_the_highest_similarity_anywhere_and_multi_view_by_that_of_the_best_rank():
    lists = [ranked(("ant", 0.3), ("bee", 0.2)), ranked(("cat", 0.9), ("ant", 0.8)), ranked(("bee", 0.4))]
    assert order(peak_rank(lists, NAMES)) == ["cat", "ant", "bee"]
    assert order(multi_view_lists(lists, NAMES)) == ["cat", "bee", "ant"]


def test_a_longer_trail_of_queries_does_not_outvote_the_best_rank():
    lists = [ranked(("ant", 0.9), ("bee", 0.1))] + [ranked(("cat", 0.2), ("bee", 0.1))] * 9
    assert order(peak_rank(lists, NAMES))[:2] == ["ant", "cat"]
    assert order(rrf(lists, NAMES))[0] == "bee"


def test_nothing_found_is_nothing():
    for fused in (peak_rank([], NAMES), multi_view_lists([], NAMES), rrf([], NAMES)):
        assert order(fused) == []


def test_reciprocal_ranks_add_up_with_their_weights():
    lists = [ranked(("ant", 9), ("bee", 8)), ranked(("bee", 1), ("cat", 0.5))]
    assert order(rrf(lists, NAMES)) == ["bee", "ant", "cat"]
    assert order(rrf(lists, NAMES, weights=[0, 1])) == ["bee", "cat", "ant"]
    assert order(rrf(lists, NAMES, constant=0, weights=[3, 1]))[0] == "ant"


def test_zscores_bring_scores_of_different_size_to_one_scale():
    scores = np.array([[1, 2, 3, 4], [1000, 2000, 3000, 4000]], np.float32)
    first, second = zscores(scores)
    assert np.allclose(first, second, atol=1e-5)
    assert first.mean() == pytest.approx(0, abs=1e-6)
    assert first.std() == pytest.approx(1, abs=1e-5)


def test_scores_that_are_all_the_same_say_nothing():
    assert np.array_equal(zscores(np.full((1, 4), 7.3, np.float32)), np.zeros((1, 4), np.float32))
    assert zscores(np.zeros((1, 0), np.float32)).shape == (1, 0)


def test_a_hybrid_weighs_its_rankers():
    meaning, words = Fixed([5, 4, 3, 2, 1]), Fixed([10, 20, 30, 40, 50])
    for weights, first in (((0.8, 0.2), "ant"), ((0.2, 0.8), "eel")):
        both = Hybrid([(meaning, weights[0]), (words, weights[1])])
        assert NAMES[both.top(["a query"], n=1)[0].positions[0]] == first
        assert hits(both.top(["a query"], n=2)[0], NAMES, k=2)[0].tool == first


def test_a_hybrid_scores_chosen_positions_as_it_scores_all():
    both = Hybrid([(Fixed([5, 4, 3, 2, 1]), 0.5), (Fixed([1, 9, 2, 8, 3]), 0.5)])
    chosen = np.array([3, 0])
    assert np.allclose(both.scores(["x", "y"], chosen), both.scores(["x", "y"])[:, chosen])


def test_a_hybrid_of_many_documents_finds_what_a_full_pass_finds():
    generator = np.random.default_rng(7)
    names = [f"t{number:04}" for number in range(2000)]
    parts = [(Fixed(generator.standard_normal(2000), names), weight) for weight in (0.7, 0.3)]
    full, candidates = Hybrid(parts), Hybrid(parts, full=1000, pool=150)
    (wanted,), (got,) = full.top(["q"], n=5), candidates.top(["q"], n=5)
    assert got.positions.tolist() == wanted.positions.tolist()
    assert np.allclose(got.scores, wanted.scores, atol=0.2)


def test_a_hybrid_refuses_rankers_of_different_indexes():
    with pytest.raises(ValueError, match="same documents"):
        Hybrid([(Fixed([1, 2], NAMES[:2]), 1), (Fixed([1, 2, 3], NAMES[:3]), 1)])
    with pytest.raises(ValueError, match="at least one"):
        Hybrid([])
