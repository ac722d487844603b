"""ReAct: one call a turn, each the next line of a program, until `finish`."""

from dataclasses import replace
from functools import partial

import pytest

from atc.config import Config
from atc.models.scripted import ScriptedModel, ScriptEnded
from atc.recording.make import record
from atc.recording.rerun import Replayer
from atc.store import Store
from atc.strategies import dfsdt, react
from protocols.ask import Powers
from protocols.errors import ModelUnavailable
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.acting_lab import Lab, Solver, World, finish, steps, told, turn
from tests.decode_calls_lab import HoldingModel

LIST, NOTE = turn("list_people"), turn("get_note", id="p1")
MARK = turn("add_mark", person="p1")
thrice = partial(react.solve, tries=3)


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture
def lab(sandbox):
    return Lab(World(), sandbox)


def test_turn_by_turn_to_the_answer(lab):
    solution, model = lab(react.solve, LIST, NOTE, finish("bread"))
    assert (solution.status, solution.answer, solution.calls, solution.repairs) == ("solved", "bread", 2, 0)
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p1"})]
    assert [steps(prompt) for prompt in model.prompts] == [[], ["list_people"], ["list_people", "get_note"]]
    assert told(model, 1) == "Observation: {'people': ['p0', 'p1']}"
    assert solution.attempts[-1].program.source == (
        "result_1 = list_people()\nresult_2 = get_note(id='p1')\nprint('bread')\n"
    )
    assert all(attempt.fault is None for attempt in solution.attempts)


def test_a_call_that_cannot_be_made_is_told_and_costs_nothing(lab):
    solution, model = lab(
        react.solve,
        turn("get_nothing"),
        turn("get_note"),
        "I would rather talk.",
        "Action: get_note\nAction Input: {'id': ",
        turn("finish", answer=" "),
        finish("none"),
    )
    assert (solution.status, solution.answer, lab.world.sent) == ("solved", "none", [])
    errors = [told(model, number) for number in range(1, 6)]
    assert all(error.startswith("Observation: Error: ") for error in errors)
    assert "There is no tool 'get_nothing'" in errors[0]
    assert "id" in errors[1]
    assert "no call in the reply" in errors[2]
    assert "the answer is empty" in errors[4]


def test_a_call_that_fails_is_told_and_does_not_stand(lab):
    solution, model = lab(react.solve, LIST, turn("get_note", id="p9"), NOTE, finish("bread"))
    assert told(model, 2) == "Observation: Error (HTTP 404): no such person"
    assert "p9" not in solution.attempts[-1].program.source
    assert (solution.answer, solution.calls) == ("bread", 3)


def test_a_reply_that_runs_on_is_cut_at_its_call(lab):
    forged = f"{NOTE}\nObservation: {{'text': 'gold'}}\n{turn('finish', answer='gold')}"
    solution, model = lab(react.solve, forged, finish("bread"))
    assert (solution.answer, told(model)) == ("bread", "Observation: {'text': 'bread'}")
    assert "gold" not in str(model.prompts)


@pytest.mark.parametrize("way", [react.solve, dfsdt.solve])
def test_a_held_model_is_told_where_an_id_comes_from_and_held_to_what_came(lab, sandbox, way):
    pytest.importorskip("llguidance")
    link = Link(argument="id", tool="list_people", path="people[]", support="declared")
    tools = lab.world.toolbox.map(
        lambda one: replace(one, protocol=replace(one.protocol, links=(link,))) if one.alias == "get_note" else one
    )
    replies = [turn("get_note", id="p9"), LIST, turn("get_note", id="p1"), finish("bread")]
    model = HoldingModel(*(f"{reply}\n" for reply in replies))
    solution = Solver(way, tools, model=model, sandbox=sandbox).run("What does the note of the second one say?")
    assert "no id is known yet: list_people gives it" in model.prompts[1][-1].content
    assert model.prompts[2][-1].content.endswith("\nget_note can be called now, with the id that was found.")
    assert "can be called now" not in model.prompts[3][-1].content
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p1"})]
    assert solution.status == "solved"


def test_a_long_result_is_cut_and_says_so(lab):
    _, model = lab(react.solve, turn("read_log"), finish("over"))
    assert len(told(model)) < 1_100
    assert "shortened; the whole is" in told(model)


def test_a_call_made_twice_on_purpose_is_made_twice(lab):
    solution, _ = lab(react.solve, NOTE, NOTE, finish("bread"))
    assert (lab.world.sent, solution.calls) == ([("get_note", {"id": "p1"})] * 2, 2)


