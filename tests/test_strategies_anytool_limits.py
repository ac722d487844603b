"""What bounds AnyTool, its ablations, and what becomes of runs that are stopped in their middle."""

from __future__ import annotations

import pytest

from atc.store import Store
from atc.strategies.anytool_options import Options
from atc.strategies.judge import Verdict
from protocols.ask import Powers
from protocols.errors import ModelUnavailable
from sandbox.zygote import ZygoteSandbox
from tests.anytool_lab import (
    CHECK,
    FLIGHTS,
    JUDGE,
    LETTERS,
    LOOK,
    MENUS,
    META,
    SOLVER,
    TASK,
    TRAINS,
    TRAVEL,
    act,
    added,
    cast,
    finish,
    give_up,
    lab,
)  # fmt: skip
from tests.hierarchy_lab import FINISH, Cast, call, verdict

FLIGHT = [act("find_flight", city="Oslo"), give_up("no flights", "find_flight")]
TRAIN = [act("find_train", city="Oslo"), finish("IC 7")]
TO_TRAINS = [
    call("create_agent_tool_level", tools=["flights"]),
    LOOK,
    call("create_agent_tool_level", tools=["trains"]),
]


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


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


def test_an_answer_that_could_not_be_judged_any_more_stands(solve):
    model = cast(solver=[finish("by plane")])
    solution = solve(model, max_tokens=90)
    assert (solution.status, solution.answer, solution.limit) == ("solved", "by plane", "max_tokens = 90")
    unheard = "The run's budget ended before a judge had heard this answer."
    assert (who(model)[-1], solution.attempts[-1].doubts) == (JUDGE, (unheard,))


def test_a_run_may_be_given_fewer_tokens_than_the_papers(solve):
    model = cast()
    model.tokens = 30
    solution = solve(model, tokens=100)
    assert (solution.status, solution.limit) == ("failed", "max_tokens = 100")
    assert 1 <= len(model.calls) <= 4  # what an endpoint does not count is estimated


def test_tokens_that_run_out_while_agents_are_woken_leave_the_answer_there_was(solve):
    model = cast(solver=[finish("by plane")], judge=[verdict("Unsolved", "which one?")])
    solution = solve(model, max_tokens=101)
    assert (solution.status, solution.answer, solution.limit) == ("solved", "by plane", "max_tokens = 101")
    assert solution.attempts[-1].doubts == ("A judge holds: which one?",)
    assert who(model)[-2:] == [JUDGE, FLIGHTS]


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


@pytest.mark.parametrize(
    "said", ["", "Action: find_flight", act("find_hotel", city="Oslo"), act("find_flight"), "x" * 9000]
)
@pytest.mark.parametrize("solver", ["dfsdt", "cot"])
def test_endless_malformed_calls_end(solve, sent, said, solver):
    model = cast(solver=[said], travel=[call("create_agent_tool_level", tools=["flights"]), FINISH], meta=[
        call("create_agent_category_level", category="travel"), FINISH])  # fmt: skip
    solution = solve(model, rounds=1, solver=solver)
    assert (solution.status, sent) == ("failed", [])
    assert "steps" in str(model.prompts[-1])  # the reason: no answer within 30 (or 200) steps
    assert sum(len(message.content) for message in model.prompts[-1][1]) < 60_000


def test_an_answer_that_is_empty_is_none(solve):
    model = cast(solver=[finish(" "), finish("IC 7")])
    assert solve(model).answer == "IC 7"


# Flags


def test_without_hierarchy_one_agent_does_all(solve):
    flat = [call("get_APIs_in_tool", tool="trains"), added("find_train"), FINISH]
    model = cast(solver=TRAIN)
    model.scripts = {SOLVER: TRAIN, JUDGE: [verdict("Solved")], CHECK: [verdict("Solvable")], "": flat}
    assert solve(model, flat=True).answer == "IC 7"
    assert who(model) == ["", "", CHECK, SOLVER, SOLVER, JUDGE, JUDGE]


