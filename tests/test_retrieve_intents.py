"""A query taken apart: by its punctuation, by a model, or by both."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.scripted import ScriptedModel
from atc.retrieve.intents import Intents, extract
from atc.retrieve.segment import split
from protocols.errors import ModelUnavailable

QUERY = "Book a table in Graz, and also tell me whether it will rain tonight. Thank you!"


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        ("Book a table in Graz.", ("Book a table in Graz.",)),
        (QUERY, ("Book a table in Graz", "tell me whether it will rain tonight.")),
        (
            "I'm off to Rome on Friday. Will it rain there? Also, find me a hotel near the station.",
            ("I'm off to Rome on Friday.", "Will it rain there?", "find me a hotel near the station."),
        ),
        (
            "Compare bread and butter prices in Oslo and find a bakery nearby",
            ("Compare bread and butter prices in Oslo", "find a bakery nearby"),
        ),
        ("translate this letter as well as the attached file", ("translate this letter", "the attached file")),
        ("first line of it\n\nsecond line of it", ("first line of it", "second line of it")),
        ("天気を教えて。近くのホテルを探して。", ("天気を教えて。近くのホテルを探して。",)),
        ("", ("",)),
        ("the", ("the",)),
    ],
)
def test_a_query_is_cut_where_a_request_may_begin(query, requests):
    assert split(query) == requests


def test_the_same_request_twice_is_one_and_there_are_at_most_eight():
    assert split("Find a bus now. Find a bus now.") == ("Find a bus now. Find a bus now.",)
    assert len(split(" ".join(f"Please find tool number {number}." for number in range(50)))) == 8


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_cut_and_no_part_is_new(query):
    parts = split(query)
    assert parts
    whole = " ".join(query.split())
    assert all(" ".join(part.split()) in whole for part in parts)


@pytest.mark.parametrize("query", ["and " * 25_000, "." * 100_000, "a, " * 33_000, " " * 100_000, '"' * 100_000])
def test_a_query_of_100_kb_is_cut_at_once(query):
    assert len(split(query)) <= 8


def test_a_model_names_the_intents_and_what_that_took_is_counted():
    reply = json.dumps({"intents": ["book a table in Graz", " weather \n tonight in Graz ", "book a table in Graz"]})
    model = ScriptedModel(reply)
    intents, usage = extract(QUERY, model)
    assert intents == ("book a table in Graz", "weather tonight in Graz")
    assert usage.model_calls == 1
    assert usage.output_tokens > 0
    assert model.prompts[0][-1].content == QUERY
    assert model.options[0]["temperature"] == 0.0


@pytest.mark.parametrize("reply", ["", "no JSON", "[1, 2]", '{"intents": "one"}', '{"intents": [" ", "?!", 3]}', "{"])
def test_where_the_model_says_nothing_of_use_the_query_stands(reply):
    assert extract(QUERY, ScriptedModel(reply))[0] == (QUERY,)


def test_an_outage_is_no_intent():
    with pytest.raises(ModelUnavailable, match="down"):
        Intents(ScriptedModel(ModelUnavailable("down")), split=True)(QUERY)


def test_the_model_sees_the_beginning_of_a_query_of_100_kb():
    model = ScriptedModel('{"intents": ["count words"]}')
    assert extract("word " * 20_000, model)[0] == ("count words",)
    assert len(model.prompts[0][-1].content) < 10_000


def test_intents_of_model_and_punctuation_are_joined_without_doubles():
    model = ScriptedModel('{"intents": ["weather tonight in Graz", "Book a table, in graz!"]}')
    found, usage = Intents(model, split=True)(QUERY)
    assert found == ("weather tonight in Graz", "Book a table, in graz!", "tell me whether it will rain tonight.")
    assert usage.model_calls == 1


def test_punctuation_alone_asks_no_model():
    found, usage = Intents(split=True)(QUERY)
    assert found == split(QUERY)
    assert usage.model_calls == 0
    with pytest.raises(ValueError, match="give one"):
        Intents()
