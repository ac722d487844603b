"""Whether an answer settles its task: votes, the tie rule, what a judge is shown."""

from __future__ import annotations

import pytest

from atc.models.scripted import ScriptedModel
from atc.strategies.anytool import judged, read, told
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.hierarchy_lab import verdict
from tests.tool_lab import tool


@pytest.mark.parametrize(
    ("words", "decided", "asked"),
    [
        (["Solved", "Solved", "Unsolved"], "Solved", 2),
        (["Solved", "Unsolved", "Solved"], "Solved", 3),
        (["Solved", "Unsolved", "Unsure"], "Unsure", 3),
        (["Unsure", "Unsure"], "Unsure", 2),
    ],
)
def test_more_than_half_of_three_votes_decide_and_none_is_asked_for_in_vain(words, decided, asked):
    model = ScriptedModel(*(verdict(word, f"reason {number}") for number, word in enumerate(words)))
    assert judged(model, "Who won?", "Ada")[0] == decided
    assert len(model.prompts) == asked


@pytest.mark.parametrize("text", ["", "Solved", "[1]", "{}", '{"verdict": "solved!"}', "[" * 100_000])
def test_a_reply_that_cannot_be_read_is_unsure(text):
    assert read(text) == ("Unsure", "")


def test_calls_are_told_with_what_they_returned_the_last_ones_where_there_are_many():
    tools = Toolbox([tool("get", None, {"n": "integer"}, optional=["n"])])
    good = ToolCall(index=0, tool="get", arguments={"n": 1}, line=1, result={"name": "Ada", "notes": ["x" * 900] * 9})
    bad = ToolCall(index=1, tool="get", arguments={"n": 2}, line=2, error="HTTP 404: no such year")
    first, last = told([good, bad], tools).splitlines()[0], told([good, bad], tools).splitlines()[-1]
    assert first.startswith("- get(n=1) → {'name': 'Ada', 'notes': [")
    assert len(first) < 600
    assert last == "- get(n=2) → error: HTTP 404: no such year"
    assert len(told([bad] * 20, tools).splitlines()) == 12
    assert told([], tools) == ""