def test_a_chain_of_thought_has_no_way_back(solve):
    model = cast(solver=[*FLIGHT, finish("none")])
    solve(model, solver="cot")
    prompts = [prompt for who, prompt in model.prompts if who == SOLVER]
    assert "go_back" not in prompts[0][0].content
    assert "give_up" in prompts[0][0].content
    model = cast(solver=[*FLIGHT, finish("none")])
    solve(model)
    assert "go_back" in next(prompt for who, prompt in model.prompts if who == SOLVER)[0].content


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


def test_the_pool_may_be_small_and_a_full_one_wakes_nobody(solve):
    model = cast(flights=[added("find_flight"), FINISH], solver=[*FLIGHT, finish("none")])
    solution = solve(model, pool=1, rounds=1)
    assert solution.tools == ()
    assert CHECK not in who(model)  # a full pool ends the search before its check
    judged = cast(solver=[finish("a flight")], judge=[verdict("Unsolved", "which?")])
    solve(judged, pool=1, rounds=3)
    last = who(judged)
    assert last[last.index(SOLVER) :] == [SOLVER, JUDGE, JUDGE] * 2  # the second rejection changes nothing


def test_some_tools_drawn_at_random_are_there_at_all(solve):
    def listed(apis):
        model = cast(meta=[FINISH])
        model.scripts[""] = [FINISH]
        solve(model, apis=apis, rounds=0)
        return model.prompts[0][1][1].content

    assert listed(2) == listed(2)
    assert sum(word in listed(2) for word in ("travel", "food", "post")) <= 2
    assert listed(99) == listed(None)


@pytest.mark.parametrize("votes", [1, 3])
def test_the_judge_votes(solve, votes):
    model = cast(flights=[added("find_train")], travel=[call("create_agent_tool_level", tools=["trains"]), FINISH])
    model.scripts[SOLVER] = TRAIN
    assert solve(model, votes=votes).answer == "IC 7"
    assert who(model).count(JUDGE) == (votes + 1) // 2


def test_a_program_may_judge(solve):
    def grade(answer):
        return Verdict("Solved" if answer == "IC 7" else "Unsolved", "IC 7 is expected")

    model = cast(solver=[finish("IC 8"), finish("IC 7")])
    solution = solve(model, grade=grade)
    assert (solution.answer, JUDGE in who(model)) == ("IC 7", False)
    assert "The reason: IC 7 is expected" in str(model.prompts[-1])


@pytest.mark.parametrize("wrong", [{"rounds": -1}, {"pool": 0}, {"solver": "bfs"}, {"woken": "all"}, {"apis": 0}])
def test_options_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=str(next(iter(wrong.values())))):
        Options(**wrong)


# Writes, outages, interruptions


def test_a_write_that_nobody_allowed_ends_the_run(solve, sent):
    model = post(solver=[act("send_letter", city="Oslo"), finish("sent")])
    solution = solve(model)
    assert (solution.status, solution.answer, sent) == ("paused", None, [])
    assert who(model)[-1] == SOLVER


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


@pytest.mark.parametrize("where", [META, FLIGHTS, CHECK, SOLVER, JUDGE])
def test_an_outage_is_no_verdict_and_the_run_goes_on_where_it_was(sandbox, sent, tmp_path, where):
    """No prompt that was answered is asked again, and no call is made twice."""
    script = {"solver": [*FLIGHT, *TRAIN], "travel": TO_TRAINS}
    calm = cast(**script)
    wanted = lab(calm, sandbox, [], store=Store(tmp_path / "calm.db")).run(TASK)
    model = cast(**script)
    usual = list(model.scripts[where])
    model.scripts[where] = [*usual[:-1], ModelUnavailable("away")] if where == SOLVER else [ModelUnavailable("away")]
    store = Store(tmp_path / "runs.db")
    with pytest.raises(ModelUnavailable):
        lab(model, sandbox, sent, store=store).run(TASK)
    [stored] = store.list()
    done = len(model.calls)
    later = cast(**script)
    later.scripts[where] = usual[-1:] if where == SOLVER else usual
    for name, _ in model.calls:
        later._spoken[name] = later._spoken.get(name, -1) + (name != where or where != SOLVER)
    solution = lab(later, sandbox, sent, store=store).resume(stored.id)
    assert (solution.status, solution.answer) == (wanted.status, wanted.answer) == ("solved", "IC 7")
    assert who(model) + who(later) == who(calm)
    assert len(later.calls) == len(calm.calls) - done
    assert sent == [("find_flight", {"city": "Oslo"}), ("find_train", {"city": "Oslo"})]
    assert [a.program for a in solution.attempts] == [a.program for a in wanted.attempts]


