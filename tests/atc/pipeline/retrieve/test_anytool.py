"""AnyTool's retriever with scripted agents: who calls what, what is found, and how it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from atc.pipeline.retrieve.anytool import AgentSearch, AnyTool
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.model_replies import prompt_tokens
from atc.pipeline.retrieve.search_agents import AnyToolOptions
from tests.labs.patience import PATIENCE
from tests.labs.search_agents import (
    CHECK,
    FINISH,
    META,
    SPORTS,
    SPORTS_AGENT,
    WEATHER_TOOLS,
    WORLD,
    Cast,
    Line,
    box,
    call,
    verdict,
)


def played(
    cast: Cast, documents: Mapping[str, ToolDocument] = WORLD, **options: Any
) -> AgentSearch:
    search = AnyTool(documents, cast, options=AnyToolOptions(**options)).start(
        "Will it rain at the match?"
    )
    search.run()
    return search


def test_meta_creates_agents_that_fill_the_pool() -> None:
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
    assert found.transcript[0].startswith(
        "#0 meta: get_tools_in_category(category='sports', page=1) → - club0 - club1"
    )


def test_the_order_of_replies_changes_no_result() -> None:
    """The same scripts, with the agents' replies held back in both orders."""

    def pool(first: str) -> tuple[list[str], list[str]]:
        said = threading.Event()

        def speaks(who: str, tool: str) -> Callable[[], str]:
            def line() -> str:
                if who == first:
                    said.set()
                else:
                    assert said.wait(PATIENCE)
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


def test_the_budget_is_shared_and_stops_all_agents() -> None:
    """Sixteen agents a round of 100 tokens each: the round in which 1,000 tokens are used up is the last."""
    documents = box(**{f"c{i:02}": {f"t{i:02}": 1} for i in range(20)})
    agents = {
        f"t{i:02} (c{i:02})": [call("get_API_detail", apis=[f"t{i:02}/0"]), FINISH]
        for i in range(20)
    }
    metas = [call("create_agent_category_level", category=f"c{i:02}") for i in range(20)]
    search = played(Cast({META: metas, **agents}, tokens=100), documents, tokens=1000)
    assert search.ended == "budget"
    assert 1000 <= search.ask.spent <= 1000 + 16 * 110
    assert search.transcript[-1].startswith("ended: budget; ")
    assert not [agent for agent in search.agents if agent.status == "active"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Sure, I will look.", "error: reply with one JSON object of a thought"),
        (call("rm_rf"), "error: there is no function 'rm_rf'; there are create_agent_category_level, "),
        (call("create_agent_tool_level", tools=["club0"]), "error: there is no function 'create_agent_tool_level'"),
        (call("create_agent_category_level"), "error: 'category' must be a name"),
        (call("create_agent_category_level", category="sport"), "error: not among the names left for 'category': "),
        (call("get_tools_in_category", category="sports", page=7), "error: there is no page 7; the list has 1"),
        (call("get_tool_descriptions", tools=3), "error: 'tools' must be a list of names"),
        (call("get_tool_descriptions", tools=["club99"]), "error: not among the names left for 'tools': 'club99'"),
    ],
)  # fmt: skip
def test_malformed_calls_are_answered_with_possible_ones(said: str, answer: str) -> None:
    search = played(Cast({META: [said, FINISH]}))
    assert search.agents[0].history[3].content.startswith(answer)
    assert search.agents[0].status == "finished"


def test_the_flat_agent_creates_no_agents() -> None:
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
        (box(weather={"storm": 1, "sun": 1}), ["tool"]),
        (box(sports=SPORTS), ["category"]),
        ({}, []),
        (
            {f"f{i}": ToolDocument(name=f"f{i}", collection=f"s{i % 6}") for i in range(30)},
            ["meta"],
        ),
    ],
)
def test_small_boxes_skip_levels_without_a_choice(
    documents: Mapping[str, ToolDocument], roles: list[str]
) -> None:
    search = played(Cast({"": [FINISH]}), documents)
    assert [agent.role for agent in search.agents] == roles
    assert search.retrieval(k=5).hits == ()


# Histories are kept: unfinished agents are woken with a reason (AnyTool §4.3); prompts keep within room.

