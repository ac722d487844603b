"""How methods of search are spelled, and that each one is put together over an index."""

import pytest

from atc.models.scripted import ScriptedModel
from atc.pipeline.retrieve.base import RetrievalUnavailable
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.factory import Setup, build
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.methods import METHODS, UnknownMethod, read_method
from tests.labs.paths import ROOT

DOCUMENTS = [
    ToolDocument(
        name="find_flights", description="Flights between two airports", category="Travel"
    ),
    ToolDocument(name="book_hotel", description="Book a room in a hotel", category="Travel"),
    ToolDocument(name="weather", description="Temperature and rain of a city", category="Weather"),
]


@pytest.mark.parametrize(
    ("spec", "flags"),
    [
        ("toolqp:queries=6,shown=3", {"queries": 6, "shown": 3}),
        ("anytool:flat, pool=16", {"flat": True, "pool": 16}),
        ("reinvoke:intents=none,on=bm25", {"intents": "none", "on": "bm25"}),
    ],
)
def test_a_spec_is_a_name_and_flags(spec, flags):
    assert read_method(spec) == (METHODS[spec.partition(":")[0]], flags)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bm2", "no method of search is named 'bm2'; did you mean 'bm25'?"),
        (
            "toolqp:querys=6",
            "the method of search 'toolqp' has no flag 'querys'; its flags: on, queries,",
        ),
        ("toolqp:queries=many", "the method of search 'toolqp': queries must be a valid integer"),
        ("anytool:flat=perhaps", "the method of search 'anytool': flat must be a valid boolean"),
    ],
)
def test_a_wrong_spec_says_what_there_is(spec, said):
    with pytest.raises(UnknownMethod) as raised:
        read_method(spec)
    assert said in str(raised.value)


@pytest.fixture
def index():
    return ToolIndex.build(DOCUMENTS)


def test_a_method_says_what_it_lacks_when_built(index):
    with pytest.raises(RetrievalUnavailable, match="no vectors; make them with 'atc tools index'"):
        build("dense", Setup(index=index))
    with pytest.raises(
        RetrievalUnavailable, match="'toolqp' asks a model for every query; name one with --model"
    ):
        build("toolqp", Setup(index=index))
    with pytest.raises(RetrievalUnavailable, match="no synthetic queries yet"):
        build("reinvoke-split:on=bm25", Setup(index=index))
    with pytest.raises(UnknownMethod, match="on must be 'bm25', 'dense' or 'hybrid', got 'words'"):
        build("reinvoke-split:on=words,queries=0", Setup(index=index))


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.embeds])
def test_methods_without_vectors_are_built(index, name):
    build(name, Setup(index=index, ask=ScriptedModel()))


def test_synthetic_queries_are_found_by_their_words(index):
    store = DocumentStore()
    store.keep(
        DOCUMENTS[1], ["where can I sleep in Rome"], kind="queries", prompt="p", model="m", sample=0
    )
    method = build("reinvoke-split:on=bm25", Setup(index=index, expansions=store))
    assert [hit.tool for hit in method.search("a place to sleep", k=1).hits] == ["book_hotel"]


def test_the_manual_names_every_method():
    manual = (ROOT / "docs" / "how" / "retrieval.md").read_text(encoding="utf-8")
    assert [name for name in METHODS if f"`{name}`" not in manual] == []


def test_searches_that_a_model_plans_take_turns(index):
    model = ScriptedModel('{"searches": ["book a room", "rain", "book a room"]}', "no plan")
    method = build("planned:on=bm25", Setup(index=index, ask=model))
    found = method.search("Somewhere dry for Ann in Rome", k=3)
    assert [hit.tool for hit in found.hits] == ["book_hotel", "weather"]
    assert found.transcript == ("search: book a room", "search: rain")
    assert found.usage.model_calls == 1
    assert method.search("flights between airports", k=1).hits[0].tool == "find_flights"
