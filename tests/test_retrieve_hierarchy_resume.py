"""Histories are kept: unfinished agents are woken with a reason (AnyTool §4.3); prompts keep within room."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from atc.retrieve.agents import AnyTool, Options, Search
from atc.retrieve.asking import prompt_tokens
from tests.hierarchy_lab import CHECK, FINISH, META, SPORTS_AGENT, WORLD, Cast, Line, box, call, verdict

CLUB0, CLUB1, DISH = "club0 (sports)", "club1 (sports)", "dish0 (food)"


def added(api: str) -> str:
    return call("add_API_into_API_pool", apis=[api])


def stopped(cast: Cast) -> Search:
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
        "not among the names left for 'apis': 'club0/0'" in message.content for message in search.agents[2].history
    )


@pytest.mark.parametrize("room", [1000, 1500, 4000])
def test_no_prompt_is_longer_than_the_model_can_hold(room: int) -> None:
    """Many categories and tools, long descriptions in another script, a query of 100 kB, twenty long results."""
    documents = box(**{f"c{i}": {f"c{i}tool{j}": 3 for j in range(30)} for i in range(60)})
    documents = {
        name: type(one)(name=name, description="天気を調べる " * 60, category=one.category, collection=one.collection)
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
    search = AnyTool(documents, cast, options=Options(prompt_tokens=room)).start("Wetter? " * 12_500)
    search.run()
    assert max(prompt_tokens(messages) for _, messages in cast.prompts) <= room
    assert max(agent.steps for agent in search.agents) > 10
    if room == 1000:
        assert [agent.role for agent in search.agents].count("meta") > 1  # the categories do not fit one prompt
    assert all(len(agent.history) >= 2 * agent.steps for agent in search.agents)
