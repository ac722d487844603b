"""Laws that hold for every strategy that there is, each over the same small world."""

from __future__ import annotations

from functools import cache

import pytest

from atc.agent import Agent
from atc.core.types import Solution
from atc.store import Store
from atc.strategies import STRATEGIES
from benchmarks.kills.cases import Kill
from benchmarks.kills.host import mortal_store
from protocols.errors import ModelUnavailable
from tests.labs.strategy_player import (
    LOST,
    MARKS,
    ODD,
    READS,
    SEARCH,
    TASK,
    TROUBLE,
    Move,
    Plan,
    Player,
    Searching,
    Stage,
    World,
)

pytestmark = pytest.mark.parametrize("strategy", STRATEGIES)


@pytest.fixture
def stage(sandbox):
    return Stage(sandbox)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        yield store


def named(solution: Solution) -> str | None:
    """What a run that failed says of why: the limit that ended it, or its last fault."""
    fault = next(
        (attempt.fault.kind for attempt in reversed(solution.attempts) if attempt.fault), None
    )
    return solution.limit or fault


def played(stage: Stage, strategy: str, plan: Plan = READS, **settings) -> tuple[Solution, Player]:
    """A run without a hitch."""
    model = Player(plan)
    return stage.agent(strategy, model, **settings).run(TASK), model


class Forgetful(Player):
    """A model whose prompt has no room for all tools, so that they are searched."""

    prompt_tokens = 40


def cut_short(solution: Solution, strategy: str, limit: str) -> bool:
    """Whether this limit ended a run: without an answer, or (AnyTool) before its answer's judge was heard."""
    unjudged = strategy == "anytool" and (solution.status, solution.answer) == ("solved", "milk")
    return solution.limit == limit and (
        unjudged or (solution.status, solution.answer) == ("failed", None)
    )


@pytest.fixture(scope="module")
def whole(sandbox):
    """The run that nothing hinders, of a strategy and a plan."""
    return cache(
        lambda strategy, plan=READS: played(Stage(sandbox), strategy, plan, allow_writes=("all",))
    )


# --- what it comes to


@pytest.mark.parametrize(
    "plan", [READS, MARKS, TROUBLE, ODD], ids=["reads", "writes", "trouble", "odd"]
)
def test_every_strategy_solves_by_the_needed_calls(stage, store, strategy, plan) -> None:
    """The suite replays what is stored as solved, without the tools."""
    solution, _ = played(stage, strategy, plan, store=store, allow_writes=("all",))
    assert (solution.status, solution.answer, solution.limit) == ("solved", "milk", None)
    assert stage.world.sent == plan.calls()


@pytest.mark.parametrize(
    "settings", [{"decoding": "calls", "docs": "requests"}, {"decoding": "auto", "docs": "names"}]
)
def test_settings_that_all_share_change_nothing_of_that(stage, strategy, settings) -> None:
    """The endpoint holds to nothing, so that replies are written freely whatever is asked."""
    solution, _ = played(stage, strategy, **settings)
    assert (solution.status, solution.answer) == ("solved", "milk")
    assert stage.world.sent == READS.calls()


def test_undescribed_tools_will_do(sandbox, strategy) -> None:
    """`auto` writes one program first for them, too, and RestGPT's parser reads what they answer itself."""
    stage = Stage(sandbox, World(described=False))
    solution, model = played(stage, strategy)
    assert (solution.status, solution.answer) == ("solved", "milk")
    assert stage.world.sent == READS.calls()
    grows = any("a Python program that grows" in prompt[0].content for prompt in model.prompts)
    assert grows == (strategy == "stepwise")


# --- going on


def after_outages(*agents: Agent) -> Solution:
    """What a run comes to that the first begins, and that each of the others resumes where the one before failed."""
    for number, agent in enumerate(agents):
        try:
            return agent.resume("last") if number else agent.run(TASK)
        except ModelUnavailable:
            continue
    pytest.fail("the model was down each time")


def test_outages_repeat_no_question_or_write(stage, whole, sandbox, tmp_path, strategy) -> None:
    """The model is down at a request and, when the run is resumed, at the one after it: so at each of them."""
    plain, clean = whole(strategy, MARKS)
    for number in range(0, len(clean.prompts), 2):
        stage = Stage(sandbox)
        models = [
            Player(MARKS, down=frozenset({number})),
            Player(MARKS, down=frozenset({1})),
            Player(MARKS),
        ]
        with Store(tmp_path / f"{number}.sqlite") as store:
            solution = after_outages(
                *(
                    stage.agent(strategy, model, store=store, allow_writes=("all",))
                    for model in models
                )
            )
        assert (solution.status, solution.answer) == ("solved", "milk"), number
        assert stage.world.sent == MARKS.calls(), number
        asked = [prompt for model in models for prompt in model.prompts]
        ended, again = (min(number + k, len(clean.prompts)) for k in (1, 2))
        assert asked == [
            *clean.prompts[:ended],
            *clean.prompts[number:again],
            *clean.prompts[ended:],
        ], number
        assert solution.usage.model_calls == plain.usage.model_calls
        assert solution.usage.tokens == plain.usage.tokens


