"""Backtracking to the next-best token (ToolDec's Table 4, "ToolkenGPT + Backtrace").

ToolkenGPT writes a tool as one token. Where its call fails, its code takes that token back, puts the next probable one
in its place and goes on freely. Here a name has several tokens and arguments may be what failed, so the rule is: of all
tokens of failed calls, go back to the one whose best alternative that was not yet tried was likeliest at its place, put
the alternative there, drop what followed, and go on freely.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atc.decode.asked import Tally, going_on
from atc.decode.calls import Sampling, Written
from atc.decode.errors import Undecodable
from atc.decode.formats import JSON_CALL, CallFormat
from atc.decode.read import ReadCall, read_call
from protocols.ask import Ask, Completion, Message
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from atc.models.tops import TopTokens

_SPECIAL = re.compile(r"<\|[^|]*\|>|</s>|.*�.*", re.DOTALL)
"""Tokens that end a reply or hold a part of a character: nothing can be gone on from."""


@dataclass(slots=True)
class _Alternatives:
    """Beginnings of replies with another last token, by the probability of that token at its place."""

    _waiting: list[tuple[float, int, str]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def add(self, beginning: str, places: TopTokens, span: tuple[int, int]) -> None:
        """Those of a failed reply that went on from `beginning` with `places`, at tokens that overlap `span`."""
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
        """The one that is to be tried next; the earliest of equals."""
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
        Undecodable: the endpoint does not tell the likeliest tokens, or does not go on from the assistant's words.
    """
    return _Search(ask, tuple(messages), tools, form, failed, steps, alternatives, sampling or Sampling()).run()


@dataclass(frozen=True, slots=True)
class _Search:
    ask: Ask
    messages: tuple[Message, ...]
    tools: Toolbox
    form: CallFormat
    failed: Callable[[ReadCall], bool] | None
    steps: int
    alternatives: int
    sampling: Sampling

    def run(self) -> Written:
        waiting, tally = _Alternatives(), Tally(self.ask)
        written: Written | None = None
        for tries, (beginning, places, completion) in enumerate(self._replies(waiting, tally), start=1):
            text = beginning + completion.text
            call = read_call(text, self.tools, self.form)
            done = call.valid and not (self.failed is not None and self.failed(call))
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

    def _replies(self, waiting: _Alternatives, tally: Tally) -> Iterator[tuple[str, TopTokens, Completion]]:
        """The free reply, then one from each beginning that is likeliest when it is asked for."""
        top_tokens = getattr(self.ask, "top_tokens", None)
        if top_tokens is None or not (tally.powers.tops and tally.powers.continues):
            raise Undecodable(
                f"the model {self.ask.name!r} does not tell its likeliest tokens, or does not go on from given words.",
                hint="Backtracking needs both; the local model and llama.cpp's server have them.",
            )
        beginning: str | None = ""
        for _ in range(1 + self.steps):
            if beginning is None:
                return
            places, completion = top_tokens(
                going_on(self.messages, beginning) if beginning else self.messages,
                n=self.alternatives,
                temperature=self.sampling.temperature,
                seed=self.sampling.seed,
                max_tokens=self.sampling.max_tokens,
            )
            yield beginning, places, tally.add(completion)
            beginning = waiting.likeliest()
