"""What ToolQP's teacher is asked, word for word."""

import json
from collections.abc import Sequence

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit
from atc.retrieve.document import ToolDocument
from toolflow_bench.toolqp.hints import Hints
from toolflow_bench.toolqp.names import Names
from toolflow_bench.toolqp.prompts import fill
from toolflow_bench.toolqp.teacher import Teacher

DOCUMENTS = {
    "lend_it": ToolDocument(name="lend_it", description="With lend_it you lend books!", parameters={"title": ""}),
    "PostMan": ToolDocument(name="PostMan", description="Posts things"),
}
TOOLS = list(DOCUMENTS.values())

PLAN = """\
Say for each tool, in your own words, what this request needs it for, from what kind of input and with what result. \
Leave out whatever else a tool can do, what it is called and how it is advertised; leave out the names, places, \
dates and numbers of the request.
Request: Lend me a book
Tools that it takes:
- With this tool you lend books!
- Posts things"""

ORDER = """\
A request is fulfilled by calling tools one after the other. Put them in the order in which they would be called. \
Reply with JSON: {"order": [the name of every tool, each once]}

Request: Lend me a book
Plan: Lend and post.
Tools, in no order:
- lend_it: With lend_it you lend books!
- PostMan: Posts things"""

GOAL = """\
Add nothing that the plan does not have. Leave out how the tool is advertised, and what the plan's other tools are \
for.
Goals of the other tools: Lend.
Plan: Lend and post.
Tool: Posts things"""

SYSTEM = """\
You retrieve tools for a request, step by step, through a search engine over their documentation. For the goal of \
the current step write one search query of at most 30 words. Reply with JSON: {"query": "…"}

A good query describes a capability as documentation would: what the tool does, its category, and likely names of \
its parameters with their types (city: string). It has no values of the request (city: Chicago), since \
documentation has none, and no names of products.

Example of a goal: Send a text message to a phone number.
{"query": "tool for sending an SMS text message to a mobile phone, parameters: phone number string, message string, \
category: communication"}"""

QUERY = """\
Request: Lend me a book

Plan: Lend and post.

Steps done before:
(none)

Goal of the current step: find a tool for this: Lend.
The query may use the words of the goal.

Write the query for the goal of the current step."""

HINTS = """\
Goal of the current step: find a tool for this: Lend.
The query may use the words of the goal.
----
The tool that is looked for is described so: With this tool you lend books!
----
The query "books" was tried. It found:
1. PostMan: Posts things
None of them is the right one, or it stands too low.
----
The query "books" was tried. It found:
1. PostMan: Posts things
None of them is the right one, or it stands too low.

The same query with the whole plan behind it was tried, too. It found:
(nothing)
----
The documentation of the tool, its name left out: {"description": "With this tool you lend books!", "parameters": \
["title"]}
Use its description and the names of its parameters in the query."""


def teacher(**reply):
    model = ScriptedModel(json.dumps(reply))
    return Teacher(model, Names(DOCUMENTS), len), model


def found(query: str) -> Sequence[Hit]:
    return [Hit("PostMan", 1.0), Hit("lend_it", 0.5)] if query == "books" else []


def test_what_is_asked_for_a_plan_an_order_and_a_goal():
    asked, model = teacher(plan="x")
    asked.plan("Lend me a book", TOOLS)
    assert model.prompts[0][-1].content.endswith(PLAN)
    asked, model = teacher(order=[])
    asked.order("Lend me a book", "Lend and post.", TOOLS)
    assert model.prompts[0][-1].content == ORDER
    asked, model = teacher(goal="x")
    asked.sub_goal("Lend and post.", TOOLS[1], ["Lend."])
    assert model.prompts[0][-1].content.endswith(GOAL)


def test_what_is_asked_for_a_query_is_sampled():
    asked, model = teacher(query="x")
    prompt = fill(
        "query", query="Lend me a book", plan="Lend and post.", done="(none)", context=HINTS.split("\n----\n")[0]
    )
    asked.query(prompt, purpose="seven", temperature=1.0)
    assert [message.content for message in model.prompts[0]] == [SYSTEM, QUERY]
    assert (model.options[0]["temperature"], model.options[0]["seed"]) == (1.0, 5)


def test_what_is_told_in_each_round():
    hints = Hints(
        "Lend.",
        TOOLS[:1],
        plan="Lend and post.",
        names=Names(DOCUMENTS),
        find=found,
        documents=DOCUMENTS,
        shown=1,
    )
    assert "\n----\n".join(hints.told(number, "books") for number in range(1, 6)) == HINTS
    assert [hints.told(number, "") for number in (3, 4)] == ["", ""]


def test_a_tool_that_nothing_is_said_of_is_told_by_its_name():
    asked, model = teacher(goal="x")
    asked.sub_goal("A plan.", ToolDocument(name="lend_it"))
    assert model.prompts[0][-1].content.endswith("Tool: lend_it")


def test_names_are_hidden_as_they_stand_and_spelled_apart():
    names = Names(DOCUMENTS)
    assert names.hidden("Lend it by lend_it, LEND-IT or blend_it; PostMan", ["lend_it"]) == (
        "this tool by this tool, this tool or blend_it; PostMan"
    )
    assert names.given_away("ask the post man", ["PostMan"])
    assert not names.given_away("ask the postman's man", ["lend_it"])
