"""Re-Invoke: expanded documents, intents, and both brought together; its ablations; round trips."""

import pytest

from atc.models.scripted import ScriptedModel
from atc.retrieve.document import ToolDocument
from atc.retrieve.expand import Expansions
from atc.retrieve.intents import Intents
from protocols.errors import ModelUnavailable

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")

from atc.retrieve.base import Ranked  # noqa: E402
from atc.retrieve.best import best  # noqa: E402
from atc.retrieve.dense import Dense  # noqa: E402
from atc.retrieve.document import json_text  # noqa: E402
from atc.retrieve.expanded import expanded_dense, expanded_lexical, round_trip  # noqa: E402
from atc.retrieve.lexical import Lexical  # noqa: E402
from atc.retrieve.reinvoke import ReInvoke  # noqa: E402
from tests.retrieve_index_lab import Words  # noqa: E402

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
    with Expansions() as expansions:
        for document in TOOLS:
            for number, query in enumerate(WRITTEN[document.name]):
                expansions.keep(document, [query], kind="queries", prompt="1", model="m", sample=number)
        yield expansions


def tools(retriever, query, k=3):
    return [hit.tool for hit in retriever.search(query, k=k).hits]


@pytest.mark.parametrize("on", ["dense", "bm25"])
@pytest.mark.parametrize("form", ["appended", "queries"])
def test_synthetic_queries_find_a_tool_whose_document_says_it_in_other_words(kept, on, form):
    plain = Lexical.build([tool.name for tool in TOOLS], [tool.description for tool in TOOLS])
    assert tools(ReInvoke(plain), "will it rain in Oslo") == []
    ranker = (
        expanded_dense(TOOLS, kept, Words(), form=form) if on == "dense" else expanded_lexical(TOOLS, kept, form=form)
    )
    assert tools(ReInvoke(ranker), "will it rain in Oslo")[0] == "meteo"
    assert tools(ReInvoke(ranker), "I need a bed", k=1) == ["lodging"]


def test_a_score_is_the_mean_or_the_maximum_of_the_copies(kept):
    embedder = Words()
    copies = [f"{json_text(HOTEL)}\n{query}" for query in WRITTEN[HOTEL.name]]
    each = embedder.documents(copies) @ embedder.queries(["a bed"])[0]
    for aggregate, wanted in (("mean", each.mean()), ("max", each.max())):
        ranker = expanded_dense(TOOLS, kept, embedder, aggregate=aggregate)
        assert ranker.scores(["a bed"])[0, 1] == pytest.approx(wanted, abs=2e-3)
        assert ranker.scores(["a bed"], np.array([1])).shape == (1, 1)
        assert ranker.names[ranker.top(["a bed"], n=1)[0].positions[0]] == "lodging"


def test_the_number_of_queries_is_an_ablation_and_none_leaves_the_documents(kept):
    embedder = Words()
    one = expanded_dense(TOOLS, kept, embedder, queries=1)
    assert not np.allclose(one.scores(["sleep"]), expanded_dense(TOOLS, kept, embedder).scores(["sleep"]))
    none = expanded_dense(TOOLS, kept, embedder, queries=0)
    plain = Dense.build([tool.name for tool in TOOLS], map(json_text, TOOLS), embedder)
    assert np.allclose(none.scores(["sleep", "drive"]), plain.scores(["sleep", "drive"]), atol=2e-3)


def test_a_tool_that_nothing_was_written_about_counts_as_it_stands(kept):
    new = ToolDocument(name="stamps", description="postage stamps")
    for aggregate in ("mean", "max"):
        ranker = expanded_dense([*TOOLS, new], kept, Words(), aggregate=aggregate, form="queries")
        assert tools(ReInvoke(ranker), "postage stamps", k=1) == ["stamps"]
    assert tools(ReInvoke(expanded_lexical([*TOOLS, new], kept, form="queries")), "postage") == ["stamps"]


def test_a_text_is_embedded_once(kept):
    first, second = Words(), Words()
    before = expanded_dense(TOOLS, kept, first)
    assert len(first.asked) == 9
    assert np.allclose(expanded_dense(TOOLS, kept, second).scores(["bed"]), before.scores(["bed"]))
    assert second.asked == []
    other = Words()
    other.name = "another-model"
    expanded_dense(TOOLS, kept, other)
    assert len(other.asked) == 9


def test_every_intent_brings_its_tool_and_the_transcript_tells(kept):
    model = ScriptedModel('{"intents": ["will it rain", "a cab to the airport"]}')
    found = ReInvoke(expanded_dense(TOOLS, kept, Words()), intents=Intents(model)).search("…", k=2)
    assert {hit.tool for hit in found.hits} == {"meteo", "rides"}
    assert found.transcript == ("intent: will it rain", "intent: a cab to the airport")
    assert found.usage.model_calls == 1


def test_the_users_own_query_is_one_more_view_by_flag(kept):
    reply = '{"intents": ["will it rain"]}'
    ranker = expanded_dense(TOOLS, kept, Words())
    without = ReInvoke(ranker, intents=Intents(ScriptedModel(reply)))
    assert [hit.tool for hit in without.search("a bed near the station", k=1).hits] == ["meteo"]
    with_it = ReInvoke(ranker, intents=Intents(ScriptedModel(reply)), own_query=True).search(
        "a bed near the station", k=2
    )
    assert {hit.tool for hit in with_it.hits} == {"meteo", "lodging"}
    assert "and the query as it stands" in with_it.transcript


def test_without_intents_the_query_is_the_only_view(kept):
    ranker = expanded_dense(TOOLS, kept, Words())
    found = ReInvoke(ranker).search("a cab", k=3)
    assert [hit.tool for hit in found.hits] == [
        ranker.names[position] for position in ranker.top(["a cab"], n=3)[0].positions
    ]
    assert found.transcript == ()
    assert found.usage.model_calls == 0


def test_words_that_no_tool_has_find_nothing_by_words(kept):
    ranker = expanded_lexical(TOOLS, kept)
    assert tools(ReInvoke(ranker), "the") == []
    assert tools(ReInvoke(ranker), "") == []


def test_an_outage_is_told(kept):
    failing = Intents(ScriptedModel(ModelUnavailable("down")))
    with pytest.raises(ModelUnavailable, match="down"):
        ReInvoke(expanded_lexical(TOOLS, kept), intents=failing).search("rain", k=1)


def test_no_tools_at_all(kept):
    assert tools(ReInvoke(expanded_dense([], kept, Words())), "rain") == []
    assert round_trip(expanded_lexical([], kept), [], kept) == {5: 0.0, 10: 0.0}


class Second:
    """Ranks the third tool first for everything."""

    names = tuple(tool.name for tool in TOOLS)

    def scores(self, views, positions=None):
        return np.tile(np.array([0.5, 0.1, 0.9], np.float32), (len(views), 1))

    def top(self, views, *, n) -> list[Ranked]:
        return [best(row, self.names, n=n) for row in self.scores(views)]


def test_round_trip_consistency_is_the_share_of_queries_that_find_their_tool(kept):
    assert round_trip(Second(), TOOLS, kept, at=(1, 2, 3)) == {1: 1 / 3, 2: 2 / 3, 3: 1.0}
    assert round_trip(expanded_dense(TOOLS, kept, Words()), TOOLS, kept, at=(1,)) == {1: 1.0}
