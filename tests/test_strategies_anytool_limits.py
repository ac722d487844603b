"""What bounds AnyTool, its ablations, and what becomes of runs that are stopped in their middle."""

from __future__ import annotations

import pytest

from atc.strategies.anytool import Options
from tests.anytool_lab import (
    CHECK,
    FLIGHTS,
    LOOK,
    META,
    SOLVER,
    TASK,
    TRAINS,
    TRAVEL,
    act,
    cast,
    finish,
    give_up,
    lab,
)  # fmt: skip
from tests.hierarchy_lab import FINISH, call

FLIGHT = [act("find_flight", city="Oslo"), give_up("no flights", "find_flight")]
TRAIN = [act("find_train", city="Oslo"), finish("IC 7")]
TO_TRAINS = [
    call("create_agent_tool_level", tools=["flights"]),
    LOOK,
    call("create_agent_tool_level", tools=["trains"]),
]


@pytest.fixture
def sent():
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def solve(sandbox, sent):
    def run(model, **given):
        return lab(model, sandbox, sent, **given).run(TASK)

    return run


def who(model):
    return [who for who, _ in model.calls]


def post(**scripts):
    """The pool gets the tool that sends letters, which changes something."""
    return cast(**{"meta": [call("create_agent_category_level", category="post"), LOOK, FINISH], **scripts})


# Budgets


@pytest.mark.parametrize(
    ("tokens", "asked", "last"), [(5, 1, META), (65, 7, CHECK), (85, 9, SOLVER), (125, 13, TRAINS)]
)
def test_agents_solver_and_judge_share_the_tokens(solve, tokens, asked, last):
    """Ten for each reply."""
    model = cast(solver=[*FLIGHT, *TRAIN], travel=TO_TRAINS)
    solution = solve(model, max_tokens=tokens)
    assert (solution.status, solution.limit) == ("failed", f"max_tokens = {tokens}")
    assert (len(model.calls), who(model)[-1]) == (asked, last)


def test_the_solver_makes_so_many_calls_a_round(solve, sent):
    cities = iter(range(1000))
    model = cast(
        travel=[call("create_agent_tool_level", tools=["trains"]), LOOK, FINISH],
        solver=[lambda: act("find_train", city=f"city {next(cities)}")],
    )
    solution = solve(model, calls=3, rounds=2)
    assert solution.status == "failed"
    assert len(sent) == 9
    assert "No answer was found within 3 calls." in str(model.prompts)


# Flags


@pytest.mark.parametrize(
    ("woken", "after"),
    [("tool", [FLIGHTS]), ("category", [FLIGHTS, TRAVEL]), ("meta", [FLIGHTS, TRAVEL, META])],
)
def test_which_agents_are_woken(solve, woken, after):
    model = cast(solver=[act("find_flight", city="Oslo"), give_up("no flights")], travel=[
        call("create_agent_tool_level", tools=["flights"]), LOOK, FINISH])  # fmt: skip
    solve(model, woken=woken, rounds=1)
    first = who(model).index(SOLVER)
    assert [name for name in who(model)[first:] if name != SOLVER] == after


@pytest.mark.parametrize("wrong", [{"rounds": -1}, {"pool": 0}, {"apis": 0}])
def test_options_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=str(next(iter(wrong.values())))):
        Options(**wrong)


# Writes, outages, interruptions


def test_a_write_that_happened_stays_in_the_program_whatever_is_said_of_its_tool(solve, sent):
    model = post(solver=[act("send_letter", city="Oslo"), give_up("no reply", "send_letter"), finish("sent")])
    model.scripts[META] = [
        call("create_agent_category_level", category="post"), *[LOOK] * 2,
        call("create_agent_category_level", category="food"), FINISH,
    ]  # fmt: skip
    solution = solve(model, allow_writes=("send_letter",))
    assert (solution.status, solution.answer, solution.orphans) == ("solved", "sent", ())
    assert sent == [("send_letter", {"city": "Oslo"})]
    assert solution.attempts[-1].program.source == "result_1 = send_letter(city='Oslo')\nprint('sent')\n"
    again = [prompt for who, prompt in model.prompts if who == SOLVER][-1]
    assert again[-1].content == "Observation: {'sent': 'Oslo'}"
    assert "def send_letter(" not in again[-3].content
