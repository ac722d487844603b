"""ToolQP's training data and reward: Algorithm 1 with a scripted teacher, each part of the reward by hand."""

import json
from math import log2

import pytest

pytest.importorskip("numpy")

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.base import Hit, Retrieval
from atc.pipeline.retrieve.document import ToolDocument
from benchmarks.retrieval.data import RetrievalQuery
from benchmarks.toolqp.__main__ import figures, make_all
from benchmarks.toolqp.planner import plan_text, planner_prompt, query_text, reward
from benchmarks.toolqp.trajectory import TrajectoryMaker
from protocols.errors import ModelUnavailable
from protocols.model import Message
from tests.labs.rankers import BagOfWords, Overlap

DOCUMENTS = {
    name: ToolDocument(name=name, description=about, parameters={"address": ""})
    for name, about in {
        "MailCat": "MailCat sends a letter by electronic post",
        "ForecastNow": "Says how the weather will be",
    }.items()
}
QUERY = RetrievalQuery(id="q1", text="Mail Ann", gold=("MailCat",))
STOP = "<stop_retrieval>"


class Teacher(ScriptedModel):
    """Answers each kind of question by the key that its schema asks for, from a list or always the same."""

    def __init__(self, **replies):
        self._of = {
            key: list(value) if isinstance(value, list) else value for key, value in replies.items()
        }
        super().__init__(name="teacher")

    def __call__(self, messages, *, schema=None, **options):
        [key] = schema["required"]
        value = self._of[key]
        value = value.pop(0) if isinstance(value, list) and key != "order" else value
        if isinstance(value, Exception):
            raise value
        self._replies = (*self._replies, json.dumps({key: value}))
        return super().__call__(messages, schema=schema, **options)

    def asked(self, key):
        asked = zip(self.prompts, self.options, strict=True)
        return [
            prompt[-1].content for prompt, option in asked if option["schema"]["required"] == [key]
        ]


def making(query, teacher, **settings):
    return TrajectoryMaker(
        query, teacher, Overlap(DOCUMENTS), DOCUMENTS, **{"candidates": 1, **settings}
    )


def made(teacher, query=QUERY, **settings):
    return making(query, teacher, **settings).make()


def test_a_direct_hit_makes_a_trajectory():
    plan = "Given a task of mail, retrieve tools that send."
    found = made(Teacher(plan=plan, goal="Send a letter.", query="electronic post"))
    assert [(turn["role"], turn["content"]) for turn in found["messages"][1:]] == [
        ("user", "User query: Mail Ann"),
        ("assistant", plan_text(plan, ["Send a letter."])),
        ("user", "Begin retrieval."),
        ("assistant", "<query>electronic post</query>"),
        (
            "user",
            "System retrieved tools for previous query:\n1. MailCat: MailCat sends a letter by electronic post",
        ),
        ("assistant", STOP),
    ]
    assert (found["plan"], found["gold"]) == (plan, ["MailCat"])


def test_rounds_tell_more_but_never_the_name():
    queries = ["weather", "how will it be", "says how", "weather will be", "post"]
    teacher = Teacher(plan="Send mail.", goal="Send a letter.", query=queries)
    [step] = made(teacher)["steps"]
    assert step["attempts"] == [[query, 1 if query == "post" else 101] for query in queries]
    told = teacher.asked("query")
    assert ["sends a letter by electronic post" in one for one in told] == [
        False,
        True,
        True,
        True,
        True,
    ]
    assert ['The query "how will it be" was tried' in one for one in told] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert ["the whole plan behind it" in one for one in told] == [False, False, False, True, True]
    assert ['"parameters": ["address"]' in one for one in told] == [
        False,
        False,
        False,
        False,
        True,
    ]
    assert not any("MailCat" in one for one in told)


def test_interruptions_make_no_second_data_set(tmp_path):
    queries = [
        RetrievalQuery(id=f"q{n}", text="x", gold=("MailCat",), plan="Mail.") for n in range(3)
    ]
    header, out = {"format": "atc-toolqp-1"}, tmp_path / "conversations.jsonl"
    replies = {"goal": "S.", "query": ["letter", ModelUnavailable("down")]}
    with pytest.raises(ModelUnavailable):
        make_all(making, queries, Teacher(**replies), out, header)
    teacher = Teacher(goal=["S.", 7], query="letter")
    found = figures(make_all(making, queries, teacher, out, header))
    assert (found["requests"], found["trajectories"], found["dropped"]) == (
        3,
        2,
        {"no sub-goal": 1},
    )
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["q0", "q1"]
    assert len(teacher.asked("goal")) == 2


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
        return Retrieval(
            hits=tuple(
                Hit(name, 1 / rank) for rank, name in enumerate(FOUND.get(query, ())[:k], start=1)
            )
        )


def rollout(*turns):
    return planner_prompt("task") + [
        one for turn in turns for one in (Message("assistant", turn), Message("user", "…"))
    ]


def rewarded(*turns, gold=("gold1", "gold2")):
    return reward(
        rollout(*turns), task="task", gold=gold, plan="plan", base=Base(), embedder=BagOfWords()
    )


def test_a_perfect_rollout_earns_each_part():
    earned = rewarded(plan_text("plan", ["a", "b"]), query_text("one"), query_text("two"), STOP)
    before = (1 / log2(3)) / (1 + 1 / log2(3))
    assert earned["ndcg"] == pytest.approx(1 - before)
    assert (earned["recall"], earned["form"], earned["stop"]) == (0.5, 1.0, 1.0)
    assert earned["plan"] == pytest.approx(1.0)
    assert earned["total"] == pytest.approx(5.0 * (1 - before) + 2.5 * 0.5 + 1.5 + 0.6 + 1.0)


def test_each_fault_of_a_rollout_costs():
    assert rewarded(plan_text("plan", ["a"]), query_text("bad"), STOP, gold=("gold1",))["ndcg"] < 0
    out_of_form = rewarded("plan", "one", query_text("two"), STOP)
    assert (out_of_form["form"], out_of_form["recall"], out_of_form["plan"]) == (0.5, 0.5, 0.0)
    for last in (query_text("two"), "two <stop_retrieval>?", "<query>x</query><stop_retrieval>"):
        assert rewarded(plan_text("plan", ["a"]), last)["stop"] == 0
    ten = [query_text(f"bad {number}") for number in range(10)]
    assert (
        rewarded(plan_text("plan", ["a"]), *ten, query_text("two"), gold=("gold2",))["recall"] == 0
    )
    assert (
        rewarded(plan_text("plan", ["a"]), *ten[1:], query_text("two"), gold=("gold2",))["recall"]
        == 1
    )
    assert rewarded()["form"] == 0
