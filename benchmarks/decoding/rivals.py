"""The rivals that ToolDec compares with: suffix matching of names, and backtracking to the next-best token.

*Fuzzy* (Table 3, "ToolLLM + Fuzzy Matching") is not defined in the paper. The README of its code says which line of the
runner it is, `function["name"].endswith(action_name)`: the first function in the order of the prompt whose name ends
with what the model wrote.

*Backtracking* (Table 4, "ToolkenGPT + Backtrace"): where a call fails, ToolkenGPT's code takes the tool's one token
back and puts the next probable one in its place. Here a name has several tokens and arguments may be what failed, so of
all tokens of failed calls the likeliest alternative that was not tried is put in its place, and the model goes on.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from atc.decode.call import Sampling, Tally, Written, going_on
from atc.decode.errors import Undecodable
from atc.decode.formats import JSON_CALL, CallFormat
from atc.decode.read import ReadCall, read_call
from protocols.ask import Ask, Completion, Message
from protocols.toolbox import Toolbox

Rule = Literal["published", "longest"]
"""*published*: as above. *longest*, ours: the tool whose name shares the longest ending with what was written."""
_SPECIAL = re.compile(r"<\|[^|]*\|>|</s>|.*�.*", re.DOTALL)
"""Tokens that end a reply or hold a part of a character: nothing can continue them."""


def match_suffix(name: str, names: Iterable[str], rule: Rule = "published") -> str | None:
    """The name that `name` is taken for, itself where it exists; None where none matches, and for an empty one."""
    known = list(names)
    if name in known:
        return name
    if not name:
        return None
    if rule == "published":
        return next((one for one in known if one.endswith(name)), None)
    best = max(known, key=lambda one: _shared(one, name), default=None)
    return best if best is not None and _shared(best, name) else None


def _shared(one: str, other: str) -> int:
    """Length of the ending that two names have in common."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def fuzzy_call(text: str, tools: Toolbox, form: CallFormat, *, rule: Rule = "published") -> ReadCall:
    """The first call of a reply, a name that does not exist replaced by one that does, where one matches.

    `name` stays what the model wrote, and spans are places in the given text.
    """
    call = read_call(text, tools, form)
    if call.error is None or call.error.kind != "unknown-tool" or call.name_span == (0, 0):
        return call
    meant = match_suffix(call.name, tools, rule)
    if meant is None:
        return call
    start, end = call.name_span
    again = read_call(text[:start] + meant + text[end:], tools, form)
    return replace(again, name=call.name, span=call.span, name_span=call.name_span)


@dataclass(slots=True)
class _Alternatives:
    """Beginnings of replies with another last token, by the probability of that token at its place."""

    _waiting: list[tuple[float, int, str]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def add(self, beginning: str, places: Sequence[Any], span: tuple[int, int]) -> None:
        """Those of a failed reply that continued `beginning` with `places`, at tokens that overlap `span`."""
        text = beginning + "".join(place.text for place in places)
        self._seen.add(text)
        at = len(beginning)
        for place in places:
            end = at + len(place.text)
            if at < span[1] and end > span[0]:
                for token, logprob in place.tops:
                    other = text[:at] + token
                    # The same characters in other tokens lead to the same call.
                    if token and not _SPECIAL.fullmatch(token) and not text.startswith(other):
                        self._put(other, logprob)
            at = end

    def _put(self, beginning: str, logprob: float) -> None:
        if beginning not in self._seen:
            self._seen.add(beginning)
            heapq.heappush(self._waiting, (-logprob, len(self._seen), beginning))

    def likeliest(self) -> str | None:
        """The one to be tried next; the earliest of equals."""
        return heapq.heappop(self._waiting)[2] if self._waiting else None


def write_backtracking(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat = JSON_CALL,
    failed: Callable[[ReadCall], bool] | None = None,
    steps: int = 5,
    alternatives: int = 10,
    sampling: Sampling | None = None,
) -> Written:
    """A free reply's call; while it is invalid, or `failed` says so of its execution, at most `steps` steps back.

    `alternatives` tokens are looked at in each place. The last reply is given where all fail, and `note` says so.

    Raises:
        ModelUnavailable: no reply could be had.
        Undecodable: the endpoint does not give the likeliest tokens, or does not continue the assistant's words.
    """
    waiting, tally = _Alternatives(), Tally(ask)
    written: Written | None = None
    replies = _replies(tally, messages, waiting, 1 + steps, alternatives, sampling or Sampling())
    for tries, (beginning, places, completion) in enumerate(replies, start=1):
        text = beginning + completion.text
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
        waiting.add(beginning, places, call.span if call.span[1] else (0, len(text)))
    assert written is not None
    return written


def _replies(
    tally: Tally,
    messages: Sequence[Message],
    waiting: _Alternatives,
    count: int,
    alternatives: int,
    sampling: Sampling,
) -> Iterator[tuple[str, Sequence[Any], Completion]]:
    """The free reply, then one from each beginning that is likeliest when it is asked for."""
    top_tokens = getattr(tally.ask, "top_tokens", None)
    if top_tokens is None or not (tally.powers.tops and tally.powers.continues):
        raise Undecodable(
            f"the model {tally.ask.name!r} does not give its likeliest tokens, or does not continue given words.",
            hint="Backtracking needs both; the local model and llama.cpp's server have them.",
        )
    beginning: str | None = ""
    for _ in range(count):
        if beginning is None:
            return
        places, completion = top_tokens(
            going_on(messages, beginning) if beginning else messages,
            n=alternatives,
            temperature=sampling.temperature,
            seed=sampling.seed,
            max_tokens=sampling.max_tokens,
        )
        yield beginning, places, tally.add(completion)
        beginning = waiting.likeliest()
