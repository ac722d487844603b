"""What a query asks for, request by request: by a model (Re-Invoke §3.2), by its punctuation, or both."""

from __future__ import annotations

import re
from typing import TypeAlias

from atc.retrieve.intent_prompts import fill
from atc.retrieve.replies import json_object, texts
from atc.retrieve.segment import split
from atc.retrieve.tally import Tally
from atc.types import Usage
from protocols.ask import Ask, Message
from protocols.jsontypes import JsonObject

_MOST = 6
_MAX_TOKENS = 300
_LONGEST_QUERY = 6000
"""Characters of a query that the model reads; the end of a longer one is left out."""
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "intents": {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": 200},
            "minItems": 1,
            "maxItems": _MOST,
        }
    },
    "required": ["intents"],
    "additionalProperties": False,
}

Found: TypeAlias = tuple[tuple[str, ...], Usage]
"""The intents of a query, and what the model took."""


class Intents:
    """Finds the intents of a query: the model's where there is one, with `split` its requests as they stand too.

    Several threads may ask at once.
    """

    def __init__(self, ask: Ask | None = None, *, split: bool = False) -> None:
        if ask is None and not split:
            raise ValueError("intents come from a model or from splitting the query: give one")
        self._ask, self._split = ask, split

    def __call__(self, query: str) -> Found:
        """The intents of `query`, none twice; the query itself where the model's reply is of no use.

        Raises:
            ModelUnavailable: see `Ask`.
        """
        said, usage = extract(query, self._ask) if self._ask is not None else ((), Usage())
        own = split(query) if self._split else ()
        different = {_words(text): text for text in reversed([*said, *own])}
        return tuple(reversed(different.values())), usage


def extract(query: str, ask: Ask) -> Found:
    """The intents that the model sees in a query; the query itself where its reply holds none.

    Raises:
        ModelUnavailable: see `Ask`.
    """
    tally = Tally(ask)
    messages = [Message("system", fill("intents"))]
    for number in (1, 2, 3):
        messages.append(Message("user", fill(f"example_{number}_query")))
        messages.append(Message("assistant", fill(f"example_{number}_intents")))
    messages.append(Message("user", query[:_LONGEST_QUERY]))
    reply = tally(messages, schema=SCHEMA, temperature=0.0, max_tokens=_MAX_TOKENS)
    return _read(reply.text) or (query,), tally.usage


def _read(reply: str) -> tuple[str, ...]:
    said = texts(json_object(reply).get("intents"))
    return tuple(dict.fromkeys(text for text in said if _words(text)))[:_MOST]


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))
