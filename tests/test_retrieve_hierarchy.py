"""AnyTool's retriever with scripted agents: who calls what, what is found, and how it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy import AnyTool, Options, Search
from protocols.errors import ModelUnavailable
from tests.hierarchy_lab import (
    CHECK,
    FINISH,
    FOOD_AGENT,
    META,
    SPORTS,
    SPORTS_AGENT,
    WEATHER_TOOLS,
    WORLD,
    Cast,
    box,
    call,
    verdict,
)


def played(cast: Cast, documents: Mapping[str, ToolDocument] = WORLD, **options: Any) -> Search:
    search = AnyTool(documents, cast, options=Options(**options)).start("Will it rain at the match?")
    search.run()
    return search


def test_meta_creates_category_agents_and_these_tool_agents_that_fill_the_pool() -> None:
    cast = Cast({
        META: [
            call("get_tools_in_category", category="sports", page=1),
            call("create_agent_category_level", category="sports"),
            call("create_agent_category_level", category="weather"),
            FINISH,
        ],
        SPORTS_AGENT: [
            call("get_tool_descriptions", tools=["club0", "club3"]),
            call("create_agent_tool_level", tools=["club3", "club4"]),
            FINISH,
        ],
        "club3 (sports)": [
            call("get_APIs_in_tool", tool="club3", page=1),
            call("get_API_detail", apis=["club3/1"]),
            call("add_API_into_API_pool", apis=["club3/1"]),
            FINISH,
        ],
        WEATHER_TOOLS: [call("add_API_into_API_pool", apis=["storm/0", "sun/1"]), FINISH],
        CHECK: [verdict("Unsolvable", "no club"), verdict("Unsolvable", "still none")],
    })  # fmt: skip
    search = played(cast)

    assert [(agent.role, agent.creator, agent.status) for agent in search.agents] == [
        ("meta", None, "finished"),
        ("category", 0, "finished"),
        ("tool", 0, "finished"),  # weather has two tools: no category agent
        ("tool", 1, "finished"),
    ]
    assert search.pool == ["storm/0", "sun/1", "club3/1"]
    assert cast.of(CHECK) == ["Unsolvable", "Unsolvable"]
    assert search.ended == "done"
    found = search.retrieval(k=2)
    assert [hit.tool for hit in found.hits] == ["storm/0", "sun/1"]
    assert found.hits[0].score > found.hits[1].score
    assert found.usage.model_calls == len(cast.calls)
    assert found.transcript[0].startswith("#0 meta: get_tools_in_category(category='sports', page=1) → - club0 - club1")


def test_an_agent_hears_results_and_the_verdict_on_what_it_added() -> None:
    cast = Cast({
        META: [call("create_agent_category_level", category="weather"), FINISH],
        WEATHER_TOOLS: [call("add_API_into_API_pool", apis=["storm/0"]), FINISH],
        CHECK: [verdict("Unsolvable", "the match is missing")],
    })  # fmt: skip
    search = played(cast)
    assert [message.role for message in search.agents[1].history] == ["system", "user", "assistant", "user"] * 1 + [
        "assistant",
        "user",
    ]
    assert search.agents[1].history[3].content == (
        "added: storm/0\nthe pool holds 1 APIs\nUnsolvable: the match is missing"
    )


@pytest.mark.parametrize("word", ["Solvable", "Unsure", "nonsense"])
def test_anything_but_unsolvable_stops_every_agent(word: str) -> None:
    cast = Cast({
        META: [call("create_agent_category_level", category=name) for name in ("weather", "sports", "food")] + [FINISH],
        WEATHER_TOOLS: [call("add_API_into_API_pool", apis=["sun/0"])],
        SPORTS_AGENT: [call("get_tool_descriptions", tools=["club0"])],
        CHECK: [verdict(word) if word != "nonsense" else "I cannot tell"],
    })  # fmt: skip
    search = played(cast)
    assert search.ended == "solvable"
    assert [agent.status for agent in search.agents] == ["stopped"] * 3
    assert search.pool == ["sun/0"]
    assert "the pool of 1 APIs is not unsolvable" in search.transcript[-1]


def test_agents_of_a_round_ask_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=20)

    def together() -> str:
        both.wait()  # breaks, and fails the test, unless both agents ask at once
        return FINISH

    cast = Cast({
        META: [call("create_agent_category_level", category="food"), FINISH],
        SPORTS_AGENT: [together],
        FOOD_AGENT: [together],
    })  # fmt: skip
    search = AnyTool(WORLD, cast).start("A match and a meal")
    for name in ("sports", "food"):
        search.add_category_agent(name)
    search.agents[0].status = "finished"
    search.run()
    assert search.ended == "done"


def test_the_result_does_not_depend_on_which_reply_comes_first() -> None:
    """The same scripts, with the agents' replies held back in both orders."""

    def pool(first: str) -> tuple[list[str], list[str]]:
        said = threading.Event()

        def speaks(who: str, tool: str) -> Callable[[], str]:
            def line() -> str:
                if who == first:
                    said.set()
                else:
                    assert said.wait(20)
                return call("add_API_into_API_pool", apis=[f"{tool}/0"])

            return line

        cast = Cast({
            META: [FINISH],
            "club0 (sports)": [speaks("a", "club0"), FINISH],
            "dish0 (food)": [speaks("b", "dish0"), FINISH],
            CHECK: [verdict("Unsolvable")],
        })  # fmt: skip
        search = AnyTool(WORLD, cast).start("A match and a meal")
        for place in search.hierarchy.places():
            if place.tool in ("club0", "dish0"):
                search.add_agent("tool", places=(place,))
        search.run()
        return search.pool, search.transcript

    assert pool("a") == pool("b")
    assert pool("a")[0] == ["club0/0", "dish0/0"]


