"""The likeliest tokens of each place of a reply, which llama.cpp tells where it is asked for them."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.ask import Completion, Message
from protocols.jsontypes import Json


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """A token that was written, its log-probability, and `tops`: the likeliest there as (text, log-probability), best
    first. The text of a token that ends the reply is empty; of one that holds part of a character, it has U+FFFD.
    """

    text: str
    logprob: float
    tops: tuple[tuple[str, float], ...]


def top_tokens(
    model: Any, messages: Sequence[Message], *, n: int = 10, **options: Json
) -> tuple[list[TokenPlace], Completion]:
    """An unconstrained reply of a `LocalModel`, and the `n` likeliest tokens at each of its places."""
    reply, completion = model.reply(messages, options | {"logprobs": True, "top_logprobs": n})
    return places(reply), completion


def places(reply: Mapping[str, Json]) -> list[TokenPlace]:
    """The tokens of a reply that was asked for them. A character split between tokens belongs to the last of them."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    found = []
    for token in (reply["choices"][0].get("logprobs") or {}).get("content") or ():
        tops = ((_bytes(top).decode("utf-8", "replace"), float(top["logprob"])) for top in token["top_logprobs"])
        found.append(TokenPlace(decoder.decode(_bytes(token)), float(token["logprob"]), tuple(tops)))
    return found


def _bytes(token: Mapping[str, Any]) -> bytes:
    given = token.get("bytes")
    return bytes(given) if given is not None else str(token["token"]).encode()
