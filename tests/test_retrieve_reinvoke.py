"""Re-Invoke: expanded documents, intents, and both brought together; its ablations; Doc2Query."""

from functools import partial

import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.document import ToolDocument
from atc.retrieve.store import Store

pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from atc.retrieve.document import json_text
from atc.retrieve.lexical import Lexical
from atc.retrieve.reinvoke import (
    ReInvoke,
    d2q,
    expanded_dense,
    expanded_lexical,
    extract,
)
from tests.retrieve_index_lab import Words

WEATHER = ToolDocument(name="meteo", description="Atmospheric conditions.")
HOTEL = ToolDocument(name="lodging", description="Accommodation.")
TAXI = ToolDocument(name="rides", description="Drivers.")
TOOLS = [WEATHER, HOTEL, TAXI]
WRITTEN = {
    "meteo": ["will it rain tomorrow", "is it sunny outside", "how cold is it"],
    "lodging": ["a room for two nights", "a bed near the station", "sleep cheaply"],
    "rides": ["a cab to the airport", "somebody to drive me home", "pick me up"],
}


@pytest.fixture
def kept():
    store = Store()
    for document in TOOLS:
        for number, query in enumerate(WRITTEN[document.name]):
            store.keep(document, [query], kind="queries", prompt="1", model="m", sample=number)
    return store


def tools(retriever, query, k=3):
    return [hit.tool for hit in retriever.search(query, k=k).hits]


@pytest.mark.parametrize("on", ["dense", "bm25"])
def test_synthetic_queries_find_a_tool_whose_document_says_it_in_other_words(kept, on):
    plain = Lexical.build([tool.name for tool in TOOLS], [tool.description for tool in TOOLS])
    assert tools(ReInvoke(plain), "will it rain in Oslo") == []
    ranker = expanded_dense(TOOLS, kept, Words()) if on == "dense" else expanded_lexical(TOOLS, kept)
    assert tools(ReInvoke(ranker), "will it rain in Oslo")[0] == "meteo"
    assert tools(ReInvoke(ranker), "I need a bed", k=1) == ["lodging"]


def test_a_score_is_the_mean_of_the_copies(kept):
    embedder = Words()
    copies = [f"{json_text(HOTEL)}\n{query}" for query in WRITTEN[HOTEL.name]]
    each = embedder.embed(copies) @ embedder.embed(["a bed"])[0]
    ranker = expanded_dense(TOOLS, kept, embedder)
    assert ranker.scores(["a bed"])[0, 1] == pytest.approx(each.mean(), abs=2e-3)
    assert ranker.names[ranker.top(["a bed"], n=1)[0].positions[0]] == "lodging"


def test_every_intent_brings_its_tool_and_the_transcript_tells(kept):
    model = ScriptedModel('{"intents": ["will it rain", "a cab to the airport"]}')
    found = ReInvoke(expanded_dense(TOOLS, kept, Words()), find=partial(extract, ask=model)).search("…", k=2)
    assert {hit.tool for hit in found.hits} == {"meteo", "rides"}
    assert found.transcript == ("intent: will it rain", "intent: a cab to the airport")
    assert found.usage.model_calls == 1


def test_doc2query_searches_a_document_and_its_queries_as_one_text(kept):
    ranker = d2q(TOOLS, kept, embedder := Words(), queries=2)
    [ranked] = ranker.top(["a cab to the airport"], n=1)
    assert ranker.names[ranked.positions[0]] == "rides"
    assert embedder.asked[0] == "\n".join([json_text(WEATHER), *WRITTEN["meteo"][:2]])
