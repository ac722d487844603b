"""DFSDT: where a way leads nowhere, an earlier point is taken up again, and something else is done there."""

from functools import partial

import pytest

from atc.recording.make import record
from atc.recording.rerun import Replayer
from atc.store import Store
from atc.strategies import dfsdt, react
from atc.strategies.turns.acting import Acting, offered
from atc.strategies.turns.conversation import Turns, room_for_turns
from protocols.errors import ModelUnavailable
from protocols.toolbox import Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.acting_lab import TEXT, Lab, World, finish, steps, told, turn

LIST, LOG = turn("list_people"), turn("read_log")
NOTE0, NOTE1 = turn("get_note", id="p0"), turn("get_note", id="p1")
MARK = turn("add_mark", person="p1")
BACK = turn("go_back", reason="a dead end")
thrice = partial(dfsdt.solve, tries=3)


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture
def lab(sandbox):
    return Lab(World(), sandbox)


def again(prompt):
    """The turns that a prompt says were taken from here before."""
    _, asks, rest = prompt[-1].content.partition("You have been at this point before.")
    return (
        [line.removeprefix("Action: ") for line in rest.splitlines() if line.startswith("Action: ")] if asks else None
    )


def searched(prompts):
    """Of each prompt: the way to its point, and what was done there before."""
    return [(steps(prompt), again(prompt)) for prompt in prompts]


def test_without_a_dead_end_it_is_react(lab):
    solution, model = lab(dfsdt.solve, LIST, NOTE1, finish("bread"))
    assert (solution.status, solution.answer, solution.calls) == ("solved", "bread", 2)
    assert searched(model.prompts) == [([], None), (["list_people"], None), (["list_people", "get_note"], None)]


def test_a_way_given_up_goes_back_by_two_levels(lab):
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
    assert (solution.status, solution.answer, solution.calls) == ("solved", "bread", 3)
    assert solution.attempts[-1].program.source == (
        "result_1 = list_people()\nresult_2 = get_note(id='p1')\nprint('bread')\n"
    )
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note", "get_note"]


def test_a_point_that_both_ways_left_goes_back_one_level(lab):
    replies = [LIST, NOTE0, LOG, BACK, LOG, finish("over")]
    # 3rd and 4th: the way list_people, get_note, read_log is left, and the point after get_note taken up again.
    solution, model = lab(dfsdt.solve, *replies)
    assert searched(model.prompts)[4:] == [
        (["list_people", "get_note"], ["read_log"]),
        (["list_people", "get_note", "read_log"], None),
    ]
    assert solution.answer == "over"
    replies = [LIST, NOTE0, LOG, BACK, LOG, BACK, NOTE1, finish("bread")]
    solution, model = lab(dfsdt.solve, *replies)
    assert searched(model.prompts)[6:] == [(["list_people"], ["get_note"]), (["list_people", "get_note"], None)]
    assert solution.answer == "bread"


def test_a_way_that_is_too_deep_is_left_by_one_level(lab, monkeypatch):
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


def test_the_search_is_over_when_no_way_is_left(lab, monkeypatch):
    monkeypatch.setattr(dfsdt, "DEPTH", 2)
    solution, model = lab(dfsdt.solve, *[LIST] * 99)
    assert (solution.status, solution.limit, solution.answer) == ("failed", None, None)
    assert len(model.prompts) == 6  # 2 + 4 points of a tree of width and depth 2
    assert solution.attempts[-1].fault.message == "No way that was tried led to an answer."
    given_up, model = lab(dfsdt.solve, BACK, LIST)
    assert (given_up.status, given_up.limit, len(model.prompts)) == ("failed", None, 1)
    (only,) = given_up.attempts
    assert (only.fault.kind, only.fault.message, only.trace) == ("no_answer", "a dead end", None)


def test_endless_turns_end(lab):
    talking, model = lab(dfsdt.solve, *["Let me think."] * 999)
    assert (talking.status, talking.limit, talking.attempts) == ("failed", f"{dfsdt.MOST_TURNS} steps", ())
    assert len(model.prompts) == dfsdt.MOST_TURNS
    many, _ = lab(dfsdt.solve, *[LIST] * 99, max_calls=5)
    assert (many.limit, many.calls) == ("max_calls = 5", 5)
    spent, model = lab(dfsdt.solve, LIST, LIST, max_tokens=1)
    assert (spent.limit, len(model.prompts)) == ("max_tokens = 1", 1)


