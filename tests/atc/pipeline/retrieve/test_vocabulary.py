"""The words of a text: what is split, dropped and stemmed; and BM25 over them."""

import time
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.pipeline.retrieve.lexical import Lexical
from atc.pipeline.retrieve.vocabulary import tokens
from tests.labs.rankers import found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserToken", ["get", "user", "token"]),
        ("APIs", ["api"]),
        ("mp3 COVID19 oauth2", ["mp3", "covid19", "oauth2"]),
        ("What is the weather in Paris?", ["weather", "pari"]),
        ("What is it?", []),
        ("café CAFÉ naïve Größe", ["cafe", "cafe", "naiv", "gross"]),
        ("ｆｕｌｌ ﬁle", ["full", "file"]),
        ("Поиск инструмента", ["поиск", "инструмента"]),
        ("搜索工具", ["搜", "索", "工", "具", "搜索", "索工", "工具"]),
        ("搜索API工具", ["搜", "索", "搜索", "api", "工", "具", "工具"]),
        ("🦓 __ -- \ud800", ["🦓"]),
    ],
)
def test_a_text_gives_its_words(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "piece", ["find the cheapest flights ", "A", "Aa", "é", "搜索", "\u0301", "_", "\ud800"]
)
def test_long_texts_are_split_in_linear_time(piece: str) -> None:
    before = time.process_time()
    tokens(piece * (100_000 // len(piece)))
    assert time.process_time() - before < 2  # a regular expression that backtracks takes hours


@given(st.text())
def test_words_come_from_the_text_alone(text: str) -> None:
    found = tokens(text)
    assert all(found)
    assert tokens(text + " " + text) == found * 2


TEXTS = {
    "weather_now": "current weather of a city, temperature and wind",
    "weather_week": "weather forecast of a week for a city",
    "flight_search": "find cheap flights between two airports",
    "flight_status": "the status of a flight: delayed, landed",
    "zoo_animals": "animals of the zoo: zebras, lions",
}


def test_scores_are_those_of_bm25s_from_disk_too(tmp_path: Path) -> None:
    built = Lexical.build(list(TEXTS), TEXTS.values())
    built.save(tmp_path)
    opened = Lexical.open(tmp_path)
    assert [*opened.names, opened.names[-1]] == [*TEXTS, "zoo_animals"]
    theirs = bm25s.BM25(k1=1.5, b=0.75)
    theirs.index([tokens(text) for text in TEXTS.values()], show_progress=False)
    for query in ("weather in a city", "zebras on a flight to the zoo zoo", "aardvark status zzz"):
        for ranker in (built, opened):
            np.testing.assert_allclose(
                ranker.scores([query])[0], theirs.get_scores(tokens(query)), rtol=1e-6
            )


def test_equal_documents_are_ordered_by_name() -> None:
    names = [f"tool_{i:05}" for i in np.random.default_rng(0).permutation(10_000)]
    ranker = Lexical.build(names, ["the same description"] * len(names))
    assert found(ranker, "same description", n=12) == [f"tool_{i:05}" for i in range(12)]
