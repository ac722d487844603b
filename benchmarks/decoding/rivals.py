"""The rival methods in the ToolDec paper, which repair a reply that was not constrained.

*Fuzzy* (table 3 of the paper) replaces an unknown name with the first function in the prompt whose
name ends with it, as ToolLLM's code does. *Backtracking* (table 4, from ToolkenGPT) replaces the
token that names the tool with the next probable one. Here, the likeliest untried alternative among
all tokens of failed calls is used, and the model continues from there.
"""

from __future__ import annotations

import codecs
import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import CallFormat
from atc.models.decode.parse import ReadCall, read_call
from atc.models.decode.write_call import Sampling, WrittenCall, continue_conversation
from protocols.model import Ask, Completion, Message
from protocols.schema import Json
from protocols.toolbox import Toolbox

STEPS = 5
ALTERNATIVES = 10
"""Limits of backtracking: at most 5 steps back (`STEPS`), at most 10 alternatives to a token."""
_SPECIAL = re.compile(r"<\|[^|]*\|>|</s>|.*�.*", re.DOTALL)
"""Tokens that no text can continue: end tokens, and tokens that hold a part of a character."""


class TokenPlace(NamedTuple):
    """A written token, and the likeliest tokens at the same position, with log-probabilities.

    The likeliest token is first. A token that ends the reply has the text "". In the text of a
    token that holds only a part of a character, U+FFFD replaces this part.
    """

    text: str
    tops: tuple[tuple[str, float], ...]


def top_tokens(
    model: Any, messages: Sequence[Message], *, n: int = 10, **options: Json
) -> tuple[list[TokenPlace], Completion]:
    """Return a free reply of a `LocalModel`, with the `n` likeliest tokens at each position.

    If several tokens make up one character, it is part of the text of the last of these tokens.
    """
    reply, completion = model.reply(messages, options | {"logprobs": True, "top_logprobs": n})
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    found = []
    for token in (reply["choices"][0].get("logprobs") or {}).get("content") or ():
        tops = (
            (_bytes(top).decode("utf-8", "replace"), float(top["logprob"]))
            for top in token["top_logprobs"]
        )
        found.append(TokenPlace(decoder.decode(_bytes(token)), tuple(tops)))
    return found, completion


def _bytes(token: Mapping[str, Any]) -> bytes:
    given = token.get("bytes")
    return bytes(given) if given is not None else str(token["token"]).encode()


def fuzzy_call(text: str, tools: Toolbox, form: CallFormat) -> ReadCall:
    """Read the first call of a reply.

    An unknown name is replaced with the first tool whose name ends with it.
    """
    call = read_call(text, tools, form)
    meant = next((one for one in tools if one.endswith(call.name)), None)
    if call.error is None or call.error.kind != "unknown-tool" or meant is None:
        return call
    start, end = call.span
    again = read_call(
        text[:start] + text[start:end].replace(call.name, meant, 1) + text[end:], tools, form
    )
    return replace(again, name=call.name, span=call.span)


def alternatives(
    beginning: str, places: Sequence[TokenPlace], span: tuple[int, int]
) -> Iterator[tuple[float, str]]:
    """Yield beginnings of other replies, each with the log-probability of its last token.

    Such a beginning is a part of the reply in which the last token is replaced by an alternative.
    This token must overlap `span`, a range of characters.
    """
    text = beginning + "".join(place.text for place in places)
    at = len(beginning)
    for place in places:
        end = at + len(place.text)
        for token, logprob in place.tops if at < span[1] and end > span[0] else ():
            # The same characters in other tokens lead to the same call.
            if token and not _SPECIAL.fullmatch(token) and not text.startswith(text[:at] + token):
                yield logprob, text[:at] + token
        at = end


def write_backtracking(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat,
    sampling: Sampling,
    failed: Any = None,
) -> tuple[WrittenCall, int]:
    """Write a call without constraints, and backtrack while it is invalid or `failed` returns True.

    Return the first good call, or the last one, and the mean number of prompt tokens.
    """
    if not hasattr(ask, "reply"):
        raise Undecodable(
            f"the model {ask.name!r} does not give its likeliest tokens, or does not continue "
            "given words.",
            hint="Backtracking needs both; the local model has them.",
        )
    options: dict[str, Json] = {"temperature": sampling.temperature, "seed": sampling.seed}
    read = list[int]()
    tries = 0
    seen = set[str]()
    waiting: list[tuple[float, int, str]] = [
        (0.0, 0, "")
    ]  # the likeliest last token, the earliest if several are equal
    while waiting and tries <= STEPS:
        beginning = heapq.heappop(waiting)[2]
        before = continue_conversation(messages, beginning) if beginning else messages
        places, completion = top_tokens(
            ask, before, n=ALTERNATIVES, max_tokens=sampling.max_tokens, **options
        )
        read.append(completion.input_tokens)
        text = beginning + completion.text
        tries = tries + 1
        call = read_call(text, tools, form)
        done = call.is_valid and not (failed and failed(call))
        written = WrittenCall(
            text=text[: call.span[1] or len(text)], call=call, how="backtracked", tries=tries
        )
        if done:
            break
        seen.add(beginning + "".join(place.text for place in places))
        for logprob, other in alternatives(
            beginning, places, call.span if call.span[1] else (0, len(text))
        ):
            if other not in seen:
                seen.add(other)
                heapq.heappush(waiting, (-logprob, len(seen), other))
    return written, sum(read) // len(read)