def test_the_pool_ends_the_search_when_it_is_full() -> None:
    documents = box(weather={"storm": 9})
    cast = Cast({
        "storm (weather)": [call("add_API_into_API_pool", apis=[f"storm/{i}" for i in range(9)])],
        CHECK: [verdict("Unsolvable")],
    })  # fmt: skip
    search = played(cast, documents, pool=4)
    assert search.ended == "pool full"
    assert search.pool == ["storm/0", "storm/1", "storm/2", "storm/3"]
    assert cast.of(CHECK) == []  # a verdict would change nothing


def test_the_budget_is_shared_and_stops_all_agents() -> None:
    """Sixteen agents a round of 100 tokens each: the round in which 1,000 tokens are used up is the last."""
    documents = box(**{f"c{i:02}": {f"t{i:02}": 1} for i in range(20)})
    agents = {f"t{i:02} (c{i:02})": [call("get_API_detail", apis=[f"t{i:02}/0"]), FINISH] for i in range(20)}
    metas = [call("create_agent_category_level", category=f"c{i:02}") for i in range(20)]
    search = played(Cast({META: metas, **agents}, tokens=100), documents, tokens=1000)
    assert search.ended == "budget"
    assert 1000 <= search.budget.spent <= 1000 + 16 * 110
    assert "the budget of 1,000 tokens is used up" in search.transcript[-1]
    assert not [agent for agent in search.agents if agent.status == "active"]


def test_tokens_are_estimated_where_the_endpoint_tells_none() -> None:
    cast = Cast({META: [call("get_tools_in_category", category="sports", page=1)]}, tokens=0)
    search = played(cast, tokens=1)
    assert search.ended == "budget"
    assert search.budget.usage.input_tokens > 100


def test_an_agent_that_studied_apis_and_added_none_is_asked_once_before_it_finishes() -> None:
    studied = call("get_API_detail", apis=["storm/0", "storm/1"])
    search = AnyTool(box(weather={"storm": 3}), Cast({"": [studied, FINISH, FINISH]})).start("Rain?")
    search.run()
    asked = search.agents[0].history[-3].content
    assert asked.startswith("error: you looked at storm/0, storm/1 and added nothing; put those that the request needs")
    assert search.agents[0].status == "finished"
    assert search.pool == []


def test_an_agent_that_added_something_finishes_at_once() -> None:
    studied = [call("get_API_detail", apis=["storm/0"]), call("add_API_into_API_pool", apis=["storm/0"]), FINISH]
    cast = Cast({CHECK: [verdict("Unsolvable", "too dry")], "": studied})
    search = AnyTool(box(weather={"storm": 3}), cast).start("Rain?")
    search.run()
    assert cast.of("") == ["get_API_detail", "add_API_into_API_pool", "finish_search"]


def test_an_agent_that_looks_at_the_same_apis_again_is_told_what_to_do_with_them() -> None:
    cast = Cast({"": [call("get_APIs_in_tool", tool="storm")] * 2 + [FINISH]})
    search = AnyTool(box(weather={"storm": 3}), cast).start("Rain?")
    search.run()
    assert search.agents[0].history[-3].content == (
        "the result is the same as before; put those that the request needs into the pool with add_API_into_API_pool,"
        " or call finish_search"
    )


