"""What the agents are told, word for word."""

from __future__ import annotations

import json

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy import AnyTool, Options, PlainAgent, Search
from atc.retrieve.hierarchy.functions import schema
from atc.retrieve.hierarchy.prompts import fill
from tests.hierarchy_lab import CHECK, FINISH, WORLD, Cast, box, call, verdict

META = """\
You guide a search in a catalogue of APIs: categories hold tools, tools hold APIs. Somebody has a request. \
Decide which \
categories may hold APIs that the request needs, and give each of them an agent that searches it. You do not \
answer the \
request.

You have these functions:
- create_agent_category_level(category): an agent is created that searches the category.
- get_tools_in_category(category, page): the names of a category's tools.
- get_tool_descriptions(tools): what some tools are for.
- finish_search(): you are done.

A request may need several categories, also some that its words do not name. If you are in doubt, look at the tools of \
a category first. When every category that may help has its agent, call finish_search.

Each reply is one JSON object: a short thought on what the request needs, and one call, such as
{"thought": "…", "call": {"function": "create_agent_category_level", "category": "…"}}"""

META_TASK = """\
Categories:
- sports (tools: 8)
- weather (tools: 2)
- food (tools: 7)

Request: Rain?"""

CATEGORY = """\
You search one category of a catalogue of APIs: the category holds tools, each tool holds APIs. Somebody has \
a request. \
Decide which tools of the category may hold APIs that the request needs, and give them to agents that look at their \
APIs. You do not answer the request.

You have these functions:
- create_agent_tool_level(tools): an agent is created that searches these tools, 5 at most. Put tools of a \
kind together.
- get_tools_in_category(category, page): the names of the category's tools, where you do not see all of them.
- get_tool_descriptions(tools): what some tools are for.
- finish_search(): you are done.

Create one agent or several. When every tool that may help has its agent, or none of them can help, call finish_search.

Each reply is one JSON object: a short thought on what the request needs, and one call, such as
{"thought": "…", "call": {"function": "create_agent_tool_level", "tools": ["…", "…"]}}"""

CATEGORY_TASK = """\
Tools of the category food:
- dish0
- dish1
- dish2
- dish3
- dish4
- dish5
- dish6

Request: Rain?"""

TOOL = """\
You search a few tools of a catalogue of APIs; each tool holds APIs. Somebody has a request. Find the APIs of these \
tools that the request needs, and put them into the pool. You do not answer the request.

You have these functions:
- add_API_into_API_pool(apis): APIs that the request needs go into the pool. You are told whether the pool now suffices.
- get_APIs_in_tool(tool, page): the names of a tool's APIs, where you do not see all of them.
- get_API_detail(apis): what some APIs do, take and return.
- check_if_request_solvable(): whether the pool suffices for the request.
- finish_search(): you are done.

Name APIs exactly as they are listed. When all that may help are in the pool, or none of these APIs can help, call \
finish_search.

Each reply is one JSON object: a short thought on what the request needs, and one call, such as
{"thought": "…", "call": {"function": "add_API_into_API_pool", "apis": ["…"]}}"""

TOOL_TASK = """\
Tools and their APIs:
storm (weather), APIs: 3
- storm/0: what storm/0 does
- storm/1: what storm/1 does
- storm/2: what storm/2 does
sun (weather), APIs: 2
- sun/0: what sun/0 does
- sun/1: what sun/1 does

Request: Rain?"""

FLAT = """\
You search a catalogue of APIs: categories hold tools, tools hold APIs. Somebody has a request. Find the APIs that the \
request needs, and put them into the pool. You do not answer the request.

You have these functions:
- get_tools_in_category(category, page): the names of a category's tools.
- get_tool_descriptions(tools): what some tools are for.
- get_APIs_in_tool(tool, page): the names of a tool's APIs.
- get_API_detail(apis): what some APIs do, take and return.
- add_API_into_API_pool(apis): APIs that the request needs go into the pool. You are told whether the pool now suffices.
- check_if_request_solvable(): whether the pool suffices for the request.
- finish_search(): you are done.

Name tools and APIs exactly as they are listed. When all that may help are in the pool, call finish_search.

Each reply is one JSON object: a short thought on what the request needs, and one call, such as
{"thought": "…", "call": {"function": "get_tools_in_category", "category": "…"}}"""

PLAIN = """\
You are shown a part of a catalogue of APIs. Somebody has a request. Find the APIs of this part that the \
request needs, \
and put them into the pool. You do not answer the request.

You have these functions:
- add_API_into_API_pool(apis): APIs that the request needs go into the pool. You are told whether the pool now suffices.
- finish_search(): you are done with this part.

Name APIs exactly as they are listed. When all that may help are in the pool, or none of these APIs can help, call \
finish_search.

Each reply is one JSON object: a short thought on what the request needs, and one call, such as
{"thought": "…", "call": {"function": "add_API_into_API_pool", "apis": ["…"]}}"""

