"""The thin layer over llguidance."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llguidance")

from atc.decode.arguments import value_grammar
from atc.decode.errors import Undecodable
from atc.decode.lark import lark
from atc.decode.masks import unpack
from atc.decode.matcher import Matcher, judge
from atc.decode.vocabulary import Vocabulary
from tests.decode_words import small_vocabulary

GRAMMAR = '%llguidance {}\nstart: "ab" /[0-9]{1,3}/ ("." | "!é")\n'


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        *[("ab1.", "complete"), ("ab12!é", "complete")],
        *[("", "unfinished"), ("ab", "unfinished"), ("ab123", "unfinished"), (b"ab1!\xc3", "unfinished")],
        *[("ab1234", "outside"), ("ab1. ", "outside"), ("x", "outside")],
    ],
)
def test_texts_are_judged(text: str | bytes, verdict: str) -> None:
    assert judge(GRAMMAR, text) == verdict


def test_a_mask_holds_every_way_to_spell_what_must_come() -> None:
    """The library itself would allow but one."""
    vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"", b"ab", b"ab1", b"b2", b"a"], eos=(256,))
    matcher = Matcher(vocabulary, GRAMMAR)
    assert _allowed(matcher, vocabulary) == {b"a", b"ab", b"ab1"}
    assert matcher.forced() == b"ab"
    assert matcher.advance(97)
    assert _allowed(matcher, vocabulary) == {b"b", b"b2"}
    assert not matcher.advance(97)
    assert matcher.feed(b"b12x") == 3
    assert matcher.foresees(b".")
    assert not matcher.foresees(b"..")
    matcher.rollback(2)
    assert matcher.feed(b"2.") == 2
    assert matcher.is_complete
    assert matcher.is_stopped


def _allowed(matcher: Matcher, vocabulary: Vocabulary) -> set[bytes]:
    return {vocabulary.tokens[token] for token in np.flatnonzero(unpack(matcher.mask(), vocabulary.size))}


def test_a_pattern_that_can_be_read_in_many_ways_has_its_masks() -> None:
    """By itself the library gives up on it."""
    vocabulary = small_vocabulary()
    grammar = value_grammar({"type": "string", "pattern": r"^(?: \D+){5,}$"}, {}, "json")
    matcher = Matcher(vocabulary, lark(grammar))
    text = b'" aa  bb '
    assert matcher.feed(text) == len(text)
    assert b"1" not in _allowed(matcher, vocabulary)
    assert b" -" in _allowed(matcher, vocabulary)


def test_a_grammar_that_is_none_is_an_error() -> None:
    with pytest.raises(Undecodable, match="cannot be compiled"):
        judge("%llguidance {}\nstart: foo (\n", "x")


def test_more_cannot_be_given_back_than_was_taken() -> None:
    matcher = Matcher(Vocabulary.byte_level(), GRAMMAR)
    matcher.feed(b"a")
    with pytest.raises(Undecodable, match="cannot be given back"):
        matcher.rollback(5)