def test_malformed_turns_are_ways_too(lab):
    solution, model = lab(dfsdt.solve, turn("get_nothing"), "Hm.", LIST, BACK, "Hm again.", finish("two"))
    assert (solution.status, solution.answer) == ("solved", "two")
    assert "There is no tool 'get_nothing'" in told(model, 1)
    assert "no call in the reply" in told(model, 2)
    assert searched(model.prompts)[4] == (["get_nothing", ""], ["list_people"])


def test_the_same_call_on_another_way_is_answered_by_the_journal(lab):
    solution, _ = lab(dfsdt.solve, LIST, NOTE0, BACK, NOTE0, finish("milk"))
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note"]
    assert (solution.answer, solution.calls) == ("milk", 2)


def test_what_an_abandoned_way_wrote_is_an_orphan(lab):
    solution, _ = lab(dfsdt.solve, LIST, MARK, BACK, NOTE1, finish("bread"), allow_writes=("all",))
    assert (solution.status, solution.answer) == ("paused", "bread")
    assert [(call.tool, call.arguments) for call in solution.orphans] == [("add_mark", {"person": "p1"})]


def test_a_write_that_the_last_way_makes_or_undoes_is_no_orphan(lab):
    made, _ = lab(dfsdt.solve, LIST, MARK, BACK, MARK, finish("m1"), allow_writes=("all",))
    assert (made.status, made.orphans, lab.world.marks) == ("solved", (), ["p1"])
    drop = turn("drop_mark", mark_id="m2")
    undone, _ = lab(dfsdt.solve, LIST, MARK, BACK, drop, finish("gone"), allow_writes=("all",))
    assert (undone.status, undone.orphans) == ("solved", ())


def test_a_write_that_nobody_allowed_pauses_and_goes_on_when_it_is(lab, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        paused, model = lab(dfsdt.solve, LIST, NOTE0, BACK, MARK, store=store)
        assert (paused.status, len(model.prompts), lab.world.marks) == ("paused", 4, [])
        solution, model = lab.resume(dfsdt.solve, store, finish("m1"), allow_writes=("add_mark",))
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "m1", 1)
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note", "add_mark"]


@pytest.mark.parametrize("done", range(5))
def test_a_run_that_broke_off_goes_on_without_repeating_anything(lab, tmp_path, done):
    replies = [LIST, MARK, BACK, MARK, finish("m1")]
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ModelUnavailable):
            lab(dfsdt.solve, *replies[:done], ModelUnavailable("gone"), store=store, allow_writes=("all",))
        solution, model = lab.resume(dfsdt.solve, store, *replies[done:], allow_writes=("all",))
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "m1", 5 - done)
    assert [name for name, _ in lab.world.sent] == ["list_people", "add_mark"]


def test_it_begins_anew_while_a_search_finds_nothing(lab):
    solution, model = lab(thrice, BACK, LIST, BACK, LIST, BACK, LIST, NOTE1, finish("bread"))
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "bread", 2)
    assert [way for way, _ in searched(model.prompts)][:2] == [[], []]
    assert [name for name, _ in lab.world.sent] == ["list_people", "get_note"]
    never, model = lab(thrice, BACK, BACK, BACK, BACK)
    assert (never.status, len(model.prompts)) == ("failed", 3)


