"""A query taken apart: by its punctuation, by a model, or by both."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.scripted import ScriptedModel
from atc.retrieve.reinvoke import extract, split

QUERY = "Book a table in Graz, and also tell me whether it will rain tonight. Thank you!"


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        (QUERY, ("Book a table in Graz", "tell me whether it will rain tonight.")),
        (
            "I'm off to Rome on Friday. Will it rain there? Also, find me a hotel near the station.",
            ("I'm off to Rome on Friday.", "Will it rain there?", "find me a hotel near the station."),
        ),
        (
            "Compare bread and butter prices in Oslo and find a bakery nearby",
            ("Compare bread and butter prices in Oslo", "find a bakery nearby"),
        ),
        ("first line of it\n\nsecond line of it", ("first line of it", "second line of it")),
        ("天気を教えて。近くのホテルを探して。", ("天気を教えて。近くのホテルを探して。",)),
        ("", ("",)),
    ],
)
def test_a_query_is_cut_where_a_request_may_begin(query, requests):
    assert split(query) == requests


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_cut_and_no_part_is_new(query):
    parts = split(query)
    assert parts
    whole = " ".join(query.split())
    assert all(" ".join(part.split()) in whole for part in parts)


def test_a_model_names_the_intents_and_what_that_took_is_counted():
    reply = json.dumps({"intents": ["book a table in Graz", " weather \n tonight in Graz ", "book a table in Graz"]})
    model = ScriptedModel(reply)
    intents, usage = extract(QUERY, model)
    assert intents == ("book a table in Graz", "weather tonight in Graz")
    assert usage.model_calls == 1
    assert usage.output_tokens > 0
    assert model.prompts[0][-1].content == QUERY
    assert model.options[0]["temperature"] == 0.0


@pytest.mark.parametrize("reply", ["", "no JSON", "[1, 2]", '{"intents": "one"}', '{"intents": [" ", 3]}', "{"])
def test_where_the_model_says_nothing_of_use_the_query_stands(reply):
    assert extract(QUERY, ScriptedModel(reply))[0] == (QUERY,)
