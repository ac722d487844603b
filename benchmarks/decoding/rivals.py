"""The rivals that ToolDec compares with: suffix matching of names, and backtracking to the next-best token.

*Fuzzy* (Table 3, "ToolLLM + Fuzzy Matching") is not defined in the paper. The README of its code says which line of the
runner it is, `function["name"].endswith(action_name)`: the first function in the order of the prompt whose name ends
with what the model wrote.

*Backtracking* (Table 4, "ToolkenGPT + Backtrace"): where a call fails, ToolkenGPT's code takes the tool's one token
back and puts the next probable one in its place. Here a name has several tokens and arguments may be what failed, so of
all tokens of failed calls the likeliest alternative that was not tried is put in its place, and the model goes on.
"""

from __future__ import annotations

import codecs
import heapq
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from atc.decode.call import Sampling, Tally, Written, going_on
from atc.decode.errors import Undecodable
from atc.decode.formats import CallFormat
from atc.decode.read import ReadCall, read_call
from protocols.ask import Ask, Completion, Message
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox

STEPS, ALTERNATIVES = 5, 10  # steps back at most, and tokens that are looked at in each place
_SPECIAL = re.compile(r"<\|[^|]*\|>|</s>|.*�.*", re.DOTALL)
"""Tokens that end a reply or hold a part of a character: nothing can continue them."""


class TokenPlace(NamedTuple):
    """A token that was written, and the likeliest in its place with their log-probabilities, best first.

    The text of a token that ends the reply is empty; of one that holds part of a character, it has U+FFFD.
    """

    text: str
    tops: tuple[tuple[str, float], ...]


def top_tokens(
    model: Any, messages: Sequence[Message], *, n: int = 10, **options: Json
) -> tuple[list[TokenPlace], Completion]:
    """An unconstrained reply of a `LocalModel`, and the `n` likeliest tokens at each of its places.

    A character split between tokens belongs to the last of them.
    """
    reply, completion = model.reply(messages, options | {"logprobs": True, "top_logprobs": n})
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    found = []
    for token in (reply["choices"][0].get("logprobs") or {}).get("content") or ():
        tops = ((_bytes(top).decode("utf-8", "replace"), float(top["logprob"])) for top in token["top_logprobs"])
        found.append(TokenPlace(decoder.decode(_bytes(token)), tuple(tops)))
    return found, completion


def _bytes(token: Mapping[str, Any]) -> bytes:
    given = token.get("bytes")
    return bytes(given) if given is not None else str(token["token"]).encode()


def fuzzy_call(text: str, tools: Toolbox, form: CallFormat) -> ReadCall:
    """The first call of a reply, a name that does not exist replaced by the first that ends with it, if one does.

    `name` stays what the model wrote, and spans are places in the given text.
    """
    call = read_call(text, tools, form)
    if call.error is None or call.error.kind != "unknown-tool" or call.name_span == (0, 0):
        return call
    meant = next((one for one in tools if one.endswith(call.name)), None)
    if meant is None:
        return call
    start, end = call.name_span
    again = read_call(text[:start] + meant + text[end:], tools, form)
    return replace(again, name=call.name, span=call.span, name_span=call.name_span)


def alternatives(beginning: str, places: Sequence[TokenPlace], span: tuple[int, int]) -> Iterator[tuple[float, str]]:
    """Beginnings of replies that end with another token than a reply did, at its tokens that overlap `span`.

    The reply continued `beginning` with `places`. Each comes with its last token's log-probability.
    """
    text, at = beginning + "".join(place.text for place in places), len(beginning)
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
    failed: Callable[[ReadCall], bool] | None = None,
    sampling: Sampling,
) -> Written:
    """A free reply's call; while it is invalid, or `failed` says so of its execution, a step back, at most `STEPS`.

    The last reply is given where all fail, and `note` says so. Raises ModelUnavailable: no reply could be had;
    Undecodable: the endpoint does not give the likeliest tokens, or does not continue the assistant's words.
    """
    if not hasattr(ask, "reply"):
        raise Undecodable(
            f"the model {ask.name!r} does not give its likeliest tokens, or does not continue given words.",
            hint="Backtracking needs both; the local model has them.",
        )
    options: dict[str, Json] = {"temperature": sampling.temperature, "seed": sampling.seed}
    tally, tries, seen = Tally(ask), 0, set[str]()
    waiting: list[tuple[float, int, str]] = [(0.0, 0, "")]  # by the last token's probability; the earliest of equals
    while waiting and tries <= STEPS:
        beginning = heapq.heappop(waiting)[2]
        before = going_on(messages, beginning) if beginning else messages
        places, completion = top_tokens(ask, before, n=ALTERNATIVES, max_tokens=sampling.max_tokens, **options)
        tally.add(completion)
        text, tries = beginning + completion.text, tries + 1
        call = read_call(text, tools, form)
        done = call.valid and not (failed is not None and failed(call))
        written = Written(
            text=text[: call.span[1]] if call.span[1] else text,
            call=call,
            how="backtracked",
            tries=tries,
            truncated=completion.truncated,
            note="" if done else f"The call failed after {tries - 1} steps back.",
            **tally.counts(),
        )
        if done:
            break
        seen.add(beginning + "".join(place.text for place in places))
        for logprob, other in alternatives(beginning, places, call.span if call.span[1] else (0, len(text))):
            if other not in seen:
                seen.add(other)
                heapq.heappush(waiting, (-logprob, len(seen), other))
    return written
