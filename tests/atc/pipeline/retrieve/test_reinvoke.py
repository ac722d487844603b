"""Search by synthetic queries: Re-Invoke with its ablations, Doc2Query, and their blend with documents and words.

What a query asks for is taken apart by its punctuation, by a model, or by both.
"""

import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.blend import Blend, Signals, discriminant
from atc.pipeline.retrieve.document import ToolDocument, json_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.lexical import Lexical
from atc.pipeline.retrieve.reinvoke import (
    ReInvoke,
    d2q,
    expanded_dense,
    expanded_lexical,
    extract_intents,
    split_requests,
)
from tests.labs.rankers import Words, found, zoo

WEATHER = ToolDocument(name="meteo", description="Atmospheric conditions.")
HOTEL = ToolDocument(name="lodging", description="Accommodation.")
TAXI = ToolDocument(name="rides", description="Drivers.")
TOOLS = [WEATHER, HOTEL, TAXI]
MANY = [*TOOLS, *zoo(20)]
WRITTEN = {
    "meteo": ["will it rain tomorrow", "is it sunny outside", "umbrella or sunglasses"],
    "lodging": ["a room for two nights", "a bed near the station", "sleep cheaply"],
    "rides": ["a cab to the airport", "somebody to drive me home", "pick me up"],
}


@pytest.fixture
def kept():
    store = DocumentStore()
    for document in MANY:
        for number, query in enumerate(
            WRITTEN.get(document.name, [f"somebody {document.description}"])
        ):
            store.keep(document, [query], kind="queries", prompt="1", model="m", sample=number)
    return store


def tools(retriever, query, k=3):
    return [hit.tool for hit in retriever.search(query, k=k).hits]


@pytest.mark.parametrize("on", ["dense", "bm25"])
def test_synthetic_queries_find_differently_worded_tools(kept, on):
    plain = Lexical.build([tool.name for tool in TOOLS], [tool.description for tool in TOOLS])
    assert tools(ReInvoke(plain), "will it rain in Oslo") == []
    ranker = (
        expanded_dense(TOOLS, kept, Words()) if on == "dense" else expanded_lexical(TOOLS, kept)
    )
    assert tools(ReInvoke(ranker), "will it rain in Oslo")[0] == "meteo"
    assert tools(ReInvoke(ranker), "I need a bed", k=1) == ["lodging"]


def test_a_score_is_the_mean_of_the_copies(kept):
    embedder = Words()
    copies = [f"{json_text(HOTEL)}\n{query}" for query in WRITTEN[HOTEL.name]]
    each = embedder.embed(copies) @ embedder.embed(["a bed"])[0]
    ranker = expanded_dense(TOOLS, kept, embedder)
    assert ranker.scores(["a bed"])[0, 1] == pytest.approx(each.mean(), abs=2e-3)
    assert found(ranker, "a bed", n=1) == ["lodging"]


def test_every_intent_brings_its_tool(kept):
    model = ScriptedModel('{"intents": ["will it rain", "a cab to the airport"]}')
    found = ReInvoke(
        expanded_dense(TOOLS, kept, Words()), find=partial(extract_intents, ask=model)
    ).search("…", k=2)
    assert {hit.tool for hit in found.hits} == {"meteo", "rides"}
    assert found.transcript == ("intent: will it rain", "intent: a cab to the airport")
    assert found.usage.model_calls == 1


def test_doc2query_joins_document_and_queries(kept):
    ranker = d2q(TOOLS, kept, embedder := Words(), queries=2)
    assert found(ranker, "a cab to the airport", n=1) == ["rides"]
    assert embedder.asked[0] == "\n".join([json_text(WEATHER), *WRITTEN["meteo"][:2]])


def built(kept):
    index = ToolIndex.build(MANY, embedder=Words())
    return Blend(Signals.build(index, index.dense, kept))


