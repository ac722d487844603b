"""ConAgents: four agents driven by scripted replies over the real sandbox."""

from __future__ import annotations

import json

import pytest

from atc.models.scripted import ScriptedModel
from atc.strategies.conagents import MOST_ROUNDS
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.acting import heard, told
from tests.labs.tools import tool

FILMS = {"p1": ["Metropolis", "M"], "p2": ["Jaws"]}
TASK = "What was the first film of Lang?"


@pytest.fixture
def sent():
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def toolbox(sent):
    def find_person(arguments):
        return {"id": "p1" if arguments["name"] == "Lang" else "p2", "name": arguments["name"]}

    def list_films(arguments):
        if arguments["person"] not in FILMS:
            raise ToolError(404, "there is no such person")
        return [
            {"title": title, "pages": "x" * arguments.get("pages", 1)}
            for title in FILMS[arguments["person"]]
        ]

    return Toolbox(
        [
            tool("find_person", find_person, {"name": "string"}, sent=sent),
            tool(
                "list_films",
                list_films,
                {"person": "string", "pages": "integer"},
                optional=["pages"],
                sent=sent,
            ),
        ]
    )


@pytest.fixture
def solve(toolbox, sandbox):
    def run(*replies, **settings):
        return heard("conagents", toolbox, ScriptedModel(*replies), sandbox, TASK, **settings)

    return run


def call(tool, /, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


def instruct(instruction, tool, wanted="it"):
    return call("instruct", instruction=instruction, tool=tool, wanted=wanted)


def send_back(feedback, to):
    return call("send_back", feedback=feedback, to=to)


ACCEPT = call("accept")
FIND = (
    instruct("Find Lang.", "find_person", "the id"),
    ACCEPT,
    call("find_person", name="Lang"),
    ACCEPT,
    "The id is p1.",
)
LIST = (
    instruct("List the films of Lang (p1).", "list_films"),
    ACCEPT,
    call("list_films", person="p1"),
    ACCEPT,
    "M.",
)
STEP = ["ground", "review", "execute", "review", "observe"]


def agent_of(messages):
    """Whose prompt this is."""
    words = {"guide": "ground", "carry": "execute", "review": "review", "read": "observe"}
    return words[messages[0].content.split()[1]]


def test_each_step_is_grounded_reviewed_executed_and_observed(solve, sent):
    solution, _, purposes = solve(*FIND, *LIST, call("finish", answer="Metropolis"))
    assert (solution.status, solution.answer, solution.call_count) == ("solved", "Metropolis", 2)
    assert purposes == [*STEP, *STEP, "ground"]
    assert sent == [("find_person", {"name": "Lang"}), ("list_films", {"person": "p1"})]
    assert solution.attempts[-1].program.source.count("find_person(") == 1
    assert "print('Metropolis')" in solution.attempts[-1].program.source


def test_a_corrected_call_is_accepted(solve, sent):
    solution, model, purposes = solve(
        FIND[0], ACCEPT, call("find_person", name="Spielberg"), send_back("The name is Lang.", "execution"),
        *FIND[2:], call("finish", answer="p1"),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == [
        "ground",
        "review",
        "execute",
        "review",
        "execute",
        "review",
        "observe",
        "ground",
    ]
    assert 'find_person(name="Spielberg")' in told(model, 3)
    assert [m.role for m in model.prompts[4]] == ["system", "user", "assistant", "user"]
    assert "The name is Lang." in told(model, 4)


def test_a_wrong_choice_of_tool_is_calibrated(solve, sent):
    solution, model, purposes = solve(
        instruct("Find Lang.", "list_films"), send_back("find_person finds people.", "grounding"),
        *FIND, call("finish", answer="p1"),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == ["ground", "review", *STEP, "ground"]
    assert "find_person finds people." in told(model, 2)
    assert not any("find_person finds people." in message.content for message in model.prompts[-1])


def test_a_call_that_fails_is_calibrated_by_execution(solve, sent):
    solution, model, purposes = solve(
        LIST[0], ACCEPT, call("list_films", person="p7"), ACCEPT, send_back("The id is p1.", "execution"),
        *LIST[2:], call("finish", answer="M"),
    )  # fmt: skip
    assert (solution.status, solution.answer) == ("solved", "M")
    assert sent == [("list_films", {"person": "p7"}), ("list_films", {"person": "p1"})]
    assert purposes == [*STEP[:4], "review", "execute", "review", "observe", "ground"]
    assert "404" in told(model, 4)
    assert "p7" not in solution.attempts[-1].program.source


@pytest.mark.parametrize("to", ["grounding", "execution"])
def test_endless_review_ends(solve, sent, to):
    def reply(messages):
        prompt = messages[-1].content
        match agent_of(messages):
            case "ground":
                return FIND[0]
            case "execute":
                return call("find_person", name="Lang")
            case "review":
                blamed = to if "Execution's call" in prompt else "grounding"
                return ACCEPT if to != blamed else send_back("No.", blamed)
        return "The id is p1."

    solution, _, purposes = solve(*[reply] * 1000, max_calls=3)
    assert (solution.status, solution.limit, solution.call_count) == ("failed", "max_calls = 3", 3)
    again = purposes.count("ground" if to == "grounding" else "execute")
    assert again == 4 * (MOST_ROUNDS + 1)


LONG = (LIST[0], ACCEPT, call("list_films", person="p1", pages=9000), ACCEPT)
CODE = "```python\nprint('The first is', data[0]['title'])\n```"


def test_long_responses_are_observed_by_code(solve, sent):
    solution, model, purposes = solve(*LONG, CODE, call("finish", answer="Metropolis"))
    assert (solution.answer, len(sent), purposes) == ("Metropolis", 1, [*STEP, "ground"])
    assert "[{title: string, pages: string}] × 2" in told(model, 4)
    assert len(told(model, 4)) < 2_000
    assert told(model, 5).startswith("Result: The first is Metropolis\n")
