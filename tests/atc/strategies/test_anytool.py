"""AnyTool's loop: give-up or rejection, a pruned pool, agents woken in order, and the solver once more."""

from __future__ import annotations

import pytest

from atc.models.scripted import ScriptedModel
from atc.strategies.anytool import format_calls, judge_answer, read_vote
from protocols.model import Message
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.acting import finish
from tests.labs.acting import turn as act
from tests.labs.anytool_world import (
    CHECK,
    FLIGHTS,
    JUDGE,
    LOOK,
    MENUS,
    META,
    SOLVER,
    TASK,
    TRAINS,
    TRAVEL,
    added,
    cast,
    give_up,
    lab,
)  # fmt: skip
from tests.labs.search_agents import FINISH, Cast, call, verdict
from tests.labs.tools import tool

TRAINS_TOO = [
    call("create_agent_tool_level", tools=["flights"]),
    LOOK,
    call("create_agent_tool_level", tools=["trains"]),
]
TRAIN = [act("find_train", city="Oslo"), finish("IC 7")]


@pytest.fixture
def sent():
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def solve(sandbox, sent):
    def run(model, **given):
        return lab(model, sandbox, sent, **given).run(TASK)

    return run


def who(model: Cast) -> list[str]:
    return [who for who, _ in model.calls]


def of(model: Cast, name: str) -> list[list[Message]]:
    """The prompts that one role was given."""
    return [prompt for who, prompt in model.prompts if who == name]


AGAIN = """\
This was tried before, and the task could not be settled. The reason: no flights
Functions that were found to be of no use are gone, and others may have been found since. Calls that were made before \
and may still help stand below, where there are any; do not make them again. Go on from there, and try another way."""


def test_a_solvers_surrender_wakes_agents(solve, sent):
    model = cast(
        solver=[act("find_flight", city="Oslo"), give_up("no flights", "find_flight"), *TRAIN],
        travel=TRAINS_TOO,
    )
    solution = solve(model)
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "IC 7", 1)
    begin = [META, META, TRAVEL, META, TRAVEL, FLIGHTS, CHECK]
    assert who(model) == [
        *begin,
        *(SOLVER, SOLVER),
        FLIGHTS,  # the deepest first: it has nothing more
        *(
            TRAVEL,
            TRAVEL,
            TRAINS,
            CHECK,
        ),  # then its creator, with the agent that it creates; the meta agent sleeps on
        *(SOLVER, SOLVER, JUDGE, JUDGE),
    ]
    assert sent == [("find_flight", {"city": "Oslo"}), ("find_train", {"city": "Oslo"})]
    for name in (FLIGHTS, TRAVEL):
        assert any("The reason: no flights" in message.content for message in of(model, name)[-1])
    first, again = of(model, SOLVER)[0], of(model, SOLVER)[2]
    assert "def find_flight(" in first[-1].content
    assert again[-1].content.endswith(AGAIN)
    assert "def find_flight(" not in again[-1].content
    assert "def find_train(" in again[-1].content
    assert not any("find_flight" in message.content for message in again[1:])
    assert (
        solution.attempts[-1].program.source
        == "result_1 = find_train(city='Oslo')\nprint('IC 7')\n"
    )
    assert solution.tools == ("find_train",)


def test_a_rejected_answer_keeps_the_calls(solve, sent):
    model = cast(
        flights=[added("find_flight", "find_train"), FINISH],
        travel=[call("create_agent_tool_level", tools=["trains"]), LOOK, FINISH],
        trains=[added("find_train"), added("book_seat")],
        solver=[*TRAIN, finish("IC 7 to Oslo")],
        judge=[verdict("Unsolved", "the way is not named")] * 2 + [verdict("Solved")],
    )
    solution = solve(model)
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "IC 7 to Oslo", 1)
    assert [name for name, _ in sent] == ["find_train"]
    asked = of(model, SOLVER)[2]
    assert "The reason: the way is not named" in asked[-3].content
    assert [message.role for message in asked[-2:]] == [
        "assistant",
        "user",
    ]  # the call that was made stands below
    assert asked[-1].content == "Observation: {'train': 'IC 7 to Oslo'}"
    assert asked[-3].content.index("def book_seat(") < asked[-3].content.index(
        "def find_train("
    )  # what is new first
    rejected = [attempt.doubts for attempt in solution.attempts if attempt.doubts]
    assert rejected == [("A judge holds: the way is not named",)]
    assert (
        "- find_train(city=\"Oslo\") → {'train': 'IC 7 to Oslo'}" in of(model, JUDGE)[0][1].content
    )