def test_what_was_written_about_a_tool_finds_it(kept):
    blend = built(kept)
    assert tools(blend, "an umbrella or not?", 1) == ["meteo"]
    assert tools(blend, "Drivers", 1) == ["rides"]
    assert tools(blend, "counts eel in Cairo", 1) == ["tool_4"]


def test_two_requests_bring_both_tools(kept):
    blend = built(kept)
    query = "Will it rain tomorrow? Also, find me a cab to the airport."
    assert set(tools(blend, query, 2)) == {"meteo", "rides"}
    assert blend.search(query, k=2).transcript == (
        "request: Will it rain tomorrow?",
        "request: find me a cab to the airport.",
    )
    assert blend.search("is it sunny outside", k=1).transcript == ()


def test_sparse_queries_are_ignored(kept):
    many = [
        *MANY,
        *[
            ToolDocument(name=f"new_{number}", description=f"parcel {number}")
            for number in range(9)
        ],
    ]
    index = ToolIndex.build(many, embedder=Words())
    plain = Signals.build(index, index.dense, DocumentStore())
    assert np.array_equal(
        Signals.build(index, index.dense, kept).scores(["a bed"]), plain.scores(["a bed"])
    )


def test_an_overrepresented_document_is_held_back(kept):
    index = ToolIndex.build(MANY, embedder=Words())
    signals = Signals.build(index, index.dense, kept)
    for name, asked in (("meteo", "will it rain"), ("tool_4", "counts eel in Cairo")):
        often = signals.popularity([asked] * 50, signals.embed([asked] * 50))
        assert list(signals.names)[int(np.argmax(often))] == name
        assert often.min() < 0 < often.max()


def test_the_adapter_looks_at_what_tells_tools_apart():
    """All queries differ widely along the second axis, whatever the tool; the tools differ along the first."""
    generator = np.random.default_rng(1)
    owners = np.repeat([0, 1], 200)
    centres = np.array([[0.2, 0.0], [-0.2, 0.0]], np.float32)
    noise = generator.standard_normal((400, 2)) * np.array([0.1, 1.0])
    weights, biases = discriminant((centres[owners] + noise).astype(np.float32), owners, centres)
    assert abs(weights[0, 0]) > 20 * abs(weights[0, 1])
    query = np.array([0.1, 0.9], np.float32)
    assert np.argmax(weights @ query + biases) == 0


# --- a query taken apart


QUERY = "Book a table in Graz, and also tell me whether it will rain tonight. Thank you!"


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        (QUERY, ("Book a table in Graz", "tell me whether it will rain tonight.")),
        (
            "I'm off to Rome on Friday. Will it rain there? Also, find me a hotel near the station.",
            (
                "I'm off to Rome on Friday.",
                "Will it rain there?",
                "find me a hotel near the station.",
            ),
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
def test_queries_split_where_requests_begin(query, requests):
    assert split_requests(query) == requests


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_splitting_any_text_adds_nothing(query):
    parts = split_requests(query)
    assert parts
    whole = " ".join(query.split())
    assert all(" ".join(part.split()) in whole for part in parts)


def test_the_models_intents_are_counted():
    reply = json.dumps(
        {
            "intents": [
                "book a table in Graz",
                " weather \n tonight in Graz ",
                "book a table in Graz",
            ]
        }
    )
    model = ScriptedModel(reply)
    intents, usage = extract_intents(QUERY, model)
    assert intents == ("book a table in Graz", "weather tonight in Graz")
    assert usage.model_calls == 1
    assert usage.output_tokens > 0
    assert model.prompts[0][-1].content == QUERY
    assert model.options[0]["temperature"] == 0.0


@pytest.mark.parametrize(
    "reply", ["", "no JSON", "[1, 2]", '{"intents": "one"}', '{"intents": [" ", 3]}', "{"]
)
def test_without_intents_the_query_stands(reply):
    assert extract_intents(QUERY, ScriptedModel(reply))[0] == (QUERY,)
