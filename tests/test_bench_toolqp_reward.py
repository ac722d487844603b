"""ToolQP's reward: each part by hand, and the environment that answers a planner."""

from math import log2

import pytest

pytest.importorskip("numpy")
import numpy as np

from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.conversation import opening, plan_text, query_text
from protocols.ask import Message
from toolflow_bench.toolqp.reward import Weights, answer, reward, similarity

STOP = "<stop_retrieval>"
FOUND = {
    "task": ["x1", "x2", "gold1"],
    "task plan": ["x1", "gold1", "x2"],
    "one": ["gold1", "x3"],
    "two": ["gold2", "x4"],
    "bad": ["x5", "x6"],
}


class Base:
    """Finds what the table says."""

    def search(self, query, *, k):
        return Retrieval(hits=tuple(Hit(name, 1 / rank) for rank, name in enumerate(FOUND.get(query, ())[:k], start=1)))


class Embedder:
    """Counts letters."""

    name, dimensions = "letters", 26

    def documents(self, texts):
        rows = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    queries = documents


def rollout(*turns):
    said = opening("task")
    for turn in turns:
        said += [Message("assistant", turn), Message("user", "…")]
    return said


def rewarded(*turns, gold=("gold1", "gold2"), **options):
    return reward(rollout(*turns), task="task", gold=gold, plan="plan", base=Base(), embedder=Embedder(), **options)


def test_a_rollout_that_finds_all_in_form_earns_each_part():
    earned = rewarded(plan_text("plan", ["a", "b"]), query_text("one"), query_text("two"), STOP)
    # Peak ranks: gold1, gold2, x1 at 1 (similarities 1, 1, 1: by name), so both gold tools stand first.
    before = (1 / log2(3)) / (1 + 1 / log2(3))
    assert earned.ndcg == pytest.approx(1 - before)
    assert earned.recall == 0.5
    assert (earned.form, earned.stop) == (1.0, 1.0)
    assert earned.plan == pytest.approx(1.0)
    assert earned.total == pytest.approx(5.0 * (1 - before) + 2.5 * 0.5 + 1.5 + 0.6 + 1.0)


def test_a_rollout_that_does_worse_than_the_base_loses():
    earned = rewarded(plan_text("plan", ["a"]), query_text("bad"), STOP, gold=("gold1",))
    assert earned.ndcg < 0
    assert earned.recall == 0


def test_turns_out_of_form_cost_their_share_though_they_are_searched():
    earned = rewarded("plan", "one", query_text("two"), STOP)
    assert earned.form == 0.5
    assert earned.recall == 0.5
    assert earned.plan == 0.0


@pytest.mark.parametrize("last", [query_text("two"), "two <stop_retrieval>?", "<query>x</query><stop_retrieval>"])
def test_a_rollout_that_does_not_end_with_the_tag_has_not_stopped(last):
    assert rewarded(plan_text("plan", ["a"]), last).stop == 0


def test_queries_behind_the_tenth_find_nothing():
    ten = [query_text(f"bad {number}") for number in range(10)]
    assert rewarded(plan_text("plan", ["a"]), *ten, query_text("two"), gold=("gold2",)).recall == 0
    assert rewarded(plan_text("plan", ["a"]), *ten[1:], query_text("two"), gold=("gold2",)).recall == 1


def test_an_empty_rollout_earns_nothing_for_form_and_plan():
    earned = rewarded()
    assert (earned.form, earned.stop, earned.plan) == (0, 0, 0)


def test_the_weights_are_the_papers_and_can_be_set():
    assert Weights() == Weights(ndcg=5.0, recall=2.5, form=1.5, stop=0.6, plan=1.0)
    silent = Weights(ndcg=0, recall=0, form=0, stop=0.6, plan=0)
    assert rewarded(plan_text("plan", ["a"]), STOP, weights=silent).total == pytest.approx(0.6)


def test_the_similarity_of_plans_is_a_cosine():
    assert similarity("aab", "aab", Embedder()) == pytest.approx(1.0)
    assert similarity("aa", "bb", Embedder()) == pytest.approx(0.0)
    assert similarity(" ", "bb", Embedder()) == 0.0


def test_the_environment_begins_shows_the_best_five_and_ends():
    documents = {"gold1": ToolDocument(name="gold1", description="The first")}

    def said(*turns):
        message = answer(rollout(*turns)[:-1] if turns else opening("task"), base=Base(), documents=documents)
        return message.content if message else None

    assert said(plan_text("plan", ["a"])) == "Begin retrieval."
    assert said("p", query_text("one")).endswith("query:\n1. gold1: The first\n2. x3")
    assert said("p", query_text(" ")).endswith("(nothing)")
    assert said("p", query_text("one"), STOP) is None
    assert said("p", *["one"] * 10) is None
    assert said("p", *["one"] * 9) is not None
    assert said() is None
