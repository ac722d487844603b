"""The blend of documents, synthetic queries and words: what each part adds; a query of one request or several."""

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.expand import Expansions

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from atc.retrieve import blend as blending  # noqa: E402
from atc.retrieve.adapter import discriminant  # noqa: E402
from atc.retrieve.blend import Blend, mixture  # noqa: E402
from atc.retrieve.index import ToolIndex  # noqa: E402
from atc.retrieve.signals import Signals, softmax  # noqa: E402
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
    with Expansions() as expansions:
        for document in TOOLS:
            for number, query in enumerate(WRITTEN.get(document.name, [f"somebody {document.description}"])):
                expansions.keep(document, [query], kind="queries", prompt="1", model="m", sample=number)
        yield expansions


def found(retriever, query, k=3):
    return [hit.tool for hit in retriever.search(query, k=k).hits]


def test_what_was_written_about_a_tool_finds_it(kept):
    blend = Blend.build(ToolIndex.build(TOOLS, embedder=Words()), kept)
    assert found(blend, "an umbrella or not?", 1) == ["meteo"]
    assert found(blend, "Drivers", 1) == ["rides"]
    assert found(blend, "counts eel in Cairo", 1) == ["tool_4"]


def test_two_requests_bring_both_tools_and_the_transcript_tells(kept):
    blend = Blend.build(ToolIndex.build(TOOLS, embedder=Words()), kept)
    query = "Will it rain tomorrow? Also, find me a cab to the airport."
    assert set(found(blend, query, 2)) == {"meteo", "rides"}
    assert blend.search(query, k=2).transcript == (
        "request: Will it rain tomorrow?",
        "request: find me a cab to the airport.",
    )
    assert blend.search("is it sunny outside", k=1).transcript == ()


def test_a_part_that_asks_for_nothing_does_not_displace_what_is_asked(kept):
    blend = Blend.build(ToolIndex.build(TOOLS, embedder=Words()), kept)
    assert found(blend, "My grandmother is visiting soon. Is it sunny outside? Many thanks in advance!", 1) == ["meteo"]


def test_segments_can_be_left_out(kept):
    index = ToolIndex.build(TOOLS, embedder=Words())
    query = "Will it rain tomorrow? Also, find me a cab to the airport."
    assert Blend.build(index, kept, segments=False).search(query, k=2).transcript == ()


def test_without_expansions_documents_and_words_remain():
    with Expansions() as nothing:
        blend = Blend.build(ToolIndex.build(TOOLS, embedder=Words()), nothing)
        assert found(blend, "Accommodation", 1) == ["lodging"]


def test_what_was_written_about_few_tools_is_not_used_since_it_would_hide_the_others(kept):
    many = [*TOOLS, *[ToolDocument(name=f"new_{number}", description=f"parcel {number}") for number in range(9)]]
    index = ToolIndex.build(many, embedder=Words())
    with Expansions() as nothing:
        plain = Signals.build(index, index.dense, nothing)
    assert np.array_equal(Signals.build(index, index.dense, kept).scores(["a bed"]), plain.scores(["a bed"]))


def test_the_same_index_gives_the_same_scores(kept):
    index = ToolIndex.build(TOOLS, embedder=Words())
    one, other = (Signals.build(index, index.dense, kept) for _ in range(2))
    assert np.array_equal(one.scores(["a bed"]), other.scores(["a bed"]))


def test_an_index_without_vectors_is_refused(kept):
    with pytest.raises(ValueError, match="vectors"):
        Blend.build(ToolIndex.build(TOOLS), kept)


def test_an_empty_index_finds_nothing(kept):
    blend = Blend.build(ToolIndex.build([], embedder=Words()), kept)
    assert found(blend, "anything at all. Really, anything at all?") == []


@pytest.mark.parametrize("query", ["", "the", "天気を教えて", "word " * 20_000])
def test_odd_queries_are_searched(kept, query):
    blend = Blend.build(ToolIndex.build(TOOLS, embedder=Words()), kept)
    assert len(found(blend, query, 3)) == 3


def test_many_documents_are_searched_among_the_best_of_each_view(kept, monkeypatch):
    index = ToolIndex.build(TOOLS, embedder=Words())
    monkeypatch.setattr(blending, "FULL", 10)
    monkeypatch.setattr(blending, "_POOL", 5)
    blend = Blend.build(index, kept)
    assert found(blend, "counts eel in Cairo", 1) == ["tool_4"]
    assert set(found(blend, "counts eel in Cairo. Then find some accommodation for us.", 2)) == {"tool_4", "lodging"}


def test_a_document_that_comes_up_more_than_its_share_is_held_back(kept):
    index = ToolIndex.build(TOOLS, embedder=Words())
    signals = Signals.build(index, index.dense, kept)
    for name, asked in (("meteo", "will it rain"), ("tool_4", "counts eel in Cairo")):
        often = signals.popularity([asked] * 50, signals.embed([asked] * 50))
        assert list(signals.names)[int(np.argmax(often))] == name
        assert often.min() < 0 < often.max()


def test_a_mixture_of_one_view_keeps_its_order_and_of_several_adds_the_best_request():
    whole = np.array([[2.0, 1.0, 0.0, -1.0]], np.float32)
    assert np.argsort(-mixture(whole)).tolist() == [0, 1, 2, 3]
    requests = np.array([[0.0, 0.0, 6.0, 0.0], [0.0, 0.1, 0.0, 0.0]], np.float32)
    assert np.argmax(mixture(np.concatenate([whole, requests]))) == 2
    assert mixture(np.zeros((2, 0), np.float32)).shape == (0,)


def test_probabilities_add_up():
    scores = np.random.default_rng(3).standard_normal((4, 9)).astype(np.float32)
    assert np.allclose(softmax(scores).sum(axis=1), 1, atol=1e-6)


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


def test_without_queries_the_adapter_changes_nothing():
    centres = np.eye(3, dtype=np.float32)
    weights, biases = discriminant(np.zeros((0, 3), np.float32), np.zeros(0, np.int64), centres)
    assert np.array_equal(weights, centres)
    assert not biases.any()