@pytest.mark.parametrize("moment", ["replied", "stored"])
def test_an_interrupted_write_is_not_repeated(stage, whole, tmp_path, strategy, moment) -> None:
    """Of a write whose answer was not stored nobody knows whether it took effect."""
    _, clean = whole(strategy, MARKS)
    kill, path = Kill(moment=moment), tmp_path / "runs.sqlite"
    first, second = Player(MARKS), Player(MARKS)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with mortal_store(str(path), kill, stage.world.toolbox, interrupt) as store:
        agent = stage.agent(strategy, first, store=store, allow_writes=("all",))
        with pytest.raises(KeyboardInterrupt):
            agent.run(TASK)
    with Store(path) as store:
        solution = stage.agent(strategy, second, store=store, allow_writes=("all",)).resume("last")
    written = [name for name, _ in stage.world.sent].count("add_mark")
    assert written == 1
    if moment == "replied":
        assert (solution.status, [call.tool for call in solution.unknown_writes]) == (
            "paused",
            ["add_mark"],
        )
    else:
        assert (solution.status, solution.answer) == ("solved", "milk")
        assert first.prompts + second.prompts == clean.prompts


def test_a_write_that_nobody_allowed_waits_for_consent(stage, whole, store, strategy) -> None:
    _, clean = whole(strategy, MARKS)
    paused, model = played(stage, strategy, MARKS, store=store)
    assert (paused.status, paused.answer) == ("paused", None)
    assert stage.world.sent == MARKS.calls()[:1]
    more = Player(MARKS)
    solution = stage.agent(strategy, more, store=store, allow_writes=("all",)).resume("last")
    assert (solution.status, solution.answer) == ("solved", "milk")
    assert stage.world.sent == MARKS.calls()
    assert model.prompts + more.prompts == clean.prompts


def test_an_unknown_write_is_not_sent_again(stage, store, strategy) -> None:
    paused, _ = played(stage, strategy, LOST, store=store, allow_writes=("all",))
    assert (paused.status, [call.tool for call in paused.unknown_writes]) == (
        "paused",
        ["send_mail"],
    )
    model = Player(LOST)
    still = stage.agent(strategy, model, store=store, allow_writes=("all",)).resume("last")
    assert (still.status, model.prompts) == ("paused", [])
    assert stage.world.sent == LOST.calls()


# --- budgets


def test_requests_may_be_used_up_at_any_point(stage, whole, strategy) -> None:
    _, clean = whole(strategy)
    for most in range(1, len(clean.prompts)):
        solution, model = played(stage, strategy, max_model_calls=most)
        assert cut_short(solution, strategy, f"max_model_calls = {most}")
        assert solution.usage.model_calls == len(model.prompts) == most


def test_calls_may_be_used_up_at_any_point(stage, strategy) -> None:
    """Of a program that makes more calls than it may, the fault names the limit; without repairs it ends the run."""
    for most in range(len(READS.moves)):
        stage.world.sent.clear()
        solution, _ = played(stage, strategy, max_calls=most, max_repairs=0)
        assert solution.status == "failed"
        assert named(solution) in (f"max_calls = {most}", "limit")
        assert stage.world.sent == READS.calls()[:most]


def test_budgets_may_end_during_tool_search(stage, strategy) -> None:
    """Searching takes two requests (AnyTool's agents search in another way)."""
    plan = Plan((Move("get_note", {"person": "p0"}),))
    clean = Forgetful(plan)
    solution = stage.agent(strategy, clean, kind=Searching).run(TASK)
    assert (solution.status, solution.answer) == ("solved", "milk")
    assert strategy == "anytool" or SEARCH in clean.prompts[1][0].content
    model = Forgetful(plan)
    solution = stage.agent(strategy, model, kind=Searching, max_model_calls=1).run(TASK)
    assert (solution.status, solution.limit) == ("failed", "max_model_calls = 1")
    assert len(model.prompts) == 1


# --- models that are of no use


@pytest.mark.parametrize(
    "reply", ["", '{"name": "', "```python\nwhile\ud800\0"], ids=["none", "json", "code"]
)
def test_replies_of_no_use_end_by_themselves(stage, strategy, reply) -> None:
    model = Player(reply=reply)
    solution = stage.agent(strategy, model).run(TASK)
    assert (solution.status, solution.answer) == ("failed", None)
    assert named(solution)
    assert stage.world.sent == []


@pytest.mark.parametrize(
    "move", [Move("list_people"), Move("nobody"), Move("get_trouble")], ids=lambda move: move.tool
)
def test_who_makes_one_call_for_ever_is_stopped(stage, strategy, move) -> None:
    model = Player(Plan((move,), endless=True))
    solution = stage.agent(strategy, model, max_calls=4, max_model_calls=40).run(TASK)
    assert (solution.status, solution.answer) == ("failed", None)
    assert named(solution)
    assert len(stage.world.sent) <= 4
    assert len(model.prompts) <= 40