def test_a_solved_run_runs_again_from_its_file(lab, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        solution, _ = lab(dfsdt.solve, LIST, NOTE0, BACK, NOTE1, finish("bread"), store=store)
        run = store.load(solution.run)
    recording = record(run, {alias: tool.protocol for alias, tool in lab.world.toolbox.items()})
    with Replayer() as replayer:
        assert replayer.rerun(recording).departure is None
    assert recording.answer == "bread"


# --- as a solver within another strategy


@pytest.fixture
def within(lab):
    """Runs `body(turns, offer, acting)` within a run, and gives what it gave."""

    def run(body, *replies, **settings):
        given = []

        def solve(task, parts):
            meter = parts.meter()
            offer = offered(parts.toolbox, back=True, give_up=True)
            budget = parts.prompt_tokens
            turns = Turns(react.opening(task, parts.toolbox, offer, budget=budget), room_for_turns(budget))
            acting = Acting(parts, meter)
            given.append(body(turns, offer, acting))
            return react.solved(task, parts.toolbox, turns, acting, tries=0, once=lambda n: given[0])

        _, model = lab(solve, *replies, **settings)
        return given[0], model

    return run


def test_giving_up_ends_a_search_with_its_reason(within):
    giving_up = turn("give_up", reason="no such data", functions=["read_log"])

    def body(turns, offer, acting):
        ended = dfsdt.search(turns, offer, acting)
        return ended, [one.tool for one in turns.taken], [action.tool for action in acting.standing]

    (ended, way, standing), model = within(body, LIST, LOG, giving_up)
    assert (ended.turn.end, ended.turn.reason, ended.turn.functions) == ("give_up", "no such data", ("read_log",))
    assert (ended.answer, way, standing) == (None, ["list_people", "read_log", "give_up"], ["list_people", "read_log"])
    assert "go_back" in model.prompts[0][0].content
    assert "give_up" in model.prompts[0][0].content


def test_a_search_goes_on_from_turns_that_stand(within):
    def body(turns, offer, acting):
        dfsdt.search(turns, offer, acting)
        dropped = ("read_log", "give_up")
        turns.without(dropped)
        acting.without(dropped)
        ended = dfsdt.search(turns, offer, acting)
        return ended, acting.answer(ended.answer)

    giving_up = turn("give_up", reason="too long", functions=["read_log"])
    (ended, attempt), model = within(body, LIST, LOG, giving_up, LOG, BACK, NOTE1, finish("bread"))
    assert searched(model.prompts)[3:] == [
        (["list_people"], None),
        (["list_people", "read_log"], None),
        (["list_people"], ["read_log"]),
        (["list_people", "get_note"], None),
    ]
    assert (ended.answer, attempt.answer) == ("bread", "bread")
    assert attempt.program.source.count("read_log") == 0


def test_a_search_may_be_given_a_bound_of_calls(within):
    def body(turns, offer, acting):
        return dfsdt.search(turns, offer, acting, most_calls=2), acting.made, len(turns.taken)

    (ended, made, taken), _ = within(body, LIST, NOTE0, NOTE1)
    assert (ended.answer, ended.limit, made, taken) == (None, "2 calls", 2, 2)

    def chain(turns, offer, acting):
        return react.chain_of_turns(turns, offer, acting, most_calls=2), acting.made, len(turns.taken)

    (ended, made, taken), _ = within(chain, LIST, NOTE0, finish("milk"))
    assert (ended.answer, ended.limit, made, taken) == ("milk", None, 2, 3)


class Marked(World):
    """Marks can be listed, and are gone when they are dropped."""

    @property
    def toolbox(self):
        def drop(given):
            self.marks.remove("p1")
            return given

        listing = self._tool("list_marks", {}, lambda _: {"marks": list(self.marks)})
        dropping = self._tool("drop_mark", {"mark_id": TEXT}, drop, reads=False, destructive=True)
        return Toolbox([*super().toolbox.only(["list_people", "add_mark"]).values(), dropping, listing])


MARKS, FIRST = turn("list_marks"), [turn("list_marks"), MARK, BACK, BACK, turn("list_marks")]


def test_a_read_before_an_abandoned_write_is_that_of_a_world_without_it(sandbox):
    lab = Lab(Marked(), sandbox)
    solution, model = lab(dfsdt.solve, *FIRST, finish("none"), allow_writes=("all",))
    assert told(model) == "Observation: {'marks': []}"
    assert lab.world.sent.count(("list_marks", {})) == 1
    assert (solution.status, [call.tool for call in solution.orphans]) == ("paused", ["add_mark"])


def test_what_is_read_behind_the_call_that_undid_a_write_is_read_anew(sandbox):
    lab = Lab(Marked(), sandbox)
    undo = turn("drop_mark", mark_id="m1")
    solution, model = lab(dfsdt.solve, *FIRST, undo, MARKS, finish("p1"), allow_writes=("all",))
    assert told(model) == "Observation: {'marks': []}"
    assert lab.world.sent.count(("list_marks", {})) == 2
    assert (solution.status, solution.orphans) == ("solved", ())
