"""What ToolQP tells a model that was not trained for it, word for word."""

import json

import pytest

pytest.importorskip("numpy")

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan import Options, PromptedPlanner, ToolQP
from atc.retrieve.plan.prompts import fill

DOCUMENTS = {"lend": ToolDocument(name="lend", description="Lends a book"), "post": ToolDocument(name="post")}

SYSTEM = """\
You find tools for a task. You cannot see the tools: a search engine knows the name, the description and the \
parameters of each, and shows you the best five for a query.

First, break the task down. Reply with JSON:
- "plan": one or two sentences: what kinds of tools the task takes, what each reads and what each gives.
- "sub_goals": one short sentence for each tool that is needed, in the order of use. Often one or two are enough: \
do not split what a single tool does alone. Where a tool will need something that the task does not give (an id, an \
access token), add a sub-goal for the tool that gives it.

Then write search queries, one at a time, each for one sub-goal. A good query reads like the documentation of the \
tool: what it does, its subject or category, and likely names of its parameters. Never put values of the task in \
it: no names of people or places, no dates, no numbers.

Example of a task: My parcel from Leeds has not come. Where is it, and can you text my sister on her mobile when it \
will be here?
{"plan": "The task takes a tool that tracks a parcel by its tracking number and gives its place and day of \
delivery, and a tool that sends a text message to a phone number.", "sub_goals": ["Track a parcel and get its \
expected day of delivery.", "Send a text message to a phone number."]}
Query for the first sub-goal:
{"query": "parcel tracking: current location, status and delivery date of a shipment; parameters: tracking number, \
carrier"}"""

FORMAT = """\
With each query give the definition of the tool that you look for, as its documentation would have it: \
"description", a sentence, and "parameters", the likely names of its parameters."""

TURNS = """\
Task: Lend me a book and post it

Break it down.
----
Write the query for sub-goal 1: Lend.
----
Found:
1. lend: Lends a book
2. post

Does one of these tools serve sub-goal 1 (Lend.)? "serves": its name, or "none".
If one does, "query" is the query for sub-goal 2: Post.
If none does, "query" is another query for sub-goal 1, in other words.
----
Found:
1. lend: Lends a book
2. post

Leave sub-goal 1. Write the query for sub-goal 2: Post.
----
Found:
1. lend: Lends a book
2. post

Does one of these tools serve sub-goal 2 (Post.)? "serves": its name, or "none".
If one does, "query" is empty. If none does, "query" is another query for sub-goal 2, in other words."""


class Both:
    """Finds both tools, always."""

    def search(self, query, *, k):
        return Retrieval(hits=(Hit("lend", 1.0), Hit("post", 0.5)))


def test_each_turn_of_a_search():
    replies = [
        {"plan": "Lend and post.", "sub_goals": ["Lend.", "Post."]},
        {"query": "a"},
        {"serves": "none", "query": "b"},
        {"serves": "none", "query": "c"},
        {"query": "d"},
        {"serves": "post", "query": ""},
    ]
    model = ScriptedModel(*map(json.dumps, replies))
    ToolQP(Both(), DOCUMENTS, PromptedPlanner(model), options=Options()).search("Lend me a book and post it", k=2)
    assert model.prompts[0][0].content == SYSTEM
    asked = [prompt[-1].content for prompt in model.prompts]
    assert "\n----\n".join([*asked[:3], *asked[4:]]) == TURNS
    assert asked[3] == asked[2]


def test_what_a_tool_format_adds():
    assert fill("tool_format") == FORMAT
