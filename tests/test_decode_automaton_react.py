"""ReAct's format: a thought, the name of a tool, its arguments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llguidance")

from atc.decode.errors import Undecodable
from atc.decode.formats import FUNCTION
from atc.decode.react import ReactAutomaton
from atc.decode.run import FinishedCall, State
from tests.decode_automaton_lab import EOS, SPECIAL, TOOLS, allowed_tokens, small_vocabulary, splits, walk, write

VOCABULARY = small_vocabulary()
ROOT = ReactAutomaton(TOOLS, VOCABULARY, thought_tokens=60)
TURN = 'Thought: I must add.\nAction?\n\nAction: add\nAction Input: {"a": 12, "b": 30}\n'


@pytest.mark.parametrize("seed", range(5))
def test_a_turn_in_whatever_tokens(seed: int) -> None:
    automaton = ROOT.fresh()
    for token in splits(TURN, VOCABULARY, seed):
        assert token in allowed_tokens(automaton)
        automaton.advance(token)
    assert automaton.calls == (FinishedCall("add", '{"a": 12, "b": 30}'),)
    assert allowed_tokens(automaton) == [EOS]
    automaton.advance(EOS)
    assert automaton.state == State("done")


def test_its_states() -> None:
    automaton = ROOT.fresh()
    assert VOCABULARY.decode(automaton.forced()) == b"Thought:"
    seen = []
    for byte in TURN.encode():
        seen.append(automaton.state.mode)
        automaton.advance(byte)
    assert list(dict.fromkeys(seen)) == ["thought", "name", "arguments"]
    assert automaton.is_complete


def test_a_thought_does_not_end_the_turn() -> None:
    automaton = write(ROOT.fresh(), "Thought: done")
    assert not {EOS, SPECIAL} & set(allowed_tokens(automaton))
    assert not automaton.is_complete


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), limit=st.integers(1, 30))
def test_a_thought_is_bounded(seed: int, limit: int) -> None:
    automaton = ReactAutomaton(TOOLS, VOCABULARY, thought_tokens=limit)
    tokens = 0
    write(automaton, "Thought:")
    while automaton.state.mode == "thought":
        walk(automaton, seed + tokens, most=1)
        tokens += 1
    assert tokens <= limit
    walk(automaton, seed)
    assert automaton.is_finished
    thought, _, call = automaton.text.partition(b"\nAction: ")
    assert thought.startswith(b"Thought:")
    assert call.startswith(automaton.calls[0].tool.encode() + b"\nAction Input: {")


def test_a_call_that_is_begun_wrongly_is_not_allowed() -> None:
    automaton = write(ROOT.fresh(), "Thought: x\nAction")
    texts = {VOCABULARY.tokens[token] for token in allowed_tokens(automaton)}
    assert {b":", b":mul"} & texts == {b":"}  # a blank must come first
    write(automaton, ": ad")
    assert {VOCABULARY.tokens[token] for token in allowed_tokens(automaton)} == {b"d"}


def test_a_prompt_may_begin_the_turn() -> None:
    automaton = write(ReactAutomaton(TOOLS, VOCABULARY, opening=""), "\nAction: now\nAction Input: {}")
    assert not automaton.is_complete
    assert write(automaton, "\n").is_complete


def test_a_format_without_a_word_before_names_has_no_turns() -> None:
    with pytest.raises(Undecodable, match="nothing that ends its thought"):
        ReactAutomaton(TOOLS, VOCABULARY, form=FUNCTION)
