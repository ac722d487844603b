"""The words of a text: what is split, dropped and stemmed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.retrieve.words import tokens


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


@pytest.mark.parametrize("piece", ["find the cheapest flights ", "A", "Aa", "é", "搜索", "\u0301", "_", "\ud800"])
def test_a_hundred_kilobytes_take_no_time_worth_speaking_of(piece: str) -> None:
    before = time.process_time()
    tokens(piece * (100_000 // len(piece)))
    assert time.process_time() - before < 2  # a regular expression that backtracks takes hours


@given(st.text())
def test_any_text_is_read_and_its_words_are_its_own(text: str) -> None:
    found = tokens(text)
    assert all(found)
    assert tokens(text + " " + text) == found * 2
