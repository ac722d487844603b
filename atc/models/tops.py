"""The likeliest tokens of each place in a reply, as llama.cpp, vLLM, SGLang and OpenAI tell them."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """A token that was written, its log-probability, and `tops`: the likeliest there as (text, log-probability), best
    first. The text of a token that ends the reply is empty; of one that holds part of a character, it has U+FFFD.
    """

    text: str
    logprob: float
    tops: tuple[tuple[str, float], ...]


TopTokens: TypeAlias = tuple[TokenPlace, ...]
"""One place a token; their texts together are the reply's."""


def places(content: Iterable[Mapping[str, Any]]) -> TopTokens:
    """The places of `choices[0].logprobs.content`. A character split between tokens belongs to the last of them."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    found = []
    for token in content:
        text = decoder.decode(_bytes(token))
        tops = ((_bytes(top).decode("utf-8", "replace"), float(top["logprob"])) for top in token["top_logprobs"])
        found.append(TokenPlace(text, float(token["logprob"]), tuple(tops)))
    return tuple(found)


def _bytes(token: Mapping[str, Any]) -> bytes:
    given = token.get("bytes")
    return bytes(given) if given is not None else str(token["token"]).encode()