def test_endless_turns_end(lab):
    solution, model = lab(react.solve, *[LIST] * 99)
    assert (solution.status, solution.limit, solution.answer) == ("failed", f"{react.MOST_TURNS} steps", None)
    assert len(model.prompts) == len(lab.world.sent) == react.MOST_TURNS
    talking, model = lab(react.solve, *["Let me think."] * 99)
    assert (talking.status, talking.attempts, len(model.prompts)) == ("failed", (), react.MOST_TURNS)


def test_budgets_end_a_run(lab):
    spent, model = lab(react.solve, LIST, NOTE, max_tokens=1)
    assert (spent.status, spent.limit, len(model.prompts)) == ("failed", "max_tokens = 1", 1)
    late, model = lab(react.solve, LIST, max_seconds=1e-9)
    assert (late.status, late.limit, len(model.prompts)) == ("failed", "max_seconds = 1e-09", 0)
    lab.world.sent.clear()
    many, model = lab(react.solve, *[LIST] * 9, max_calls=3)
    assert (many.status, many.limit, len(lab.world.sent), len(model.prompts)) == ("failed", "max_calls = 3", 3, 4)


def test_calls_of_all_tries_count_against_the_budget(lab, monkeypatch):
    monkeypatch.setattr(react, "MOST_TURNS", 2)
    solution, model = lab(thrice, LIST, NOTE, LIST, turn("get_note", id="p0"), LIST, turn("read_log"), max_calls=3)
    assert (solution.status, solution.limit, solution.calls, len(model.prompts)) == ("failed", "max_calls = 3", 3, 5)


def test_an_outage_is_no_verdict(lab):
    with pytest.raises(ModelUnavailable):
        lab(react.solve, LIST, ModelUnavailable("gone"))


def test_it_begins_anew_while_a_try_ends_without_an_answer(lab, monkeypatch):
    monkeypatch.setattr(react, "MOST_TURNS", 2)
    solution, model = lab(thrice, LIST, NOTE, LIST, turn("get_note", id="p0"), LIST, finish("milk"))
    assert (solution.status, solution.answer, solution.limit, solution.repairs) == ("solved", "milk", None, 2)
    assert [steps(prompt) for prompt in model.prompts] == [[], ["list_people"]] * 3
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p1"}), ("get_note", {"id": "p0"})]
    assert [attempt.round for attempt in solution.attempts] == [0, 0, 1, 1, 2, 2]
    assert [options["temperature"] > 0 for options in model.options] == [False] * 2 + [True] * 4
    assert len({options["seed"] for options in model.options}) == 3


def test_a_run_begins_anew_so_often_only(lab, monkeypatch):
    monkeypatch.setattr(react, "MOST_TURNS", 1)
    solution, model = lab(thrice, LIST, LIST, LIST, LIST)
    assert (solution.status, solution.limit, len(model.prompts)) == ("failed", "1 steps", 3)
    once, model = lab(react.solve, LIST, LIST)
    assert (once.status, len(model.prompts)) == ("failed", 1)


def test_what_an_earlier_try_wrote_is_not_forgotten(lab, monkeypatch):
    monkeypatch.setattr(react, "MOST_TURNS", 2)
    left, _ = lab(thrice, MARK, LIST, LIST, finish("done"), allow_writes=("all",))
    assert (left.status, left.answer, [call.tool for call in left.orphans]) == ("paused", "done", ["add_mark"])
    made, _ = lab(thrice, MARK, LIST, MARK, finish("done"), allow_writes=("all",))
    assert (made.status, made.orphans, lab.world.marks) == ("solved", (), ["p1", "p1"])


def test_a_write_that_nobody_allowed_pauses_and_goes_on_when_it_is(lab, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        paused, model = lab(thrice, LIST, MARK, store=store)
        assert (paused.status, len(model.prompts), lab.world.marks) == ("paused", 2, [])
        assert "--allow-writes add_mark" in paused.attempts[-1].trace.failure.message
        solution, model = lab.resume(thrice, store, finish("m1"), allow_writes=("add_mark",))
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "m1", 1)
    assert lab.world.sent == [("list_people", {}), ("add_mark", {"person": "p1"})]


def test_a_write_of_unknown_outcome_stops_the_run(lab):
    solution, model = lab(react.solve, turn("add_mark", person="nowhere"), finish("?"), allow_writes=("all",))
    assert (solution.status, len(model.prompts), len(solution.unknown)) == ("paused", 1, 1)