def test_a_paused_run_goes_on_once_the_write_is_allowed(sandbox, sent, tmp_path):
    store = Store(tmp_path / "runs.db")
    script = {"solver": [act("send_letter", city="Oslo"), finish("sent")]}
    model = post(**script)
    paused = lab(model, sandbox, sent, store=store).run(TASK)
    assert paused.status == "paused"
    later = post(**script)
    later._spoken[SOLVER] = 0
    solution = lab(later, sandbox, sent, store=store, allow_writes=("all",)).resume(paused.run)
    assert (solution.status, solution.answer) == ("solved", "sent")
    assert who(later) == [SOLVER, JUDGE, JUDGE]
    assert sent == [("send_letter", {"city": "Oslo"})]
    assert LETTERS not in who(later)
    assert TRAINS not in who(later)


@pytest.mark.parametrize(
    ("limits", "doubt"),
    [
        ({"max_tokens": 90}, "The run's budget ended before a judge had heard this answer."),
        ({"rounds": 0}, "A judge holds: which one?"),
    ],
)
def test_what_speaks_against_an_answer_is_stored_with_it(sandbox, sent, tmp_path, limits, doubt):
    store = Store(tmp_path / "runs.db")
    model = cast(solver=[finish("by plane")], judge=[verdict("Unsolved", "which one?")])
    solution = lab(model, sandbox, sent, store=store, **limits).run(TASK)
    assert solution.attempts[-1].doubts == (doubt,)
    assert store.load(solution.run).attempts[-1].doubts == (doubt,)


WIDE = {"meta": [call("create_agent_category_level", category=name) for name in ("travel", "food", "post")] + [FINISH]}


class SideBySideCast(Cast):
    """A cast that several agents may ask at once."""

    powers = Powers(parallel=True)


@pytest.mark.parametrize("down", [FLIGHTS, TRAINS, MENUS])
def test_an_outage_beside_other_agents_costs_its_own_reply_alone(sandbox, sent, tmp_path, down):
    """The replies of the same round stand, and none of them is asked for again."""
    checks = [verdict("Unsolvable")] * 2 + [verdict("Solvable")]
    script = {**WIDE, "check": checks, "travel": TO_TRAINS, "solver": TRAIN}
    calm = SideBySideCast(cast(**script).scripts)
    wanted = lab(calm, sandbox, [], store=Store(tmp_path / "calm.db")).run(TASK)
    model = SideBySideCast({**calm.scripts, down: [ModelUnavailable("away")]})
    store = Store(tmp_path / "runs.db")
    with pytest.raises(ModelUnavailable):
        lab(model, sandbox, sent, store=store).run(TASK)
    [stored] = store.list()
    model.scripts, model._spoken[down] = calm.scripts, -1
    solution = lab(model, sandbox, sent, store=store).resume(stored.id)
    assert (solution.status, solution.answer) == (wanted.status, wanted.answer) == ("solved", "IC 7")
    assert [a.program for a in solution.attempts] == [a.program for a in wanted.attempts]
    for name in (META, TRAVEL, FLIGHTS, TRAINS, MENUS, CHECK):
        assert model.of(name) == calm.of(name)
    assert sent == [("find_train", {"city": "Oslo"})]
