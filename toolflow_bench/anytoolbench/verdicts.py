"""Asking a model for a verdict: a reason first, then one of a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from atc.retrieve.replies import json_object, one_text
from protocols.ask import Ask, Message
from protocols.jsontypes import JsonObject

_REPLY_TOKENS = 300
_LONGEST_REASON = 300


class Verdict(NamedTuple):
    """One of the words asked for, empty where the reply has none of them, and why."""

    word: str
    reason: str


def verdict(ask: Ask, instructions: str, case: str, words: Sequence[str]) -> Verdict:
    """What the model says of `case`, greedily.

    Raises:
        ModelUnavailable: it did not answer.
    """
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": _LONGEST_REASON},
            "verdict": {"type": "string", "enum": list(words)},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    }
    reply = ask([Message("system", instructions), Message("user", case)], schema=schema, max_tokens=_REPLY_TOKENS)
    said = json_object(reply.text)
    word = one_text(said.get("verdict")).casefold()
    known = next((one for one in words if one.casefold() == word), "")
    return Verdict(known, one_text(said.get("reason"))[:_LONGEST_REASON])
