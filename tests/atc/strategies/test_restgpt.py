"""RestGPT: planner, selector, caller and parser driven by scripted replies over the real sandbox."""

from __future__ import annotations

import json

import pytest

from atc.models.scripted import ScriptedModel
from atc.strategies.restgpt import read_plan
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.acting import heard, told
from tests.labs.tools import fenced as code
from tests.labs.tools import record, tool

PEOPLE = record(
    people={"type": "array", "items": record(id="string", name="string")}, count="integer"
)
ADA = [{"id": "p1", "name": "Ada"}]
TASK = "What does Ada's note say?"


@pytest.fixture
def sent():
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def toolbox(sent):
    def get_note(arguments):
        if arguments["id"] == "p9":
            raise ToolError(404, "no such person")
        return {"text": f"note of {arguments['id']}", "more": "x" * 9_000}

    about = {"description": "It does it. And more.", "sent": sent}
    return Toolbox(
        [
            tool("find_people", {"people": ADA, "count": 1}, {"name": "string"}, PEOPLE, **about),
            tool("get_note", get_note, {"id": "string"}, **about),
        ]
    )


@pytest.fixture
def solve(toolbox, sandbox):
    def run(*replies, **settings):
        return heard("restgpt", toolbox, ScriptedModel(*replies), sandbox, TASK, **settings)

    return run


def call(name, /, **arguments):
    return json.dumps({"name": name, "arguments": arguments})


def select(*apis, plan="do it"):
    return call("call_apis", apis=list(apis), plan=plan)


def done(text):
    return call("execution_result", text=text)


def note(person="p1"):
    return call("get_note", id=person, output_instructions="the text")


FIND = call("find_people", name="Ada", output_instructions="the id of Ada")
PRINT = code("print('The id of', data['people'][0]['name'], 'is', data['people'][0]['id'])")
FIRST = [
    "find the note of Ada",
    select("find_people", plan="find Ada for her id"),
    FIND,
    PRINT,
    done("find_people: Ada is p1"),
]
SECOND = [
    "Continue. Get the note of Ada (p1)",
    select("get_note"),
    note(),
    "It says: note of p1",
    done("It says so"),
]
FINAL = "Thought: I have it.\nFinal Answer: note of p1"


def test_plan_select_call_parse_repeat_until_answered(solve, sent):
    solution, model, purposes = solve(*FIRST, *SECOND, FINAL)
    assert (solution.status, solution.answer, solution.call_count) == ("solved", "note of p1", 2)
    assert purposes == [*["plan", "select", "act", "parse", "act"] * 2, "plan"]
    assert sent == [("find_people", {"name": "Ada"}), ("get_note", {"id": "p1"})]
    assert told(model, 4) == "Response: The id of Ada is p1"
    assert told(model, 5).startswith("API response: find_people: Ada is p1\n\nWrite plan step 2")
    assert told(model, 6) == (
        "Background:\nfind_people: Ada is p1\n\nStep: Continue. Get the note of Ada (p1)"
    )
    assert told(model, 9) == "Response: It says: note of p1"
    assert solution.attempts[-1].program.source == (
        "result_1 = find_people(name='Ada')\nresult_2 = get_note(id='p1')\nprint('note of p1')\n"
    )


def test_the_parser_tries_again_with_a_sample(solve):
    first = code("print(data['nobody'])")
    replies = [
        *FIRST[:3],
        first,
        code("x = 1"),
        "The id of Ada is p1.",
        done("p1"),
        "Final Answer: p1",
    ]
    solution, model, purposes = solve(*replies)
    assert (solution.answer, purposes) == (
        "p1",
        ["plan", "select", "act", "parse", "parse", "parse", "act", "plan"],
    )
    assert "The beginning of `data`" not in told(model, 3)
    assert (
        "The beginning of `data`:\n{'people': [{'id': 'p1', 'name': 'Ada'}], 'count': 1}"
        in told(model, 4)
    )
    assert "Its response:\n{'people': [{'id': 'p1'" in told(model, 5)
    assert told(model, 6) == "Response: The id of Ada is p1."


def test_an_unknown_api_is_chosen_anew(solve, sent):
    wrong = select("get_nothing")
    solution, model, _ = solve(FIRST[0], wrong, *FIRST[1:], "Final Answer: p1", decoding="off")
    assert (solution.answer, len(sent)) == ("p1", 1)
    assert "get_nothing" in told(model, 2)
    solution, model, purposes = solve(
        FIRST[0], wrong, "any", "", "Final Answer: none", decoding="off"
    )
    assert purposes == ["plan", "select", "select", "select", "plan"]
    assert (solution.answer, len(sent)) == ("none", 1)
    assert told(model).startswith("API response: nothing was called:")


def test_the_caller_hears_of_wrong_calls(solve, sent):
    malformed = call("get_note", id=5, output_instructions="the text")
    solution, model, _ = solve(
        "get it", select("get_note"), malformed, "no call", note("p9"), note("p1"), "note of p1", done("so"), FINAL,
        decoding="off",
    )  # fmt: skip
    assert (solution.status, sent) == (
        "solved",
        [("get_note", {"id": "p9"}), ("get_note", {"id": "p1"})],
    )
    assert told(model, 3).startswith("That call was not made.")
    assert "There is no call in the reply" in told(model, 4)
    assert told(model, 5) == "Response: Error (HTTP 404): no such person"
    assert "p9" not in solution.attempts[-1].program.source


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("find Ada\nAPI response: p1\nPlan step 2: x\nFinal Answer: made up", ("find Ada", None)),
        ("Plan step 1: a\nPlan step 2: b\nFinal Answer: c", ("a", None)),
        ("Thought: done\n**Final Answer:** p1\n", ("Thought: done\n**Final Answer:** p1", "p1")),
        ("Final Answer: p1\n \nThat is Ada.", ("Final Answer: p1\n \nThat is Ada.", "p1")),
    ],
)
def test_what_the_planner_says(text, plan):
    assert read_plan(text) == plan
