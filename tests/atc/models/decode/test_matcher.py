"""Token masks: whatever they allow becomes a valid call, in one grammar and in two stages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("llguidance")

from llguidance import LLTokenizer

from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import FORMATS, FUNCTION, TOOLDEC, CallFormat
from atc.models.decode.grammar import compile_matcher
from atc.models.decode.matcher import ToolLogits, ToolMatcher, sample
from atc.models.decode.parse import read_call
from protocols.toolbox import Toolbox
from tests.labs.constrained_endpoint import TOOLS

BYTES = LLTokenizer("byte")
STAGES = pytest.mark.parametrize("one_grammar", [256, 0], ids=["one grammar", "two stages"])


def wrote(matcher: ToolMatcher, text: str) -> ToolMatcher:
    for byte in text.encode():
        assert matcher.allowed_mask()[byte], (text, matcher.text)
        matcher.advance(byte)
    return matcher


@STAGES
@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_random_tokens_make_a_valid_call(form: CallFormat, one_grammar: int) -> None:
    plain = replace(form, trigger="")
    root = ToolMatcher(TOOLS, BYTES, plain, one_grammar=one_grammar)
    for seed in range(15):
        matcher, rng = root.fresh(), np.random.default_rng(seed)
        while not matcher.is_finished:
            matcher.advance(
                sample(rng.standard_normal(BYTES.vocab_size), matcher.allowed_mask(), rng=rng)
            )
            assert len(matcher.tokens) < 4000
        assert read_call(matcher.text, TOOLS, plain).error is None


@STAGES
def test_only_a_trigger_begins_a_call(one_grammar: int) -> None:
    matcher = ToolMatcher(TOOLS, BYTES, TOOLDEC, one_grammar=one_grammar)
    assert matcher.is_complete
    wrote(matcher, "Is 2 < 3? <b>Yes</b>: <T>add(1, 2)")
    assert matcher.is_complete
    wrote(matcher, " and <T>")
    assert not matcher.is_complete
    assert {chr(byte) for byte in np.flatnonzero(matcher.allowed_mask()[:256])} == {
        alias[0] for alias in TOOLS
    }
    wrote(matcher, "power(2, 3) done")
    assert read_call(matcher.text, TOOLS, TOOLDEC).tool == "add"
    matcher.advance(BYTES.eos_token)
    assert matcher.is_finished


def test_scores_are_masked_row_by_row() -> None:
    processor = ToolLogits(ToolMatcher(TOOLS, BYTES, FUNCTION), prompt_tokens=1)
    scores = np.zeros((2, BYTES.vocab_size), dtype=np.float32)
    rows = np.array([[0, *b"pow"], [0, *b"add"]])
    masked = processor(rows, scores)
    assert [{chr(c) for c in np.flatnonzero(row[:256] == 0)} for row in masked] == [{"e"}, {"("}]
    swapped = processor(np.array([[0, *b"addi"[:3], ord("(")], [0, *b"maxi"]]), scores)
    assert chr(int(np.argmax(swapped[1]))) == "m"
    assert sample(np.array([5.0, 9.0, 1.0]), np.array([True, False, True]), temperature=0) == 0
    with pytest.raises(ValueError, match="allows no token"):
        sample(np.zeros(2), np.zeros(2, dtype=bool))


def test_what_cannot_be_decoded_is_said() -> None:
    with pytest.raises(Undecodable, match="no tool"):
        ToolMatcher(Toolbox(), BYTES)
    with pytest.raises(Undecodable, match="llguidance stopped"):
        compile_matcher(BYTES, "%llguidance {}\nstart: foo\n")


def test_a_token_that_is_not_allowed_changes_nothing() -> None:
    matcher = wrote(ToolMatcher(TOOLS, BYTES, FUNCTION), "max")
    with pytest.raises(ValueError, match="may not come next"):
        matcher.advance(ord("x"))
    with pytest.raises(ValueError, match="may not come next"):
        matcher.advance(BYTES.eos_token)
    assert wrote(matcher, 'imum("x")').is_complete
