"""Has a model write one call of a tool, or one turn of ReAct, held to the tools by whatever its endpoint offers.

In this order: a grammar of the whole call; for many tools two grammars, the name first and then the arguments of the
tool that was chosen (ToolDec §3.1, in two requests); a JSON schema; and where nothing is enforced, or was asked for and
not enforced, the reply is checked and sampled again. What it was, `Written` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

from atc.decode.asked import Tally, going_on
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.formats import JSON_CALL, REACT, CallFormat
from atc.decode.held import Lead, lead_of
from atc.decode.holding import Held, held_reply
from atc.decode.prompts import fill
from atc.decode.read import ReadCall, read_turn
from protocols.ask import Ask, Message
from protocols.toolbox import Toolbox

How = Literal["free", "grammar", "two-stage", "schema", "resampled", "fuzzy", "backtracked"]
"""How a call came about: written freely; held by a grammar of all calls, by one of names and then one of arguments, or
by a schema; checked and sampled again; or by one of the paper's rivals (`rivals/`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote, the call that stands in it, and what that took.

    `text` is the last reply up to the end of its call, `thought` what stood before it. `tries` replies were read, in
    `requests` requests (two a reply in two stages); tokens and seconds are those of all of them. `enforced` is None
    where the endpoint was asked for nothing, and False where it was and did not hold to it; `note` says why something
    else was done than could be expected.
    """

    text: str
    call: ReadCall
    how: How
    thought: str = ""
    tries: int = 1
    requests: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    truncated: bool = False
    enforced: bool | None = None
    note: str = ""

    @property
    def by_grammar(self) -> bool:
        """Whether a grammar held the call."""
        return self.enforced is True and self.how in ("grammar", "two-stage")

    @property
    def valid(self) -> bool:
        """Whether the host would make the call."""
        return self.call.valid


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How replies are sampled: the first at `temperature`, further ones at `again` with the seeds after `seed`."""

    tries: int = 3
    """Replies that are read at most, before the error is shown to the model once."""
    temperature: float = 0.0
    again: float = 0.7
    seed: int = 0
    max_tokens: int = 512


class Options(TypedDict, total=False):
    """What both ways to write may be given besides."""

    decoding: Literal["off", "calls"]
    """`calls` by default. With `off`, one free reply is read, right or wrong."""
    sampling: Sampling | None
    bounds: Bounds
    within: Toolbox | None
    """The tools as a grammar holds the call to them (`Reach`). It has no effect on what a grammar does not hold."""


def write_call(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat = JSON_CALL,
    text_characters: int = 600,
    **options: Unpack[Options],
) -> Written:
    """One call in reply to `messages`, which may end with the assistant's words where the endpoint goes on from them.

    `text_characters` bounds the text before a trigger.

    Raises:
        ModelUnavailable: no reply could be had.
        Undecodable: there is no tool, or the schema of one cannot be held to.
    """
    lead = lead_of(form, thought=False, characters=text_characters)
    return _write(ask, messages, tools, form, lead, **options)


def write_turn(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat = REACT,
    thought_characters: int = 600,
    **options: Unpack[Options],
) -> Written:
    """One turn of ReAct: a thought of one line, and a call. To end is a call of a tool that the caller gives.

    `text` can be appended to the conversation as it is. Raises as `write_call` does.
    """
    lead = lead_of(form, thought=True, characters=thought_characters)
    return _write(ask, messages, tools, form, lead, **options)


@dataclass(frozen=True, slots=True)
class _Job:
    tally: Tally
    messages: tuple[Message, ...]
    tools: Toolbox
    form: CallFormat
    lead: Lead | None
    sampling: Sampling
    bounds: Bounds
    within: Toolbox | None

    def free(self, attempt: int, *, messages: Sequence[Message] | None = None) -> Held:
        """A reply that nothing holds."""
        s = self.sampling
        completion = self.tally(
            self.messages if messages is None else messages,
            temperature=s.temperature if not attempt else s.again,
            seed=s.seed + attempt,
            max_tokens=s.max_tokens,
        )
        return Held(text=completion.text, truncated=completion.truncated)

    def held(self, attempt: int) -> Held | None:
        """A reply that the endpoint holds; None where it cannot. A cut one is given more room the next time."""
        s = self.sampling
        return held_reply(
            self.tally,
            self.messages,
            self.within if self.within and self.tally.powers.grammars else self.tools,
            self.form,
            self.lead,
            bounds=self.bounds,
            temperature=s.temperature if not attempt else s.again,
            seed=s.seed + attempt,
            max_tokens=s.max_tokens << attempt,
        )

    def written(self, reply: Held, how: How, *, tries: int, enforced: bool | None, note: str = "") -> Written:
        turn = read_turn(reply.text, self.tools, self.form)
        end = turn.call.span[1]
        return Written(
            text=reply.text[:end] if end else reply.text,
            call=turn.call,
            how=how,
            thought=turn.thought if self.lead is not None else "",
            tries=tries,
            enforced=enforced,
            truncated=reply.truncated,
            note=note,
            **self.tally.counts(),
        )


def _write(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    form: CallFormat,
    lead: Lead | None,
    *,
    decoding: Literal["off", "calls"] = "calls",
    sampling: Sampling | None = None,
    bounds: Bounds = BOUNDS,
    within: Toolbox | None = None,
) -> Written:
    job = _Job(Tally(ask), tuple(messages), tools, form, lead, sampling or Sampling(), bounds, within)
    if not job.tools:
        raise Undecodable("there is no tool to call.", hint="Offer at least one.")
    if decoding == "off":
        return job.written(job.free(0), "free", tries=1, enforced=None)
    written = None
    for attempt in range(max(1, job.sampling.tries)):
        reply = job.held(attempt)
        if reply is None:
            reads = "The grammars that the endpoint reads cannot express these calls."
            neither = "The endpoint enforces neither a grammar nor a schema."
            return _resampled(job, None, note=reads if job.tally.powers.grammars else neither)
        if reply.verdict == "outside":
            return _resampled(job, reply, note=f"The endpoint did not hold to the {reply.how} that it was sent.")
        note = reply.note or ("The reply was cut." if reply.truncated else "")
        written = job.written(reply, reply.how, tries=attempt + 1, enforced=True, note=note)
        if written.valid:
            return written
    assert written is not None
    return written


def _resampled(job: _Job, first: Held | None, *, note: str) -> Written:
    """Free replies, `first` being one that is there already, until one is valid; at last its error is told."""
    enforced = None if first is None else False
    tries = max(1, job.sampling.tries)
    for attempt in range(tries):
        reply = first if first is not None and not attempt else job.free(attempt)
        written = job.written(reply, "resampled", tries=attempt + 1, enforced=enforced, note=note)
        if written.valid:
            return written
    assert written.call.error is not None
    told = [
        *going_on(job.messages, written.text),
        Message("user", fill("again", error=written.call.error.message)),
    ]
    return job.written(job.free(tries, messages=told), "resampled", tries=tries + 1, enforced=enforced, note=note)
