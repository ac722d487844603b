"""Masks of text mode: every token, but those that complete the trigger and go on as no call does."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from atc.decode.masks import Mask, mask_of
from atc.decode.vocabulary import Vocabulary


class TextMode:
    """`trigger` begins a call, `ending` is the last byte of one, empty where no text follows calls.

    `goes(progress, data)` says whether `data` may come next where `progress` bytes of the trigger stand before it. With
    `special`, text may hold special tokens, and end.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        trigger: bytes,
        ending: bytes,
        *,
        special: bool,
        goes: Callable[[int, bytes], bool],
    ) -> None:
        self._vocabulary, self._trigger, self._ending, self._goes = vocabulary, trigger, ending, goes
        self._everything = [token for token, text in enumerate(vocabulary.tokens) if text]
        if special:
            self._everything += vocabulary.special
        self._masks: dict[int, Mask] = {}
        self._openings: dict[bytes, Mask] = {}

    def mask(self, progress: int) -> Mask:
        """The tokens that text may go on with."""
        kept = self._masks.get(progress)
        if kept is None:
            refused = [text for text in self._completing(progress) if not self._goes(progress, text)]
            kept = self._masks[progress] = self._but(self._everything, refused)
        return kept

    def opening(self, rest: bytes) -> Mask:
        """The tokens that may come next where text follows `rest`, which must be written first."""
        kept = self._openings.get(rest)
        if kept is None:
            vocabulary = self._vocabulary
            begun = [rest[:length] for length in range(1, len(rest)) if rest[:length] in vocabulary.ids]
            low, high = vocabulary.beginning_with(rest)
            texts = begun + vocabulary.ordered[low:high]
            tokens = vocabulary.with_twins([vocabulary.ids[text] for text in texts])
            refused = [
                text for text in texts if self._trigger in text[len(rest) :] and not self._goes(0, text[len(rest) :])
            ]
            kept = self._openings[rest] = self._but(tokens, refused)
        return kept

    def _but(self, tokens: list[int], refused: list[bytes]) -> Mask:
        ids = self._vocabulary.ids
        without = set(self._vocabulary.with_twins([ids[text] for text in refused]))
        return mask_of((token for token in tokens if token not in without), self._vocabulary)

    @cached_property
    def _holding(self) -> list[bytes]:
        """Texts of tokens that hold the whole trigger."""
        return [text for text in self._vocabulary.ordered if self._trigger in text] if self._trigger else []

    @cached_property
    def risky(self) -> list[int]:
        """Tokens that may end a call and begin another."""
        if not self._ending:
            return []
        ids, trigger = self._vocabulary.ids, self._trigger
        found = [ids[text] for text in self._holding if trigger in text[text.find(self._ending) + 1 or len(text) :]]
        return self._vocabulary.with_twins(found)

    def _completing(self, progress: int) -> set[bytes]:
        """Texts of tokens with which the trigger is complete."""
        found = set(self._holding)
        for length in range(1, progress + 1):
            if self._trigger[progress - length : progress] == self._trigger[:length]:
                low, high = self._vocabulary.beginning_with(self._trigger[length:])
                found.update(self._vocabulary.ordered[low:high])
        return found
