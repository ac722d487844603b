"""ConAgents' observing agent: what is wanted of a response, read by the model, or by code where it is long.

As in the published code of the paper's first version (Shi et al., 2024): code is written over the structure of the
response, again with what went wrong where it fails, and at last the model reads a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

from atc.meter import Meter
from atc.prompts import fill
from atc.strategies.base import Parts
from atc.strategies.turns.extracting import extracted
from atc.synthesize import parse
from protocols.abridge import abridged, clipped, printed, sampled
from protocols.ask import Message
from protocols.jsontypes import Json
from protocols.schema import shape

LONGEST_READ = 4_500
"""Characters of a response that the model reads itself: about the 1,500 tokens of the published code."""
_LONGEST_OBSERVED = 1_024
_LONGEST_SHAPE, _LONGEST_SAMPLE = 2_000, 1_000
_MOST_PROGRAMS = 3
_LONGEST_REPLY = 500
"""Tokens, as the published code has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A call, as it is written, what it was made for, and what of its response is wanted."""

    call: str
    instruction: str
    wanted: str


def observed(value: Json, looked: Looked, parts: Parts, meter: Meter) -> str:
    """What is wanted of a response, in words; empty where the agent has none."""
    if len(repr(value)) > LONGEST_READ and (found := _by_code(value, looked, parts, meter)):
        return found
    messages = _asking("conagents_observe", looked, abridged(value, most=LONGEST_READ))
    return clipped(_replied(messages, meter).strip(), _LONGEST_OBSERVED)


def _by_code(value: Json, looked: Looked, parts: Parts, meter: Meter) -> str | None:
    """What a few lines of Python print of the response; None where all of them fail."""
    structure = fill(
        "conagents_structure",
        shape=clipped(shape(value), _LONGEST_SHAPE),
        sample=sampled(value, most=_LONGEST_SAMPLE),
    )
    messages = _asking("conagents_extract", looked, structure)
    for _ in range(_MOST_PROGRAMS):
        reply = _replied(messages, meter)
        program = parse(reply)
        found = extracted(program, value, parts, meter) if program is not None else None
        if found is not None:
            return printed(found, most=_LONGEST_OBSERVED)
        messages += [
            Message("assistant", reply.strip() or "(nothing)"),
            Message("user", fill("conagents_extract_again")),
        ]
    return None


def _asking(prompt: str, looked: Looked, response: str) -> list[Message]:
    asked = fill(
        "conagents_response",
        instruction=looked.instruction,
        call=looked.call,
        response=response,
        wanted=looked.wanted,
    )
    return [Message("system", fill(prompt)), Message("user", asked)]


def _replied(messages: list[Message], meter: Meter) -> str:
    return meter.complete(messages, purpose="observe", temperature=0.0, seed=0, max_tokens=_LONGEST_REPLY).text
