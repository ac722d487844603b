"""AnyToolBench's construction: a scripted writer in a small world; what is verified, judged, filtered and kept."""

import json
from functools import partial

import pytest

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.document import ToolDocument
from benchmarks.anytoolbench.__main__ import (
    accepted_queries,
    construct,
    figures,
    make_queries,
)
from benchmarks.anytoolbench.pool import Api, ApiPool
from benchmarks.anytoolbench.verdicts import QueryRefused, verify_solution
from protocols.errors import ModelUnavailable, ToolError
from tests.labs.search_agents import call, verdict
from tests.labs.tools import tool

RESOLVED, KEEP = verdict("resolved", "all is there"), verdict("keep")
QUERY = (
    "I am planning a quiet weekend in the city of Lisbon and would like to know which film with actor Ann Bell is "
    "shown there, how long it runs, and how warm it will be on Saturday evening?"
)
ANSWER = "Ann Bell plays in Harbor Lights, which runs 112 minutes; it will be 21 degrees in Lisbon."
SOLUTION = [
    {"api": "cinema/films", "arguments": {"actor": "Ann Bell"}},
    {"api": "cinema/film", "arguments": {"film_id": 4711}},
    {"api": "sky/forecast", "arguments": {"city": "Lisbon"}},
]
ANSWERS = {
    "cinema/films": [{"id": 4711, "title": "Harbor Lights"}],
    "cinema/film": {"title": "Harbor Lights", "minutes": 112},
    "sky/forecast": {"city": "Lisbon", "degrees": 21.3},
    "bakery/cakes": {"cakes": ["Opera", "Linzer"]},
}
ADD = call("add_API_into_API_pool", apis=["cinema/films", "cinema/film", "sky/forecast"])


def api(name, category, down, **takes):
    def reply(_):
        if name == down:
            raise ToolError(503, "down")
        return ANSWERS[name]

    document = ToolDocument(
        name=name, description=f"Gives {name}.", category=category, collection=name.split("/")[0]
    )
    return Api(document, tool(name, reply, takes))


def world(down=None):
    return ApiPool([
        api("cinema/films", "Movies", down, actor="string"),
        api("cinema/film", "Movies", down, film_id="integer"),
        api("sky/forecast", "Weather", down, city="string"),
        api("bakery/cakes", "Food", down),
    ])  # fmt: skip


def finish(query=QUERY, answer=ANSWER, solution=SOLUTION):
    return call("finish", query=query, solution=solution, answer=answer)


def made(*replies, pool=None):
    model = ScriptedModel(*replies)
    return construct(pool or world(), 0, model), model


def test_a_writer_explores_and_submits_judged_queries():
    row, model = made(
        call("get_APIs_in_tool", tool="cinema", page=1),
        ADD,
        call("test_API", api="cinema/film", arguments={"film_id": 4711}),
        call("add_API_into_API_pool", apis=["bakery/cakes"]),
        call("remove_API_from_API_pool", apis=["bakery/cakes"]),
        finish(),
        RESOLVED,
        KEEP,
    )
    assert "rejected" not in row
    assert (row["query"], row["answer"], row["gold"]) == (
        QUERY,
        ANSWER,
        [one["api"] for one in SOLUTION],
    )
    assert (row["categories"], row["reason"]) == (["Movies", "Weather"], "all is there")
    assert row["solution"][2] == {**SOLUTION[2], "response": {"city": "Lisbon", "degrees": 21.3}}
    assert len(row["transcript"]) == 6
    assert "'minutes': 112" in row["transcript"][2]
    offered = [
        one["properties"]["function"]["enum"][0]
        for one in model.options[0]["schema"]["properties"]["call"]["anyOf"]
    ]
    assert "test_API" not in offered  # the pool is empty
    assert QUERY in model.prompts[-1][1].content


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"query": "Which film is shown?"}, "too short"),
        ({"solution": SOLUTION[:2]}, "categories"),
        ({"query": QUERY.replace("Ann Bell", "Bob Hope")}, "missing information"),
        ({"answer": "It is a fine evening."}, "unsupported answer"),
    ],
)
def test_a_refusal_tells_how_to_mend(change, kind):
    row, model = made(ADD, finish(**change), finish(), RESOLVED, KEEP)
    assert [told[0] for told in row["told"]] == [kind]
    assert f"error: {kind}: " in model.prompts[2][-1].content
    assert "rejected" not in row


def test_failures_refusals_and_outages_are_told_apart():
    planned = [(one["api"], one["arguments"]) for one in SOLUTION]
    check = partial(verify_solution, QUERY, ANSWER)
    with pytest.raises(QueryRefused, match="service failed"):
        list(check(planned, world(down="sky/forecast")))
    with pytest.raises(QueryRefused, match="call failed: call 1 of the solution, 'cinema/films'"):
        list(check([("cinema/films", {"actor": 1}), *planned[1:]], world()))
    with pytest.raises(
        QueryRefused,
        match=r"4711 for 'film_id' .* stands neither in the query nor in earlier responses",
    ):
        list(check(planned[1:], world()))


def test_queries_continue_in_one_file_after_outages(tmp_path):
    out = tmp_path / "queries.jsonl"
    taken = (ADD, finish(), RESOLVED, KEEP)
    with pytest.raises(ModelUnavailable):
        make_queries(world(), ScriptedModel(*taken, ADD, ModelUnavailable("down")), out, count=2)
    cakes = [{"api": "bakery/cakes", "arguments": {}}, SOLUTION[2]]
    another = finish(
        query=QUERY.replace("film", "cake"), answer="Opera, and 21 degrees.", solution=cakes
    )
    add = call("add_API_into_API_pool", apis=["bakery/cakes", "sky/forecast"])
    rows = make_queries(world(), ScriptedModel(*taken, add, another, RESOLVED, KEEP), out, count=2)
    assert [row.get("rejected") for row in rows] == [None, "repeated", None]
    assert len(accepted_queries(rows)) == 2
    found = figures(rows)
    assert (found["attempts"], found["queries"], found["rejected"]) == (3, 2, {"repeated": 1})
    assert (found["categories"], found["calls"], found["model_calls"]) == ({"2": 2}, 5, 12)
    assert [json.loads(line).get("id") for line in out.read_text().splitlines()][1:] == [
        row["id"] for row in rows
    ]
