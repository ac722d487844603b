"""DFSDT: where a way leads nowhere, an earlier point is taken up again, and something else is done there."""

import pytest

from atc.strategies import dfsdt
from tests.labs.acting import Lab, World, finish, steps, told, turn

LIST, LOG = turn("list_people"), turn("read_log")
NOTE0, NOTE1 = turn("get_note", id="p0"), turn("get_note", id="p1")
MARK = turn("add_mark", person="p1")
BACK = turn("go_back", reason="a dead end")


@pytest.fixture
def lab(sandbox):
    return Lab(World(), sandbox)


def again(prompt):
    """The turns that a prompt says were taken from here before."""
    _, asks, rest = prompt[-1].content.partition("You have been at this point before.")
    return (
        [line.removeprefix("Action: ") for line in rest.splitlines() if line.startswith("Action: ")]
        if asks
        else None
    )


def searched(prompts):
    """Of each prompt: the way to its point, and what was done there before."""
    return [(steps(prompt), again(prompt)) for prompt in prompts]


def test_giving_up_goes_back_two_levels(lab):
    solution, model = lab(dfsdt.solve, LIST, NOTE0, BACK, NOTE1, finish("bread"))
    assert searched(model.prompts) == [
        ([], None),
        (["list_people"], None),
        (["list_people", "get_note"], None),
        (["list_people"], ["get_note"]),
        (["list_people", "get_note"], None),
    ]
    shown = told(model, 3)
    assert "Action Input: {\"id\": \"p0\"}\nObservation: {'text': 'milk'}" in shown
    assert "Do not do any of it again." in shown
    assert "You have been" not in str(model.prompts[4])
    assert (solution.status, solution.answer, solution.call_count) == ("solved", "bread", 3)
    assert solution.attempts[-1].program.source == (
        "result_1 = list_people()\nresult_2 = get_note(id='p1')\nprint('bread')\n"
    )
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note", "get_note"]


def test_going_too_deep_goes_back_one_level(lab, monkeypatch):
    monkeypatch.setattr(dfsdt, "DEPTH", 2)
    solution, model = lab(dfsdt.solve, LIST, NOTE0, NOTE1, LOG, finish("over"))
    assert searched(model.prompts) == [
        ([], None),
        (["list_people"], None),
        (["list_people"], ["get_note"]),
        ([], ["list_people"]),
        (["read_log"], None),
    ]
    assert solution.answer == "over"
    assert solution.attempts[-1].program.source == "result_1 = read_log()\nprint('over')\n"


def test_the_search_ends_without_ways_left(lab, monkeypatch):
    monkeypatch.setattr(dfsdt, "DEPTH", 2)
    solution, model = lab(dfsdt.solve, *[LIST] * 99)
    assert (solution.status, solution.limit, solution.answer) == ("failed", None, None)
    assert len(model.prompts) == 6  # 2 + 4 points of a tree of width and depth 2
    assert solution.attempts[-1].fault.message == "No way that was tried led to an answer."
    given_up, model = lab(dfsdt.solve, BACK, LIST)
    assert (given_up.status, given_up.limit, len(model.prompts)) == ("failed", None, 1)
    (only,) = given_up.attempts
    assert (only.fault.kind, only.fault.message, only.trace) == ("no_answer", "a dead end", None)


def test_other_ways_reuse_equal_calls(lab):
    solution, _ = lab(dfsdt.solve, LIST, NOTE0, BACK, NOTE0, finish("milk"))
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note"]
    assert (solution.answer, solution.call_count) == ("milk", 2)


def test_what_an_abandoned_way_wrote_is_an_orphan(lab):
    solution, _ = lab(dfsdt.solve, LIST, MARK, BACK, NOTE1, finish("bread"), allow_writes=("all",))
    assert (solution.status, solution.answer) == ("paused", "bread")
    assert [(call.tool, call.arguments) for call in solution.orphans] == [
        ("add_mark", {"person": "p1"})
    ]


def test_made_or_undone_writes_are_no_orphans(lab):
    made, _ = lab(dfsdt.solve, LIST, MARK, BACK, MARK, finish("m1"), allow_writes=("all",))
    assert (made.status, made.orphans, lab.world.marks) == ("solved", (), ["p1"])
    drop = turn("drop_mark", mark_id="m2")
    undone, _ = lab(dfsdt.solve, LIST, MARK, BACK, drop, finish("gone"), allow_writes=("all",))
    assert (undone.status, undone.orphans) == ("solved", ())
