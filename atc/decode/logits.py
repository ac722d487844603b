"""Masks applied to what a model says of its next token: in plain numpy, and as a processor for `transformers`."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atc.decode.automaton import ToolAutomaton
from atc.decode.masks import Mask, unpack


def sample(
    scores: NDArray[np.floating[Any]], mask: Mask, *, temperature: float = 1.0, rng: np.random.Generator | None = None
) -> int:
    """A token that `mask` allows, drawn with the probabilities of `scores` (V,) renormalised over it (section 3.1).

    At temperature 0 the likeliest one. `rng` is needed at any other.

    Raises:
        ValueError: the mask allows nothing, or `rng` is missing.
    """
    tokens = np.flatnonzero(unpack(mask, scores.shape[-1]))
    if not len(tokens):
        raise ValueError("the mask allows no token.")
    kept = np.asarray(scores, dtype=np.float64)[tokens]
    kept[~(kept > -np.inf)] = -np.inf  # a NaN is no score
    if temperature <= 0 or len(tokens) == 1:
        return int(tokens[np.argmax(kept)])
    if rng is None:
        raise ValueError("a temperature above 0 needs `rng`.")
    # Gumbel's trick: the maximum of scores plus such noise is a draw of their softmax, without overflow
    return int(tokens[np.argmax(kept / temperature + rng.gumbel(size=len(tokens)))])


class ToolLogits:
    """A logits processor: `processor(input_ids (n, t), scores (n, V))` gives scores that are -inf where not allowed.

    Both are numpy arrays, or both torch tensors as `transformers` hands them to a `LogitsProcessor`. Rows may go on
    from one another (beams), and end one by one. `prompt_tokens` counts those that no row wrote; None: as many as the
    first call has. One processor serves one generation.
    """

    def __init__(self, automaton: ToolAutomaton, *, prompt_tokens: int | None = None) -> None:
        self._start = automaton.fresh()
        self._prompt_tokens = prompt_tokens
        self._rows: list[tuple[list[int], ToolAutomaton]] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores with -inf at what is not allowed.

        Raises:
            ValueError: a row holds what was not allowed, or the scores are about fewer tokens than the vocabulary has.
        """
        ids = np.asarray(input_ids.cpu() if hasattr(input_ids, "cpu") else input_ids)
        size = self._start.vocabulary.size
        if scores.shape[1] < size:
            raise ValueError(f"the scores are about {scores.shape[1]} tokens, the vocabulary has {size}.")
        if self._prompt_tokens is None:
            self._prompt_tokens = ids.shape[1]
        self._follow([row[self._prompt_tokens :].tolist() for row in ids])
        refused = np.ones(scores.shape, dtype=np.bool_)
        for place, (_, automaton) in enumerate(self._rows):
            np.logical_not(unpack(automaton.allowed(), size), out=refused[place, :size])
        return _without(scores, refused)

    def _follow(self, written: list[list[int]]) -> None:
        """Have one automaton a row stand behind what was written there."""
        bases = [self._base(place, tokens) for place, tokens in enumerate(written)]
        for tokens, (taken, automaton) in zip(written, bases, strict=True):
            for token in tokens[taken:]:
                if automaton.is_finished:  # what follows only fills the row
                    break
                automaton.advance(token)
        self._rows = [(tokens, automaton) for tokens, (_, automaton) in zip(written, bases, strict=True)]

    def _base(self, place: int, tokens: list[int]) -> tuple[int, ToolAutomaton]:
        """How many of `tokens` an automaton took, and it: the row's own, another's copy, or a fresh one."""
        for other in sorted(range(len(self._rows)), key=lambda other: other != place):
            taken, automaton = self._rows[other]
            if tokens[: len(taken)] == taken:
                return len(taken), automaton if other == place else automaton.copy()
        return 0, self._start.fresh()


def _without(scores: Any, refused: NDArray[np.bool_]) -> Any:
    """`scores` with -inf where `refused`, of the same kind."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(scores, torch.Tensor):
        return scores.masked_fill(torch.from_numpy(refused).to(scores.device), float("-inf"))
    return np.where(refused, -np.inf, scores).astype(scores.dtype, copy=False)
