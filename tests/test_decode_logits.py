"""Masks applied to scores: any temperature, any batch, and beams."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llguidance")

from atc.decode.automaton import ToolAutomaton
from atc.decode.formats import FUNCTION
from atc.decode.logits import ToolLogits, sample
from atc.decode.masks import mask_of, unpack
from tests.decode_automaton_lab import EOS, TOOLS, allowed_tokens, small_vocabulary

VOCABULARY = small_vocabulary()
ROOT = ToolAutomaton(TOOLS, VOCABULARY, FUNCTION)


def test_a_mask_is_a_bit_a_token() -> None:
    tokens = [0, 31, 32, 63, 257, VOCABULARY.size - 1]
    mask = mask_of(tokens, VOCABULARY)
    assert mask.dtype == np.uint32
    assert mask.shape == (VOCABULARY.words,)
    assert list(np.flatnonzero(unpack(mask, VOCABULARY.size))) == tokens
    assert int(mask[0]) == 1 | 1 << 31


@pytest.mark.parametrize("temperature", [0.0, 0.01, 1.0, 100.0])
def test_calls_of_random_scores_are_valid(temperature: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        automaton = ROOT.fresh()
        while not automaton.is_finished:
            scores = rng.standard_normal(VOCABULARY.size) * 10
            automaton.advance(sample(scores, automaton.allowed(), temperature=temperature, rng=rng))
        assert len(automaton.calls) == 1


def test_a_sample_follows_the_probabilities_of_what_is_allowed() -> None:
    mask = mask_of([3, 40, 70], VOCABULARY)
    scores = np.zeros(VOCABULARY.size, dtype=np.float32)
    scores[[3, 40, 70, 71]] = [np.log(1), np.log(3), -np.inf, 50]
    rng = np.random.default_rng(0)
    drawn = [sample(scores, mask, rng=rng) for _ in range(2000)]
    assert set(drawn) == {3, 40}
    assert 0.70 < drawn.count(40) / 2000 < 0.80
    assert sample(scores, mask, temperature=0) == 40


def test_scores_that_are_no_numbers_do_not_let_a_token_through() -> None:
    mask = mask_of([5, 6], VOCABULARY)
    scores = np.full(VOCABULARY.size, np.nan)
    rng = np.random.default_rng(0)
    assert sample(scores, mask, rng=rng) in (5, 6)
    scores[6] = 1.0
    assert {sample(scores, mask, rng=rng) for _ in range(20)} == {6}
    with pytest.raises(ValueError, match="allows no token"):
        sample(scores, mask_of([], VOCABULARY))
    with pytest.raises(ValueError, match="needs `rng`"):
        sample(np.zeros(VOCABULARY.size), mask)


def test_each_row_of_a_batch_has_its_own_mask() -> None:
    """Rows end one by one, and go on from one another as beams do."""
    rng = np.random.default_rng(1)
    processor, width = ToolLogits(ROOT), VOCABULARY.size + 30
    ids = np.full((4, 5), 9)
    reference = [ROOT.fresh() for _ in range(4)]
    for step in range(300):
        scores = rng.standard_normal((4, width)).astype(np.float32)
        scores[:, EOS] += 3
        out = processor(ids, scores)
        assert out.dtype == np.float32
        for row, automaton in enumerate(reference):
            kept = np.flatnonzero(np.isfinite(out[row]))
            assert list(kept) == allowed_tokens(automaton)
            assert np.array_equal(out[row][kept], scores[row][kept])
        tokens = out.argmax(axis=1)
        for automaton, token in zip(reference, tokens, strict=True):
            if not automaton.is_finished:
                automaton.advance(int(token))
        ids = np.concatenate([ids, tokens[:, None]], axis=1)
        if step % 5 == 3:
            order = rng.integers(4, size=4)
            ids, reference = ids[order], [reference[row].copy() for row in order]
        if all(automaton.is_finished for automaton in reference):
            break
    assert all(automaton.calls for automaton in reference)


def test_what_follows_the_end_of_a_row_only_fills_it() -> None:
    processor = ToolLogits(ROOT, prompt_tokens=0)
    written = [*b"now()", EOS, 7, 7]
    out = processor(np.array([written]), np.zeros((1, VOCABULARY.size)))
    assert list(np.flatnonzero(np.isfinite(out[0]))) == [EOS]


def test_what_was_not_allowed_is_refused() -> None:
    processor = ToolLogits(ROOT, prompt_tokens=0)
    with pytest.raises(ValueError, match="may not come next"):
        processor(np.array([[*b"nope("]]), np.zeros((1, VOCABULARY.size)))
    with pytest.raises(ValueError, match="the vocabulary has"):
        processor(np.array([[]], dtype=np.int64), np.zeros((1, 100)))


def test_torch_tensors_stay_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.zeros((2, VOCABULARY.size), dtype=torch.bfloat16)
    out = ToolLogits(ROOT)(torch.zeros((2, 3), dtype=torch.long), scores)
    assert out.dtype == torch.bfloat16
    assert torch.isfinite(out[1]).nonzero().flatten().tolist() == allowed_tokens(ROOT.fresh())
