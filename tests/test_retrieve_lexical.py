"""BM25 as a ranker: equal to bm25s' own, ties by name, and documents joined and dropped."""

import json
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.retrieve.document import ToolDocument, words_text
from atc.retrieve.lexical import Lexical, lexical, postings, strings
from atc.retrieve.lexical.strings import Strings
from atc.retrieve.words import tokens

SHARED = Path(__file__).parents[2] / "shared" / "data"

TEXTS = {
    "weather_now": "current weather of a city, temperature and wind",
    "weather_week": "weather forecast of a week for a city",
    "flight_search": "find cheap flights between two airports",
    "flight_status": "the status of a flight: delayed, landed",
    "zoo_animals": "animals of the zoo: zebras, lions",
}
TERMS = st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]), max_size=6).map(" ".join)


def index(texts: dict[str, str] = TEXTS) -> Lexical:
    return Lexical.build(texts, texts.values())


def found(ranker: Lexical, query: object, n: int = 10) -> list[str]:
    [ranked] = ranker.top([query], n=n)  # type: ignore[list-item]
    return [ranker.names[i] for i in ranked.positions]


def test_scores_are_those_of_bm25s() -> None:
    theirs = bm25s.BM25(k1=1.5, b=0.75)
    theirs.index([tokens(text) for text in TEXTS.values()], show_progress=False)
    for query in ("weather in a city", "zebras on a flight to the zoo zoo", "status"):
        [ours] = index().scores([query])
        np.testing.assert_allclose(ours, theirs.get_scores(tokens(query)), rtol=1e-6)


def test_a_document_that_shares_no_word_is_not_found() -> None:
    assert found(index(), "zebra flights") == ["zoo_animals", "flight_status", "flight_search"]


@pytest.mark.parametrize("query", ["", "the", "xylophone", "?!", ()])
def test_a_query_that_says_nothing_known_finds_nothing(query: object) -> None:
    assert found(index(), query) == []


def test_of_a_view_of_several_texts_all_words_count() -> None:
    assert found(index(), ("zebras", "zoo forecast")) == found(index(), "zebras zoo forecast")


def test_a_word_said_twice_counts_twice() -> None:
    once, twice = index().scores(["weather", "weather weather"])
    np.testing.assert_allclose(twice, 2 * once)


def test_equal_documents_come_in_the_order_of_their_names() -> None:
    names = [f"tool_{i:05}" for i in np.random.default_rng(0).permutation(10_000)]
    ranker = Lexical.build(names, ["the same description"] * len(names))
    assert found(ranker, "same description", n=12) == [f"tool_{i:05}" for i in range(12)]


def test_among_many_documents_the_best_are_found() -> None:
    texts = {f"tool_{i:05}": f"thing {'zebra ' * (i % 7)}" for i in range(5_000)}
    ranker = Lexical.build(texts, texts.values())
    [scores] = ranker.scores(["zebra"])
    best = sorted(range(len(texts)), key=lambda i: (-round(float(scores[i]), 6), ranker.names[i]))
    assert found(ranker, "zebra", n=4) == [ranker.names[i] for i in best[:4]]
    assert found(ranker, "zebra", n=4_000) == [ranker.names[i] for i in best[:4_000]]


@pytest.mark.parametrize("cost", [0, 8])
def test_scores_at_positions_are_the_scores_there(cost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "_LOOKED_UP", cost)
    views = ["weather in the zoo zoo", "flights"]
    at = np.array([4, 0, 0, 2])
    np.testing.assert_allclose(index().scores(views, at), index().scores(views)[:, at])


def test_no_documents_no_words_and_no_views() -> None:
    assert found(Lexical.build([], []), "weather") == []
    assert found(Lexical.build(["a"], [""]), "weather") == []
    assert Lexical.build([], []).scores(["weather"]).shape == (1, 0)
    assert index().scores([]).shape == (0, 5)
    assert index().scores(["weather"], np.array([], dtype=np.int64)).shape == (1, 0)
    assert found(index(), "weather", n=0) == []