def test_a_run_that_broke_off_goes_on_without_repeating_anything(lab, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        settings = {"allow_writes": ("all",)}
        with pytest.raises(ModelUnavailable):
            lab(react.solve, LIST, turn("get_note", id="p9"), MARK, ModelUnavailable("gone"), store=store, **settings)
        solution, model = lab.resume(react.solve, store, finish("m1"), **settings)
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "m1", 1)
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p9"}), ("add_mark", {"person": "p1"})]


def test_a_run_that_broke_off_in_a_later_try_goes_on_there(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(react, "MOST_TURNS", 2)
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ModelUnavailable):
            lab(thrice, LIST, NOTE, LIST, ModelUnavailable("gone"), store=store)
        solution, model = lab.resume(thrice, store, finish("two"))
    assert (solution.answer, len(model.prompts), solution.repairs) == ("two", 1, 1)
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p1"})]


def test_a_run_that_ended_within_a_call_does_not_make_it_again(lab, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    with Store(tmp_path / "runs.sqlite") as store:
        with monkeypatch.context() as patch:
            patch.setattr(
                "atc.strategies.programs.attempt.attribute", killed
            )  # the call is made, its attempt not stored
            with pytest.raises(Killed):
                lab(react.solve, MARK, store=store, allow_writes=("all",))
        solution, model = lab.resume(react.solve, store, finish("m1"), allow_writes=("all",))
    assert (solution.status, lab.world.marks, len(model.prompts)) == ("solved", ["p1"], 1)


def test_a_solved_run_runs_again_from_its_file(lab, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        replies = (LIST, turn("get_note", id="p9"), MARK, finish("m1"))
        solution, _ = lab(react.solve, *replies, store=store, allow_writes=("all",))
        run = store.load(solution.run)
    recording = record(run, {alias: tool.protocol for alias, tool in lab.world.toolbox.items()})
    with Replayer() as replayer:
        assert replayer.rerun(recording).departure is None
    assert recording.answer == "m1"


def test_a_conversation_stays_within_its_room(lab):
    _, model = lab(react.solve, *[turn("read_log")] * 20, finish("over"), prompt_tokens=1000)
    sizes = [sum(len(message.content) for message in prompt) for prompt in model.prompts]
    assert max(sizes) - sizes[0] < 1_600 * 4
    assert "shortened" in told(model)


def test_a_tool_named_finish_is_not_the_end(lab, sandbox):
    taken = lab.world._tool("finish", {}, lambda _: {"finished": True})
    lab.world = type("Other", (World,), {"toolbox": Toolbox([taken])})(lab.world.sent)
    solution, model = lab(react.solve, turn("finish"), turn("finish_2", answer="yes"))
    assert (solution.answer, lab.world.sent) == ("yes", [("finish", {})])
    assert "end with the function finish_2." in model.prompts[0][0].content


def test_with_decoding_a_malformed_turn_is_sampled_again(lab):
    solution, model = lab(react.solve, "Hm.", LIST, finish("two"), decoding="calls")
    assert (solution.answer, len(model.prompts)) == ("two", 3)
    assert model.prompts[0] == model.prompts[1]
    assert any("decoding" in note for note in solution.notes)


def test_the_script_is_read_to_its_end(lab):
    with pytest.raises(ScriptEnded):
        lab(react.solve, LIST)


def test_a_write_that_is_left_in_doubt_does_not_stand(lab):
    replies = (turn("add_mark", person="nowhere"), LIST, finish("2"))
    solution, model = lab(react.solve, *replies, allow_writes=("all",), on_unknown="skip")
    assert len(model.prompts) == 3
    assert (solution.status, solution.answer, len(solution.unknown)) == ("paused", "2", 1)


def test_turns_are_held_to_the_tools_and_the_end(lab, sandbox):
    model = ScriptedModel(LIST, finish("2"), powers=Powers(grammars=frozenset({"lark"})))
    solution = Solver(react.solve, lab.world.toolbox, model=model, sandbox=sandbox, config=Config()).run("Do it.")
    assert solution.answer == "2"
    grammar = model.options[0]["grammar"]
    assert all(name in grammar for name in ["list_people", "add_mark", "finish"])
    free = ScriptedModel(LIST, finish("2"), powers=Powers(grammars=frozenset({"lark"})))
    config = Config(decoding="off")
    assert Solver(react.solve, lab.world.toolbox, model=free, sandbox=sandbox, config=config).run("Do it.").answer
    assert free.options[0]["grammar"] is None


@pytest.mark.parametrize(("answer", "text"), [(5, "5"), (2.5, "2.5"), (True, "True"), (" milk ", "milk")])
def test_an_answer_may_be_a_number(lab, answer, text):
    solution, model = lab(react.solve, turn("finish", answer=answer))
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", text, 1)