CLUB0, CLUB1, DISH = "club0 (sports)", "club1 (sports)", "dish0 (food)"


def added(api: str) -> str:
    return call("add_API_into_API_pool", apis=[api])


def stopped(cast: Cast) -> AgentSearch:
    """A search that ended at the first API: the meta agent, a category agent and two tool agents are unfinished."""
    search = AnyTool(WORLD, cast).start("Who plays?")
    search.add_category_agent("sports", creator=search.agents[0])
    for tool in ("club0", "club1"):
        place = next(place for place in search.hierarchy.places() if place.tool == tool)
        search.add_agent("tool", places=(place,), creator=search.agents[1])
    search.run()
    assert search.ended == "solvable"
    return search


def scripts(**later: Sequence[Line]) -> dict[str, list[Line]]:
    looks = call("get_tool_descriptions", tools=["club0"])
    return {
        META: [looks, *later.get("meta", [FINISH])],
        SPORTS_AGENT: [looks, *later.get("category", [FINISH])],
        CLUB0: [added("club0/0"), *later.get("club0", [FINISH])],
        CLUB1: [call("get_APIs_in_tool", tool="club1"), *later.get("club1", [FINISH])],
        DISH: [FINISH],
        CHECK: [verdict("Solvable"), verdict("Unsolvable", "nobody plays")],
    }


def test_unfinished_agents_wake_deepest_first_and_youngest_first() -> None:
    cast = Cast(scripts())
    search = stopped(cast)
    asked = len(cast.calls)
    search.resume("club0/0 answers HTTP 500")
    assert [who for who, _ in cast.calls[asked:]] == [CLUB1, CLUB0, SPORTS_AGENT, META]
    assert [agent.status for agent in search.agents] == ["finished"] * 4


def test_a_pruned_api_leaves_the_pool_for_good() -> None:
    cast = Cast(scripts(club0=[added("club0/0"), FINISH]))
    search = stopped(cast)
    search.prune(["club0/0", "club9/9"])
    search.resume("club0/0 answers HTTP 500")
    assert search.pool == []
    assert "pruned: club0/0, club9/9" in search.transcript
    assert any(
        "not among the names left for 'apis': 'club0/0'" in message.content
        for message in search.agents[2].history
    )


@pytest.mark.parametrize("room", [1000, 1500, 4000])
def test_no_prompt_exceeds_the_models_room(room: int) -> None:
    """Many categories and tools, long descriptions in another script, a query of 100 kB, twenty long results."""
    documents = box(**{f"c{i}": {f"c{i}tool{j}": 3 for j in range(30)} for i in range(60)})
    documents = {
        name: type(one)(
            name=name,
            description="天気を調べる " * 60,
            category=one.category,
            collection=one.collection,
        )
        for name, one in documents.items()
    }
    tools = [f"c3tool{j}" for j in range(30)]
    cast = Cast({
        "c0tool0": [call("create_agent_category_level", category="c3")],
        META: [
            call("create_agent_category_level", category="c3"),
            *(call("get_tool_descriptions", tools=tools[j : j + 5]) for j in range(19)),
        ],
        "category c3": [
            call("create_agent_tool_level", tools=tools[:5]),
            *(call("get_tools_in_category", category="c3", page=j % 4 + 1) for j in range(19)),
        ],
        "c3tool0 (c3)": [
            *(call("get_APIs_in_tool", tool=f"c3tool{j % 5}", page=1) for j in range(9)),
            *(call("get_API_detail", apis=[f"c3tool{j % 5}/{j % 3}", "c3tool0/0"]) for j in range(9)),
        ],
        "": [FINISH],
    })  # fmt: skip
    search = AnyTool(documents, cast, options=AnyToolOptions(prompt_tokens=room)).start(
        "Wetter? " * 12_500
    )
    search.run()
    assert max(prompt_tokens(messages) for _, messages in cast.prompts) <= room
    assert max(agent.steps for agent in search.agents) > 10
    if room == 1000:
        assert [agent.role for agent in search.agents].count(
            "meta"
        ) > 1  # the categories do not fit one prompt
    assert all(len(agent.history) >= 2 * agent.steps for agent in search.agents)
