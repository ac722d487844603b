"""What a model replied, kept in the log, so that a probing that goes on later asks nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from probing.log import Log
from protocols.ask import Ask, Message
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json, JsonObject

_GIVEN_UP = 2
"""Failures in a row after which the model is asked no more: each may have taken minutes of retries."""


class Replies:
    """Asks a model, or gives what it replied to the same before. `failed` says why it is asked no more, or was not
    of use last.
    """

    def __init__(self, ask: Ask, log: Log) -> None:
        self.failed = ""
        self.asked = 0
        """Questions that were sent to the model, those kept from before not counted."""
        self._ask, self._log = ask, log
        self._failures = 0

    def text(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonObject | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int,
    ) -> str | None:
        """The reply; None where there is none to be had."""
        try:
            how = {"model": self._ask.name, "schema": schema, "temperature": temperature, "seed": seed}
            told = [[message.role, message.content] for message in messages]
            key = _key({"messages": told, "max_tokens": max_tokens, **how})
            kept = self._log.notes.get(key)
            if kept is not None:
                return str(kept["text"])
            if self._failures >= _GIVEN_UP:
                return None
            self.asked += 1
            completion = self._ask(messages, schema=schema, temperature=temperature, seed=seed, max_tokens=max_tokens)
        except ModelUnavailable as error:
            self._failures += 1
            self.failed = str(error)
            return None
        self._failures, self.failed = 0, ""
        spent = {"input_tokens": completion.input_tokens, "output_tokens": completion.output_tokens}
        self._log.note(key, {"text": completion.text, "model": completion.model, **spent})
        return completion.text

    def json(self, messages: Sequence[Message], *, schema: JsonObject, max_tokens: int) -> Json:
        """The reply as a JSON value; None where there is none, or it is no JSON."""
        reply = self.text(messages, schema=schema, max_tokens=max_tokens)
        try:
            return None if reply is None else json.loads(reply)
        except (ValueError, RecursionError):
            return None  # cut off, or of a model that takes a schema for advice


def _key(asked: JsonObject) -> str:
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
    return f"reply {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:24]}"