def test_an_agent_that_repeats_itself_is_stopped() -> None:
    cast = Cast({META: [call("get_tools_in_category", category="sports", page=1)]})
    search = played(cast)
    assert len(cast.calls) == 4  # once, and three times with the same result
    assert search.agents[0].status == "stopped"
    assert "#0 meta was stopped: it repeats itself" in search.transcript
    assert search.agents[0].history[-1].content.startswith("the result is the same as before")


def test_an_agent_makes_twenty_steps() -> None:
    tools = [f"club{i}" for i in range(8)]
    pairs = [call("get_tool_descriptions", tools=[a, b]) for a in tools for b in tools if a != b]
    search = played(Cast({META: pairs}))
    assert search.agents[0].steps == 20
    assert search.agents[0].status == "stopped"
    assert "#0 meta was stopped: it made its 20 steps" in search.transcript


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Sure, I will look.", "error: the reply is not JSON"),
        ('{"thought": "x"}', "error: the reply has no call"),
        ("[1, 2]", "error: the reply has no call"),
        (call("rm_rf"), "error: there is no function 'rm_rf'; there are create_agent_category_level, "),
        (call("create_agent_tool_level", tools=["club0"]), "error: there is no function 'create_agent_tool_level'"),
        (call("create_agent_category_level"), "error: 'category' must be a name, got None"),
        (call("create_agent_category_level", category="sport"), "error: not among the category here: 'sport'; there"),
        (call("get_tools_in_category", category="sports", page=7), "error: there is no page 7; the list has 1"),
        (call("get_tool_descriptions", tools=[]), "error: 'tools' must be a list of names, got []"),
        (call("get_tool_descriptions", tools=[{"a": 1}]), "error: 'tools' must be a list of names"),
        (call("get_tool_descriptions", tools=["club99"]), "error: not among the tools here: 'club99'; there are 'club"),
    ],
)  # fmt: skip
def test_a_malformed_call_is_answered_with_what_is_possible(said: str, answer: str) -> None:
    search = played(Cast({META: [said, FINISH]}))
    assert search.agents[0].history[3].content.startswith(answer)
    assert search.agents[0].status == "finished"


@pytest.mark.parametrize(
    "said",
    [
        '{"function": "create_agent_category_level", "category": "SPORTS"}',
        '{"function": "create_agent_category_level", "arguments": {"category": "sports"}}',
        '{"thought": "", "call": {"function": "create_agent_category_level", "arguments": {"category": "sports "}}}',
    ],
)
def test_a_call_may_be_nested_otherwise_and_a_name_be_in_another_case(said: str) -> None:
    search = played(Cast({META: [said, FINISH], SPORTS_AGENT: [FINISH]}))
    assert [agent.role for agent in search.agents] == ["meta", "category"]


def test_unknown_and_pruned_apis_do_not_enter_the_pool() -> None:
    documents = box(weather={"storm": 4})
    cast = Cast({
        "storm (weather)": [
            call("add_API_into_API_pool", apis=["storm/0", "storm/77", "2", "storm/0"]),
            FINISH,
        ],
        CHECK: [verdict("Unsolvable")],
    })  # fmt: skip
    search = AnyTool(documents, cast).start("Rain?")
    search.prune(["storm/2"])
    search.run()
    assert search.pool == ["storm/0"]
    said = search.agents[0].history[3].content
    assert "added: storm/0\ntried before without success: storm/2\nnot among the apis here: 'storm/77'" in said


def test_at_most_five_tools_an_agent_and_each_tool_once() -> None:
    cast = Cast({
        META: [call("create_agent_category_level", category="sports"), FINISH],
        SPORTS_AGENT: [
            call("create_agent_tool_level", tools=[f"club{i}" for i in range(6)]),
            call("create_agent_tool_level", tools=["club0", "club1"]),
            call("create_agent_tool_level", tools=["club1", "club2"]),
            call("create_agent_tool_level", tools=["club0"]),
            FINISH,
        ],
        "APIs of these tools": [FINISH],
    })  # fmt: skip
    search = played(cast)
    tools = [[place.tool for place in agent.places] for agent in search.agents if agent.role == "tool"]
    assert tools == [["club0", "club1"], ["club2"]]
    told = [message.content for message in search.agents[1].history if message.role == "user"]
    assert told[1].startswith("error: an agent takes at most 5 tools, and these are 6")
    assert told[4].startswith("error: these tools have their agent already")


@pytest.mark.parametrize(("most", "role"), [(3, "category"), (5, "category"), (10, "tool")])
def test_the_number_of_tools_an_agent_is_an_option(most: int, role: str) -> None:
    cast = Cast({META: [call("create_agent_category_level", category="sports"), FINISH], "": [FINISH]})
    search = played(cast, tools_per_agent=most)
    assert search.agents[1].role == role


