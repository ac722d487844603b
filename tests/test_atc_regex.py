"""What is told of regular expressions without a text: how long matches are, and whether two share one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.regex import disjoint, found, lengths, sought, widths

_PIECES = ["a", "b", "[ab]", "[^a]", ".", "ab", "a?", "b*", "(ab)+", "(a|bb)", "a{2,3}", r"\d"]
PATTERNS = st.lists(st.sampled_from(_PIECES), max_size=5).flatmap(
    lambda parts: st.sampled_from(["^{}$", "^{}", "{}$", "{}"]).map(lambda form: form.format("".join(parts)))
)


@given(PATTERNS)
def test_no_match_is_shorter_or_longer_than_told(pattern: str) -> None:
    low, high = widths(sought(pattern))
    told = lengths(sought(pattern), 30)
    assert told & -told == 1 << low
    if high is None:
        assert told >> 29, "every repeated piece has at most two characters"
    else:
        assert told.bit_length() - 1 == high


@given(PATTERNS, PATTERNS)
def test_two_are_disjoint_where_no_text_is_found_in_which_both_are(one: str, other: str) -> None:
    shared = found([sought(one), sought(other)])
    assert disjoint(sought(one), sought(other)) is (shared is None)
    if shared is not None:
        assert re.search(one, shared)
        assert re.search(other, shared)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"^[\s\S]*{0}x$", r"^[\s\S]*{0}y$"),
        (r"^x{0}[\s\S]*$", r"^y[\s\S]*{0}$"),
        (r"^{0}[ab]*x$", r"^[\s\S]*{0}[cd]$"),
    ],
)
def test_long_texts_that_differ_at_one_end_are_told_apart(one: str, other: str) -> None:
    text = "the quick brown fox jumps over the lazy dog " * 3
    assert disjoint(sought(one.format(text)), sought(other.format(text)))
