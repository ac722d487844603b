"""Long strings: masks are worked out of a looser grammar while that makes no difference."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llguidance")

from atc.decode.arguments import arguments_grammar
from atc.decode.call_matcher import CallMatcher, CompiledCall, without_long_counts
from atc.decode.errors import Undecodable
from atc.decode.grammar import AnyOrder, Choice, Grammar, Pattern, Ref, Repeat, Sequence, Text
from atc.decode.lark import lark
from atc.decode.masks import unpack
from atc.decode.matcher import Matcher
from tests.decode_automaton_lab import EOS, TOOLS, small_vocabulary, toolbox

VOCABULARY = small_vocabulary()
LETTER = toolbox({"write": {"text": {"type": "string"}, "to": {"type": "string", "minLength": 2, "maxLength": 230}}})


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), form=st.sampled_from(["json", "positional"]))
def test_the_masks_are_those_of_the_grammar_itself(seed: int, form: str) -> None:
    """Over a whole call whose strings come to their bounds, forwards and back."""
    grammar = arguments_grammar(LETTER["write"], form)  # type: ignore[arg-type]
    fast, exact = CompiledCall(VOCABULARY, grammar).start(), Matcher(VOCABULARY, lark(grammar))
    draw = random.Random(seed)
    closing = [VOCABULARY.ids[b'"'], VOCABULARY.ids[b"'"]]
    for _ in range(600):
        assert (fast.is_complete, fast.is_stopped) == (exact.is_complete, exact.is_stopped)
        if exact.is_stopped:
            break
        mask = exact.mask()
        assert np.array_equal(fast.mask(), mask)
        tokens = [int(token) for token in np.flatnonzero(unpack(mask, VOCABULARY.size)) if token != EOS]
        if not tokens:
            break
        token = draw.choice([token for token in tokens if token not in closing] or tokens)
        assert fast.advance(token)
        assert exact.advance(token)
        if draw.random() < 0.03:
            assert fast.feed(b"a") == exact.feed(b"a")
        if draw.random() < 0.03:
            fast.rollback(1)
            exact.rollback(1)
    else:
        pytest.fail("the call has no end")


def test_only_what_repeats_very_often_loses_its_count() -> None:
    many, few = Pattern('"([^"]|\\\\.){0,400}"'), Pattern("[a{0,400}]{2,50}\\{0,400\\}")
    held = Pattern("[a-z]{0,400}", never=("abc",))
    grammar = Grammar(
        Sequence((Text("x{0,400}"), Choice((many, Ref("r"))), Repeat(few, 0, 300))),
        {"r": AnyOrder(((Pattern("b{5,250}"), True), (held, False), (many, False)), Text(","))},
    )
    loose, shortest = without_long_counts(grammar)
    endless = Pattern('"([^"]|\\\\.){0,}"')
    assert loose.start == Sequence((Text("x{0,400}"), Choice((endless, Ref("r"))), Repeat(few, 0, 300)))
    assert loose.rules == {"r": AnyOrder(((Pattern("b{5,}"), True), (held, False), (endless, False)), Text(","))}
    assert shortest == 250


def test_a_grammar_without_long_counts_stays() -> None:
    grammar = arguments_grammar(TOOLS["say"], "json")
    assert without_long_counts(grammar) == (grammar, None)


def test_copies_go_their_own_ways() -> None:
    one = CompiledCall(VOCABULARY, arguments_grammar(LETTER["write"], "positional")).start()
    assert one.feed(b'"abc') == 4
    other = one.copy()
    assert one.feed(b"d" * 390) == 390
    assert other.feed(b'", "xy"') == 7
    assert other.is_complete
    assert not one.is_complete
    again = one.copy()
    assert again.feed(b"e" * 20) == 7  # 400 characters and no more
    assert one.feed(b'", "xy"') == 7
    assert one.is_complete


class Exhausted(Matcher):
    """One whose lexer has learned all that it may."""

    def mask(self):
        raise Undecodable("too many expressions")


def test_what_llguidance_cannot_go_on_with_is_compiled_anew() -> None:
    grammar = arguments_grammar(TOOLS["say"], "positional")
    compiled = CompiledCall(VOCABULARY, grammar)
    matcher = CallMatcher(compiled, Exhausted(VOCABULARY, lark(grammar)))
    exact = Matcher(VOCABULARY, lark(grammar))
    for taker in (matcher, exact):
        taker.feed(b'"a')
        taker.advance(VOCABULARY.ids[b"abc"])
    assert np.array_equal(matcher.mask(), exact.mask())
    assert matcher.feed(b'", True') == 7
    matcher.rollback(6)
    assert matcher.is_complete


def test_a_grammar_that_cannot_be_compiled_is_said() -> None:
    with pytest.raises(Undecodable, match="cannot be compiled"):
        CompiledCall(VOCABULARY, Grammar(Pattern("(unclosed"), {}))