SOLVABLE = """\
You are shown a request and APIs that were found for it. Judge whether the request can be fulfilled with \
these APIs alone.

Say Solvable if the APIs do all that is asked for, Unsolvable if something that is asked for is done by none of them, \
and Unsure if that cannot be told. Of an Unsolvable request, the reason names what is missing.

Reply with one JSON object: {"reason": "…", "verdict": "Solvable" or "Unsolvable" or "Unsure"}"""

SEGMENTS = """\
You are shown parts of a catalogue of APIs that were found for a request. Pick the APIs that the request needs, those \
that help most first. Name them exactly as they are listed. Pick none if none helps.

Reply with one JSON object: {"apis": ["…", …]}"""

RESUMED = {
    "resume_tool": "Look for further APIs of your tools that help with this. If they have none, call finish_search. "
    "Use only names that are listed.",
    "resume_category": "Give agents to further tools that may help with this, such as you have passed over. If there "
    "are none, call finish_search.",
    "resume_meta": "Give agents to further categories that may help with this, such as you have passed over. If there "
    "are none, call finish_search.",
}


def begun() -> Search:
    search = AnyTool(WORLD, Cast({})).start("Rain?")
    search.add_category_agent("food")
    search.add_category_agent("weather")
    return search


def test_what_each_agent_is_told_at_first() -> None:
    told = [[message.content for message in agent.history] for agent in begun().agents]
    assert told == [[META, META_TASK], [CATEGORY, CATEGORY_TASK], [TOOL, TOOL_TASK]]


def test_what_the_flat_agent_is_told_at_first() -> None:
    search = AnyTool(WORLD, Cast({}), options=Options(flat=True)).start("Rain?")
    assert [message.content for message in search.agents[0].history] == [FLAT, META_TASK]


def test_what_the_plain_agent_and_the_judge_are_told() -> None:
    cast = Cast({
        CHECK: [verdict("Solvable")],
        "shown a part": [call("add_API_into_API_pool", apis=["storm/1"]), FINISH],
    })  # fmt: skip
    PlainAgent(box(weather={"storm": 2}, food={"a dish": 1}), cast).search("Rain?", k=3)
    (_, plain), (_, judge) = cast.prompts
    assert [message.content for message in plain] == [
        PLAIN,
        "APIs:\n- storm/0\n- storm/1\n- a dish/0\n\nRequest: Rain?",
    ]
    assert [message.content for message in judge] == [
        SOLVABLE,
        "APIs:\n- storm/1: what storm/1 does\n\nRequest: Rain?",
    ]


def test_what_the_reader_of_segments_is_told() -> None:
    assert fill("segments") == SEGMENTS


@pytest.mark.parametrize("prompt", RESUMED)
def test_what_a_woken_agent_is_told(prompt: str) -> None:
    said = "With the APIs of the pool the request could not be fulfilled. The reason: HTTP 500\n"
    assert fill(prompt, reason="HTTP 500") == said + RESUMED[prompt]


def test_every_function_of_an_agent_is_in_its_instructions_and_its_schema() -> None:
    for agent in (search := begun()).agents:
        offered = [one["properties"] for one in schema(search, agent)["properties"]["call"]["anyOf"]]
        names = [properties["function"]["enum"][0] for properties in offered]
        assert names == [line[2:].split("(")[0] for line in agent.history[0].content.splitlines() if line[:2] == "- "]


def test_details_of_an_api() -> None:
    document = ToolDocument(
        name="sky_rain", title="Rain", description="Chance of  rain\nby hour.", category="sky", collection="rain",
        parameters={"place": "name of a town", "unit": ""}, required=("place",), returns=("hours", "hours.chance"),
    )  # fmt: skip
    cast = Cast({"": [call("get_API_detail", apis=["sky_rain"]), FINISH]})
    search = AnyTool({"sky_rain": document}, cast).start("Rain?")
    search.run()
    assert search.agents[0].history[3].content == (
        "- sky_rain (Rain)\ndescription: Chance of rain by hour.\nrequired: place (name of a town)\noptional: unit\n"
        "returns: hours, hours.chance\n"
        "put those that the request needs into the pool with add_API_into_API_pool"
    )


def test_the_schema_of_a_tool_agent() -> None:
    search = begun()
    apis = ["storm/0", "storm/1", "storm/2", "sun/0", "sun/1"]
    calls = schema(search, search.agents[2])["properties"]["call"]["anyOf"]
    assert calls[0] == {
        "type": "object",
        "properties": {
            "function": {"type": "string", "enum": ["add_API_into_API_pool"]},
            "apis": {"type": "array", "items": {"type": "string", "enum": apis}, "minItems": 1, "maxItems": 10},
        },
        "required": ["function", "apis"],
        "additionalProperties": False,
    }
    assert json.dumps(calls[-1]["properties"]) == '{"function": {"type": "string", "enum": ["finish_search"]}}'


def test_many_names_are_not_in_the_schema_but_checked() -> None:
    documents = box(big={"tool": 300})
    cast = Cast(
        {"": [call("add_API_into_API_pool", apis=["tool/299", "tool/300"]), FINISH], CHECK: [verdict("Solvable")]}
    )
    search = AnyTool(documents, cast).start("Rain?")
    search.run()
    assert "tool/7" not in json.dumps(cast.schemas[0])
    assert search.pool == ["tool/299"]
