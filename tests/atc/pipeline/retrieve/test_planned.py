"""How many searches a model may plan for a task."""

import json

import pytest

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.planned import PlannedRetriever, count_allowed_searches
from tests.labs.rankers import zoo


@pytest.mark.parametrize(
    ("task", "most"),
    [
        ("How many flights left JFK?", 6),
        ("Find Ann, her town, its airport and its code.", 6),
        ("Find a, b, c and d. Then list e, f. Say g.", 9),
        ("Say " + ", ".join("abcdefghijklmnop"), 12),
    ],
)
def test_a_task_of_many_parts_gets_more_searches(task, most):
    assert count_allowed_searches(task) == most


def test_further_searches_are_not_made():
    asked = ScriptedModel(json.dumps({"searches": [f"find thing {n}" for n in range(20)]}))
    ranker = ToolIndex.build(zoo(5)).lexical
    retriever = PlannedRetriever(ranker=ranker, ask=asked)
    found = retriever.search("Find a, b, c and d. Then list e, f. Say g.", k=3)
    assert len(found.transcript) == 9
    assert "two to nine" in asked.prompts[0][0].content
