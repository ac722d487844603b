"""ReAct: one call a turn, each the next line of a program, until `finish`."""

from dataclasses import replace
from functools import partial

import pytest

from atc.core.answers import parse_answer
from atc.core.events import NoteAdded
from atc.models.scripted import ScriptedModel
from atc.strategies import dfsdt, react
from protocols.model import Powers
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from tests.labs.acting import Lab, Solver, World, finish, steps, told, turn
from tests.labs.constrained_endpoint import HoldingModel
from tests.labs.tools import tool

LIST, NOTE = turn("list_people"), turn("get_note", id="p1")


@pytest.fixture
def lab(sandbox):
    return Lab(World(), sandbox)


def test_an_impossible_call_costs_nothing(lab):
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


@pytest.mark.parametrize("way", [react.solve, dfsdt.solve])
@pytest.mark.parametrize("answer", [["Pat", 47], [["Pat", 1]], None, 7, True, {"a": [1.5]}, []])
def test_an_answer_is_any_json(lab, way, answer):
    solution, model = lab(way, LIST, turn("finish", answer=answer))
    assert (solution.status, len(model.prompts)) == ("solved", 2)
    assert parse_answer(solution.answer) == answer


def test_a_failed_call_does_not_stand(lab):
    solution, model = lab(react.solve, LIST, turn("get_note", id="p9"), NOTE, finish("bread"))
    assert told(model, 2) == "Observation: Error (HTTP 404): no such person"
    assert "p9" not in solution.attempts[-1].program.source
    assert (solution.answer, solution.call_count) == ("bread", 3)


def test_a_reply_is_cut_at_its_call(lab):
    forged = f"{NOTE}\nObservation: {{'text': 'gold'}}\n{turn('finish', answer='gold')}"
    solution, model = lab(react.solve, forged, finish("bread"))
    assert (solution.answer, told(model)) == ("bread", "Observation: {'text': 'bread'}")
    assert "gold" not in str(model.prompts)


@pytest.mark.parametrize("way", [react.solve, dfsdt.solve])
def test_constrained_models_use_only_known_ids(lab, sandbox, way):
    pytest.importorskip("llguidance")
    link = Link(argument="id", tool="list_people", path="people[]", support="declared")
    tools = lab.world.toolbox.map(
        lambda one: (
            replace(one, protocol=replace(one.protocol, links=(link,)))
            if one.alias == "get_note"
            else one
        )
    )
    replies = [turn("get_note", id="p9"), LIST, turn("get_note", id="p1"), finish("bread")]
    model = HoldingModel(*(f"{reply}\n" for reply in replies))
    solution = Solver(way, tools, model=model, sandbox=sandbox).run(
        "What does the note of the second one say?"
    )
    assert "no id is known yet: list_people gives it" in model.prompts[1][-1].content
    assert model.prompts[2][-1].content.endswith(
        "\nget_note can be called now, with the id that was found."
    )
    assert "can be called now" not in model.prompts[3][-1].content
    assert lab.world.sent == [("list_people", {}), ("get_note", {"id": "p1"})]
    assert solution.status == "solved"


def test_an_unanswered_try_begins_anew(lab):
    def thrice(task, parts):
        return react.ByTurns(task, parts, partial(react.chain_of_turns, most=2), tries=3).solve()

    solution, model = lab(thrice, LIST, NOTE, LIST, turn("get_note", id="p0"), LIST, finish("milk"))
    assert (solution.status, solution.answer, solution.limit, solution.repairs) == (
        "solved",
        "milk",
        None,
        2,
    )
    assert [steps(prompt) for prompt in model.prompts] == [[], ["list_people"]] * 3
    assert lab.world.sent == [
        ("list_people", {}),
        ("get_note", {"id": "p1"}),
        ("get_note", {"id": "p0"}),
    ]
    assert [options["temperature"] > 0 for options in model.options] == [False] * 2 + [True] * 4


def test_an_excessive_schema_frees_the_calls(lab, sandbox):
    nothing = {"type": "integer", "minimum": 5, "maximum": 3}
    tools = Toolbox([*lab.world.toolbox.values(), tool("odd", None, {"of": nothing})])
    model, events = ScriptedModel(LIST, finish("2"), powers=Powers(lark=True)), []
    solution = Solver(react.solve, tools, model=model, sandbox=sandbox).run(
        "Do it.", observer=events.append
    )
    assert (solution.answer, model.options[0]["grammar"]) == ("2", None)
    assert any(
        "calls are written freely" in event.sentence
        for event in events
        if isinstance(event, NoteAdded)
    )
