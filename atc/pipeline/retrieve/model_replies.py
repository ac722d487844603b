"""Helpers for search methods that ask a model: usage counts, reply schemas, and JSON replies."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from atc.core.parallel import ModelReply, ModelRequest, ask_each
from atc.core.types import Usage
from protocols.model import Ask, Completion, Message, Powers, powers
from protocols.render import token_estimate
from protocols.schema import Json, JsonObject


class Tally:
    """A wrapper around a model that counts how many requests and tokens a search uses.

    `ask` is the model, and `usage` the count to start from. Each search has its own wrapper; it is
    thread-safe. Token counts that an endpoint does not report are estimated, because otherwise a
    budget would never be spent.
    """

    def __init__(self, ask: Ask, usage: Usage | None = None) -> None:
        self._ask = ask
        self.usage = usage or Usage()
        self._lock = threading.Lock()
        self.name = ask.name
        self.prompt_tokens = ask.prompt_tokens

    @property
    def powers(self) -> Powers:
        """Features of the wrapped model, such as whether a JSON Schema is enforced on replies."""
        return powers(self._ask)

    @property
    def spent(self) -> int:
        """Number of tokens in all prompts and replies so far."""
        return self.usage.input_tokens + self.usage.output_tokens

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        """Ask the model one question, and count its usage. A call that raises is not counted."""
        return self._counted(self._ask(messages, **options), messages)

    def each(self, requests: Sequence[ModelRequest], most: int) -> Sequence[ModelReply]:
        """Return the model's reply to each request, at most `most` at once, and count the usage."""
        replies = zip(requests, ask_each(self._ask, requests, most), strict=True)
        return [
            self._counted(one, asked.messages) if isinstance(one, Completion) else one
            for asked, one in replies
        ]

    def _counted(self, completion: Completion, messages: Sequence[Message]) -> Completion:
        with self._lock:
            read = completion.input_tokens or prompt_tokens(messages)
            written = completion.output_tokens or tokens_of(completion.text)
            self.usage += Usage.of(replace(completion, input_tokens=read, output_tokens=written))
        return completion


def tokens_of(text: str) -> int:
    """Estimate the number of tokens in a text.

    For scripts in which one character can be a token or more, the estimate is rather too high.
    """
    return token_estimate(text) + sum(not character.isascii() for character in text)


def prompt_tokens(messages: Iterable[Message]) -> int:
    """Estimate the number of tokens in a conversation."""
    return sum(tokens_of(message.content) + 4 for message in messages)


def an_object(properties: JsonObject, *, optional: Collection[str] = ()) -> JsonObject:
    """Return the JSON Schema of an object with exactly these properties.

    All properties except the `optional` ones are required.
    """
    required: list[Json] = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def a_text(most: int, *, least: int = 0) -> JsonObject:
    """Return the JSON Schema of a string of `least` to `most` characters."""
    return {"type": "string", **({"minLength": least} if least else {}), "maxLength": most}


def a_list(items: JsonObject, *, most: int, least: int = 0) -> JsonObject:
    """Return the JSON Schema of a list of `least` to `most` items."""
    return {
        "type": "array",
        "items": items,
        **({"minItems": least} if least else {}),
        "maxItems": most,
    }


def json_object(reply: str) -> dict[str, Any]:
    """Return the JSON object in a reply of a model, or an empty dict if it contains none."""
    begin = reply.find("{")
    end = reply.rfind("}")
    try:
        value = json.loads(reply[begin : end + 1], strict=False) if begin >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def one_text(value: object) -> str:
    """Return a string with each run of whitespace replaced by one space.

    For any other value, return "".
    """
    return " ".join(value.split()) if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Return the non-empty strings of a list, or an empty list for any other value."""
    return [text for item in value if (text := one_text(item))] if isinstance(value, list) else []


_LONG = 9
"""Texts of at least this many words are checked for repetition."""


def find_text_fault(text: str, *, given: Iterable[str]) -> str | None:
    """Return why a text that a model wrote is unusable, or None if it is usable.

    `given` are texts of the prompt, which must not be repeated.
    """
    words = re.findall(r"\w+", text.casefold())
    if not any(word.strip("_0123456789") for word in words):
        return "empty or unreadable"
    if any(words == re.findall(r"\w+", other.casefold()) for other in given):
        return "a copy of what the model was given"
    if len(words) >= _LONG and len(set(words)) < len(words) / 3:
        return "one phrase over and over"
    return None
