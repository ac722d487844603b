"""The blend of documents, synthetic queries and words: what each part adds; a query of one request or several."""

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.store import Store

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from atc.retrieve.blend import Blend, Signals, discriminant  # noqa: E402
from atc.retrieve.index import ToolIndex  # noqa: E402
from tests.retrieve_index_lab import Words, zoo  # noqa: E402

TOOLS = [
    ToolDocument(name="meteo", description="Atmospheric conditions."),
    ToolDocument(name="lodging", description="Accommodation."),
    ToolDocument(name="rides", description="Drivers."),
    *zoo(20),
]
WRITTEN = {
    "meteo": ["will it rain tomorrow", "is it sunny outside", "umbrella or sunglasses"],
    "lodging": ["a room for two nights", "a bed near the station", "sleep cheaply"],
    "rides": ["a cab to the airport", "somebody to drive me home", "pick me up"],
}


@pytest.fixture
def kept():
    store = Store()
    for document in TOOLS:
        for number, query in enumerate(WRITTEN.get(document.name, [f"somebody {document.description}"])):
            store.keep(document, [query], kind="queries", prompt="1", model="m", sample=number)
    return store


def built(kept):
    index = ToolIndex.build(TOOLS, embedder=Words())
    return Blend(Signals.build(index, index.dense, kept))


def found(retriever, query, k=3):
    return [hit.tool for hit in retriever.search(query, k=k).hits]


def test_what_was_written_about_a_tool_finds_it(kept):
    blend = built(kept)
    assert found(blend, "an umbrella or not?", 1) == ["meteo"]
    assert found(blend, "Drivers", 1) == ["rides"]
    assert found(blend, "counts eel in Cairo", 1) == ["tool_4"]


def test_two_requests_bring_both_tools_and_the_transcript_tells(kept):
    blend = built(kept)
    query = "Will it rain tomorrow? Also, find me a cab to the airport."
    assert set(found(blend, query, 2)) == {"meteo", "rides"}
    assert blend.search(query, k=2).transcript == (
        "request: Will it rain tomorrow?",
        "request: find me a cab to the airport.",
    )
    assert blend.search("is it sunny outside", k=1).transcript == ()


def test_what_was_written_about_few_tools_is_not_used_since_it_would_hide_the_others(kept):
    many = [*TOOLS, *[ToolDocument(name=f"new_{number}", description=f"parcel {number}") for number in range(9)]]
    index = ToolIndex.build(many, embedder=Words())
    plain = Signals.build(index, index.dense, Store())
    assert np.array_equal(Signals.build(index, index.dense, kept).scores(["a bed"]), plain.scores(["a bed"]))


def test_a_document_that_comes_up_more_than_its_share_is_held_back(kept):
    index = ToolIndex.build(TOOLS, embedder=Words())
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