def test_what_is_counted_in_parts_is_counted_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    [whole] = index().scores(["weather zebra flights status"])
    monkeypatch.setattr(postings, "_ROWS_AT_ONCE", 2)
    monkeypatch.setattr(postings, "_ENTRIES_AT_ONCE", 3)
    assert (index().scores(["weather zebra flights status"])[0] == whole).all()


def test_an_index_is_opened_as_it_was_saved(tmp_path: Path) -> None:
    index().save(tmp_path / "lexical")
    opened = Lexical.open(tmp_path / "lexical", list(TEXTS))
    assert (opened.scores(["weather zebra"]) == index().scores(["weather zebra"])).all()
    with pytest.raises(ValueError, match="5 documents for 1 names"):
        Lexical.open(tmp_path / "lexical", ["one"])


@given(st.lists(TERMS, max_size=8), st.lists(TERMS, max_size=8), st.data())
def test_joined_indexes_score_like_one_that_was_built_of_what_is_left(
    first: list[str], second: list[str], data: st.DataObject
) -> None:
    removed = sorted(data.draw(st.sets(st.sampled_from(range(len(first)))))) if first else []
    left = [text for i, text in enumerate(first) if i not in removed] + second
    names = [f"tool_{i}" for i in range(len(left))]
    joined = Lexical.joined(
        names,
        Lexical.build(map(str, range(len(first))), first),
        np.array(removed, dtype=np.int64),
        Lexical.build(map(str, range(len(second))), second),
    )
    built = Lexical.build(names, left)
    assert (joined.scores(["ant bee cat cat", "fox"]) == built.scores(["ant bee cat cat", "fox"])).all()
    assert sorted(joined.vocabulary) == sorted(built.vocabulary)


def test_on_real_queries_it_finds_what_it_found() -> None:
    path = SHARED / "toole" / "single_dev.json"
    if not path.is_file():
        pytest.skip("the shared data is not here")
    data = json.loads(path.read_text(encoding="utf-8"))
    texts = [words_text(ToolDocument(name=t["name"], description=t["description"])) for t in data["tools"]]
    ranker = Lexical.build([tool["name"] for tool in data["tools"]], texts)
    ranked = ranker.top([query["query"] for query in data["queries"]], n=5)
    gains = []
    for query, best in zip(data["queries"], ranked, strict=True):
        places = [i for i, position in enumerate(best.positions) if ranker.names[position] in query["gold"]]
        gains.append(sum(1 / np.log2(2 + place) for place in places))  # one gold tool a query: this is nDCG@5
    assert np.mean(gains) == pytest.approx(0.5595, abs=0.002)


def test_beside_another_index_the_same_text_scores_the_same_and_a_new_word_counts_as_rare() -> None:
    base = index()
    beside = Lexical.of_tokens(["copy", "new"], [tokens(TEXTS["weather_now"]), tokens("xylophones")], beside=base)
    copied, original = beside.scores(["weather in a city"])[0][0], base.scores(["weather in a city"])[0][0]
    assert copied == original > 0
    both = Lexical.build("1234567", [*TEXTS.values(), TEXTS["weather_now"], "xylophones"])
    assert beside.scores(["xylophone"])[0][1] == pytest.approx(both.scores(["xylophone"])[0][6], rel=0.1)


def test_strings_are_found_by_position_and_position_by_string(monkeypatch: pytest.MonkeyPatch) -> None:
    held = ["b", "a", "", "搜索", "\ud800", "abc"]
    for hash_of in (strings._hash, len):  # as it is, and so that many share a hash
        monkeypatch.setattr(strings, "_hash", hash_of)
        table = Strings.of(held)
        assert list(table) == held == [table[i] for i in range(len(table))] == table[:]
        assert table.find_all([*held, "c", "nowhere"]) == [0, 1, 2, 3, 4, 5, None, None]
        assert table.twice() is None
        assert Strings.of(["x", "ab", "cd", "ab"]).twice() == "ab"
    with pytest.raises(IndexError):
        table[6]