def test_an_earlier_answer_stands_where_nothing_better_came(solve, sent):
    model = cast(
        solver=[
            *TRAIN,
            act("find_dish", city="Oslo"),
            give_up("no idea", "find_train", "find_dish()"),
        ],
        meta=[
            call("create_agent_category_level", category="travel"),
            *[LOOK] * 2,
            call("create_agent_category_level", category="food"),
            FINISH,
        ],
        travel=[call("create_agent_tool_level", tools=["trains"]), LOOK, FINISH],
        judge=[verdict("Unsolved", "no")],
    )
    solution = solve(model)
    assert (solution.status, solution.answer) == ("solved", "IC 7")
    assert (
        solution.attempts[-1].program.source
        == "result_1 = find_train(city='Oslo')\nprint('IC 7')\n"
    )
    assert sent == [("find_train", {"city": "Oslo"}), ("find_dish", {"city": "Oslo"})]
    assert MENUS in who(model)


# Writes, outages, interruptions


def test_a_made_write_stays_in_the_program(solve, sent):
    model = cast(
        meta=[
            call("create_agent_category_level", category="post"),
            *[LOOK] * 2,
            call("create_agent_category_level", category="food"),
            FINISH,
        ],
        solver=[
            act("send_letter", city="Oslo"),
            give_up("no reply", "send_letter"),
            finish("sent"),
        ],
    )
    solution = solve(model, allow_writes=("send_letter",))
    assert (solution.status, solution.answer, solution.orphans) == ("solved", "sent", ())
    assert sent == [("send_letter", {"city": "Oslo"})]
    assert (
        solution.attempts[-1].program.source
        == "result_1 = send_letter(city='Oslo')\nprint('sent')\n"
    )
    again = [prompt for who, prompt in model.prompts if who == SOLVER][-1]
    assert again[-1].content == "Observation: {'sent': 'Oslo'}"
    assert "def send_letter(" not in again[-3].content


def test_a_run_without_found_tools_fails(solve, sent):
    model = cast(meta=[FINISH])
    solution = solve(model)
    assert (solution.status, solution.answer, sent) == ("failed", None, [])
    assert [a.fault.message for a in solution.attempts] == [
        "No function was found that helps with the task."
    ]
    assert who(model) == [META]
    again = cast(meta=[*[LOOK] * 3, FINISH])
    assert solve(again, steps=2).status == "failed"
    assert "No function was found that helps with the task." in str(of(again, META))


# The judge


@pytest.mark.parametrize(
    ("words", "decided", "asked"),
    [
        (["Solved", "Solved", "Unsolved"], "Solved", 2),
        (["Solved", "Unsolved", "Solved"], "Solved", 3),
        (["Solved", "Unsolved", "Unsure"], "Unsure", 3),
        (["Unsure", "Unsure"], "Unsure", 2),
    ],
)
def test_a_majority_of_three_votes_decides(words, decided, asked):
    model = ScriptedModel(*(verdict(word, f"reason {number}") for number, word in enumerate(words)))
    assert judge_answer(model, "Who won?", "Ada")[0] == decided
    assert len(model.prompts) == asked


@pytest.mark.parametrize(
    "text", ["", "Solved", "[1]", "{}", '{"verdict": "solved!"}', "[" * 100_000]
)
def test_a_reply_that_cannot_be_read_is_unsure(text):
    assert read_vote(text) == ("Unsure", "")


def test_calls_are_told_with_their_last_results():
    tools = Toolbox([tool("get", None, {"n": "integer"}, optional=["n"])])
    good = ToolCall(
        index=0,
        tool="get",
        arguments={"n": 1},
        line=1,
        result={"name": "Ada", "notes": ["x" * 900] * 9},
    )
    bad = ToolCall(index=1, tool="get", arguments={"n": 2}, line=2, error="HTTP 404: no such year")
    first, last = (
        format_calls([good, bad], tools).splitlines()[0],
        format_calls([good, bad], tools).splitlines()[-1],
    )
    assert first.startswith("- get(n=1) → {'name': 'Ada', 'notes': [")
    assert len(first) < 600
    assert last == "- get(n=2) → error: HTTP 404: no such year"
    assert len(format_calls([bad] * 20, tools).splitlines()) == 12
    assert format_calls([], tools) == ""
