"""One call decoded by an automaton's masks and a sampler, whatever the sampler prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolflow_bench.decoding.random.samplers import Sampler, unpack

if TYPE_CHECKING:
    from atc.decode.automaton import ToolAutomaton
    from atc.decode.react import ReactAutomaton

MOST_TOKENS = 4096
"""Of one call; a call that has not ended by then counts as unfinished. Models are given 1,024 by default."""
_WORDS = 6
"""Tokens of free text before a call, and after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What was written. `tokens` counts those of calls, not of text around them; `problem` is empty where it ended."""

    text: str
    tokens: int
    problem: str = ""


def decode_call(
    automaton: ToolAutomaton | ReactAutomaton,
    sampler: Sampler,
    *,
    size: int,
    trigger: Sequence[int] = (),
    begun: Sequence[int] = (),
) -> Decoded:
    """Sample a fresh `automaton` until it is finished; `size` is the vocabulary's, `begun` the tokens written first.

    Free text may go on for ever, so a few tokens of it are sampled, then those of the `trigger` that begins a call are
    written; after the call a few more.
    """
    tokens = words = 0
    called = False
    for token in begun:
        automaton.advance(token)
    while not automaton.is_finished:
        mode = automaton.state.mode
        if mode == "text":
            words += 1
            if words > _WORDS:
                if called:
                    break
                for token in trigger:
                    automaton.advance(token)
                words = 0
                continue
        elif mode != "thought":
            called, words, tokens = True, 0, tokens + 1
        if tokens > MOST_TOKENS:
            return Decoded(text=_told(automaton), tokens=tokens, problem=f"not ended after {MOST_TOKENS} tokens")
        allowed = unpack(automaton.allowed(), size)
        if not len(allowed):
            return Decoded(text=_told(automaton), tokens=tokens, problem="no token may follow")
        token = sampler(allowed)
        if not called and token in automaton.vocabulary.eos:
            words = _WORDS  # text may end without a call, but a call is what is looked at
            continue
        automaton.advance(token)
    return Decoded(text=_told(automaton), tokens=tokens)


def _told(automaton: ToolAutomaton | ReactAutomaton) -> str:
    # What is no UTF-8 becomes lone surrogates: free text may hold some, and the judge finds those in arguments.
    return automaton.text.decode(errors="surrogateescape")
