"""What values look like: which are of one make, which are distinctive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.shape import alike, distinctive, format_of, is_id, look, shape, text_of


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("BOS", "JFK"),
        ("BOS", "04G"),
        ("UA", "9E"),
        ("N14228", "N3ABMAA"),
        ("tm_8xz1q", "tm_abcde"),
        ("ci_63nhz", "ob_6jvxv"),
        ("SKU-0037", "SKU-18512"),
        ("2013-01-01", "1999-12-31"),
        ("00000000-0000-4000-8000-000000000000", "123e4567-e89b-42d3-a456-426614174000"),
        (17, "21"),
        (1.5, 20.25),
        ("smith", "jones"),
    ],
)
def test_of_one_make(one, two):
    assert alike(one, [two])
    assert alike(two, [one])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("BOS", "UA"),
        ("BOS", "bos"),
        ("tm_8xz1q", "tm-8xz1q"),
        ("2013-01-01", "2013-01-01T00:00:00Z"),
        (17, "BOS"),
        (17, 12345),
        (True, "true"),
        ("smith", "johnson"),
        ("user@example.com", "SKU-0037"),
    ],
)
def test_of_different_makes(one, two):
    assert not alike(one, [two])
    assert not alike(two, [one])


@pytest.mark.parametrize("value", ["BOS", "tm_8xz1q", 123456, "SKU-0037", "ada@example.com", 40.7127, "UA"])
def test_distinctive(value):
    assert distinctive(value)


@pytest.mark.parametrize(
    "value", [0, 1, 2013, True, None, "", "a", "true", "open", "2013-01-01", "12", 1.5, "a text of many words", "9999"]
)
def test_not_distinctive(value):
    assert not distinctive(value)


def test_words_are_no_ids():
    assert not is_id("Turku")
    assert not is_id("red")
    assert is_id("BOS")
    assert is_id("k8s-node-1")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (5, "number"),
        ("5", "number"),
        ("5.25", "number"),
        ("2013-01-01", "date"),
        ("BOS", "token"),
        ("New York", "text"),
    ],
)
def test_look(value, kind):
    assert look(value) == kind


@given(st.one_of(st.text(max_size=30), st.integers(), st.floats(), st.booleans()))
def test_a_value_is_like_itself_and_nothing_breaks(value):
    text = text_of(value)
    assert alike(value, [value])
    assert sum(length for _, length in shape(text)) == len(text)
    assert format_of(text) in ("", "date", "date-time", "time", "uuid", "ipv4", "email", "uri")
    assert distinctive(value) in (True, False)