def test_an_outage_keeps_what_was_done_and_the_search_goes_on_there() -> None:
    down = ModelUnavailable("the server is away; try again.")
    cast = Cast({
        META: [
            call("create_agent_category_level", category="weather"),
            call("create_agent_category_level", category="sports"),
            down,
            FINISH,
        ],
        WEATHER_TOOLS: [
            call("get_API_detail", apis=["sun/0"]),
            call("add_API_into_API_pool", apis=["sun/0"]),
            call("get_API_detail", apis=["storm/0"]),
            FINISH,
        ],
        SPORTS_AGENT: [FINISH],
        CHECK: [down, verdict("Unsolvable")],
    })  # fmt: skip
    search = AnyTool(WORLD, cast).start("Sun at the match?")
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            search.run()
        assert search.pool == ["sun/0"]
    search.run()
    assert search.ended == "done"
    assert len(cast.of(WEATHER_TOOLS)) == 4
    assert cast.of(CHECK) == ["Unsolvable"]


def test_search_raises_where_the_model_is_away() -> None:
    retriever = AnyTool(WORLD, Cast({"": [ModelUnavailable("away")]}))
    with pytest.raises(ModelUnavailable):
        retriever.search("Rain?", k=5)


def test_the_flat_agent_has_all_functions_but_creates_nobody() -> None:
    cast = Cast({
        "You search a catalogue": [
            call("get_tools_in_category", category="weather", page=1),
            call("get_APIs_in_tool", tool="storm", page=1),
            call("add_API_into_API_pool", apis=["storm/2"]),
            call("check_if_request_solvable"),
            FINISH,
        ],
        CHECK: [verdict("Unsolvable", "no match")],
    })  # fmt: skip
    search = played(cast, flat=True)
    assert [agent.role for agent in search.agents] == ["flat"]
    assert search.pool == ["storm/2"]
    assert cast.of(CHECK) == ["Unsolvable"]  # the pool had not changed: no second call
    assert "create_agent" not in json.dumps(cast.schemas[0])
    assert "create_agent" not in cast.prompts[0][1][0].content


@pytest.mark.parametrize(
    ("documents", "roles"),
    [
        (box(weather={"storm": 1, "sun": 1}, food={"dish": 4}), ["tool"]),
        (box(sports=SPORTS), ["category"]),
        (WORLD, ["meta"]),
        ({}, []),
        ({"a": ToolDocument(name="a"), "b": ToolDocument(name="b")}, ["tool"]),
        ({f"f{i}": ToolDocument(name=f"f{i}") for i in range(30)}, ["category"]),
        ({f"f{i}": ToolDocument(name=f"f{i}", collection=f"s{i % 6}") for i in range(30)}, ["meta"]),
    ],
    ids=["few tools", "one category", "categories", "nothing", "few bare", "many bare", "sources"],
)
def test_small_boxes_have_no_level_that_has_nothing_to_choose(
    documents: Mapping[str, ToolDocument], roles: list[str]
) -> None:
    search = played(Cast({"": [FINISH]}), documents)
    assert [agent.role for agent in search.agents] == roles
    assert search.retrieval(k=5).hits == ()


def test_documents_without_category_or_collection_have_their_place() -> None:
    documents = {
        "a": ToolDocument(name="a", collection="mail"),
        "b": ToolDocument(name="b", category="office"),
        "c": ToolDocument(name="c"),
    }
    hierarchy = AnyTool(documents, Cast({})).hierarchy
    assert {category: dict(tools) for category, tools in hierarchy.tools.items()} == {
        "mail": {"mail": ("a",)},
        "office": {"office": ("b",)},
        "general": {"general": ("c",)},
    }


def test_names_that_are_used_up_are_no_longer_offered() -> None:
    cast = Cast({META: [call("create_agent_category_level", category="weather"), FINISH], WEATHER_TOOLS: [FINISH]})
    played(cast)
    first, then = (json.dumps(cast.schemas[at]["properties"]["call"]["anyOf"][0]) for at in (0, 1))
    assert '["sports", "weather", "food"]' in first
    assert '["sports", "food"]' in then


@pytest.mark.parametrize("option", ["pool", "tools_per_agent", "steps", "tokens", "threads", "prompt_tokens"])
def test_a_limit_is_at_least_one(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be at least 1, not 0"):
        Options(**{option: 0})  # type: ignore[arg-type]
