"""Thousands of tools in one program: planned searches, further searches, and tools that were called unseen."""

import json

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from protocols.render import describe_within_budget, token_estimate
from protocols.toolbox import Toolbox
from tests.labs.tools import TEXT, tool

pytest.importorskip("bm25s")
PLAN = json.dumps({"searches": ["find ships by name"]})
SEARCH = "SEARCH: weather at a harbour"
ANSWER = "```python\nprint(harbour_weather(harbour=find_ship(name='Elbe')['harbour'])['wind'])\n```"
TURN = "Thought: next\nAction: {}\nAction Input: {}"


def described(name, description, returns, argument, answer=None):
    output = {"type": "object", "properties": dict.fromkeys(returns, TEXT), "required": returns}
    return tool(name, answer, {argument: TEXT}, output, description=description)


@pytest.fixture
def solve(sandbox, tmp_path):
    others = [
        described(f"list_ships_{n}", "List ships by name.", ["ships", "pages"], "name")
        for n in range(120)
    ]
    mine = [
        described(
            "find_ship",
            "Find ships by name.",
            ["harbour", "flag"],
            "name",
            {"harbour": "Kiel", "flag": "de"},
        ),
        described(
            "harbour_weather",
            "The weather at a harbour.",
            ["wind", "sky"],
            "harbour",
            {"wind": "strong"},
        ),
    ]

    def run(*replies, strategy="chain", tools=(), **settings):
        model = ScriptedModel(*replies)
        config = Config(
            strategy=strategy,
            prompt_tokens=600,
            max_tools=20,
            samples=1,
            cache_dir=tmp_path,
            **settings,
        )
        agent = Agent(
            Toolbox([*others, *mine, *tools]), model=model, sandbox=sandbox, config=config
        )
        return agent.run("How windy is it where the ship Elbe lies?"), model

    return run


def text(prompt):
    return "\n".join(message.content for message in prompt)


@pytest.mark.parametrize(
    ("strategy", "replies"),
    [
        ("chain", [ANSWER]),
        ("stepwise", [ANSWER.replace("print(", "print('ANSWER:', ")]),
        ("codeact", [ANSWER, "Answer: strong"]),
    ],
)
def test_the_model_plans_and_continues_searches(solve, strategy, replies):
    solution, model = solve(PLAN, SEARCH, *replies, strategy=strategy)
    assert (solution.status, solution.answer) == ("solved", "strong")
    planned, first, second = model.prompts[:3]
    assert "harbour_weather" not in text(planned) + text(first)
    assert "def find_ship(*, name: str) -> FindShip" in text(first)
    assert "20 of 122 functions" in first[0].content
    assert second[: len(first)] == first
    assert "def harbour_weather(*, harbour: str)" in second[-1].content


def test_a_tool_named_in_documentation_is_shown(solve):
    """In short, and in full once it was called."""
    named = described(
        "flag_colours", "The colours of a flag. " + "More of it. " * 9, ["first"], "flag"
    )
    naming = described("find_ships", "Find ships by name; see flag_colours.", ["name"], "ship")
    wrong = "```python\nprint(flag_colours(flag='de')['last'])\n```"
    solution, model = solve(PLAN, wrong, ANSWER, tools=[naming, named], max_repairs=1)
    first = text(model.prompts[1])
    assert "def flag_colours(*, flag: str) -> str: ...  # The colours of a flag." in first
    assert "More of it" in model.prompts[2][-1].content
    assert "flag_colours" in solution.tools


def test_a_search_in_a_fence_is_a_search(solve):
    assert solve(PLAN, f"```python\n{SEARCH}\n```", ANSWER, max_repairs=0)[0].answer == "strong"


def test_a_search_without_embedder_is_reported(solve):
    notes = solve(PLAN, SEARCH, ANSWER)[0].notes
    told = (
        "Tools were searched by words alone: the embedding model 'minilm+paraphrase' is not"
        " fetched; fetch it with 'atc models pull minilm+paraphrase'."
    )
    assert notes == (told,)
    assert solve(PLAN, SEARCH, ANSWER, retrieval="planned:on=bm25")[0].notes == ()


def test_searches_are_bounded(solve):
    solution, model = solve(
        PLAN, SEARCH, "SEARCH: no such thing", "SEARCH: oil", SEARCH, SEARCH, max_repairs=0
    )
    assert solution.status == "failed"
    assert len(model.prompts) == 6
    assert "No further search" in model.prompts[-1][-1].content


def test_a_tool_called_unseen_is_shown(solve):
    wrong = ANSWER.replace("['wind']", "['speed']")
    solution, model = solve(PLAN, wrong, ANSWER, max_repairs=2)
    assert (solution.status, solution.answer) == ("solved", "strong")
    assert solution.attempts[0].trace is None
    assert "def harbour_weather(*, harbour: str)" in model.prompts[2][-1].content


def test_a_tool_that_a_search_showed_is_seen(solve):
    wrong = ANSWER.replace("['wind']", "['speed']")
    solution, model = solve(PLAN, SEARCH, wrong, ANSWER, max_repairs=2)
    assert (solution.status, solution.answer) == ("solved", "strong")
    assert "def harbour_weather(*, harbour: str)" in text(model.prompts[3])
    assert "Functions that you called" not in text(model.prompts[3])


@pytest.mark.parametrize("strategy", ["react", "dfsdt"])
def test_turn_by_turn_strategies_search_by_calls(solve, strategy):
    solution, model = solve(
        PLAN,
        TURN.format("search_tools", '{"searches": ["weather at a harbour"]}'),
        TURN.format("harbour_weather", '{"harbour": "Kiel"}'),
        TURN.format("finish", '{"answer": "strong"}'),
        strategy=strategy,
        decoding="off",
    )
    assert (solution.status, solution.answer, solution.call_count) == ("solved", "strong", 1)
    assert "harbour_weather" not in text(model.prompts[1])
    assert "search_tools: you are shown 20 of 122" in text(model.prompts[1])


def test_first_tools_are_described_in_full():
    many = Toolbox(
        described(f"list_{n}", "Lists things. And more.", [f"a{n}", "b"], "name") for n in range(40)
    )
    told, kept = describe_within_budget(many, budget=1000)
    assert (len(kept), token_estimate(told) <= 1000) == (40, True)
    assert "a0: str" in told
    assert "a39: str" not in told
    assert "def list_39(*, name: str) -> dict: ...  # Lists things." in told
    assert len(describe_within_budget(many, budget=300)[1]) < 40
