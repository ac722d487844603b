"""Requests to a model for one tool call or one ReAct turn, constrained by the strongest mechanism
that the endpoint supports.

In this order: a grammar of the whole call; for many tools two grammars in two requests, first of
the name and then of the chosen tool's arguments (ToolDec §3.1); a JSON schema; and if nothing is
enforced, the reply is checked and sampled again. `WrittenCall.how` records which one was used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from atc.models.decode.bound_schema import BOUNDS, Bounds
from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import JSON_CALL, CallFormat
from atc.models.decode.grammar import (
    Grammar,
    Lead,
    arguments_grammar,
    call_grammar,
    classify_text,
    lead_of,
    names_grammar,
)
from atc.models.decode.parse import ReadCall, read_call, write_as
from atc.models.decode.prompts import fill
from atc.models.decode.schema import arguments_of, strict_object
from protocols.model import Ask, Message, powers
from protocols.toolbox import Toolbox

How = Literal["free", "grammar", "two-stage", "schema", "resampled", "fuzzy", "backtracked"]
"""How a call was produced: written without constraints; constrained by one grammar of all calls, by
a grammar of names and a second one of arguments, or by a schema; checked and sampled again; or by
one of the baselines of ToolDec's paper.
"""
ONE_GRAMMAR_TOOLS = 64
"""Up to this many tools, one grammar of all calls is sent. The endpoint compiles it for each
request: 64 tools of real MCP servers take 56 ms, 256 take 224 ms. More tools are decoded in two
stages; the second request costs about as much.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A model's reply, the call in it, and how it was produced.

    `text` is the last reply up to the end of its call. `tries` is the number of replies read.
    `enforced` is None if no constraint was sent to the endpoint, and False if the endpoint did not
    enforce it.
    """

    text: str
    call: ReadCall
    how: How
    tries: int = 1
    enforced: bool | None = None

    @property
    def by_grammar(self) -> bool:
        """True if a grammar constrained the call."""
        return self.enforced is True and self.how in ("grammar", "two-stage")

    @property
    def is_valid(self) -> bool:
        """True if the host would make the call."""
        return self.call.is_valid


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of replies: the first at `temperature`, later ones at `again` with the
    seeds after `seed`.
    """

    tries: int = 3
    """Maximum number of replies before the error is shown to the model once."""
    temperature: float = 0.0
    again: float = 0.7
    seed: int = 0
    max_tokens: int = 512


def write_call(
    ask: Ask,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    form: CallFormat = JSON_CALL,
    thought: bool = False,
    characters: int = 600,
    decoding: Literal["off", "calls"] = "calls",
    sampling: Sampling | None = None,
    bounds: Bounds = BOUNDS,
    within: Toolbox | None = None,
) -> WrittenCall:
    """Ask for one call in reply to `messages`.

    `messages` may end with the beginning of the assistant's message if the endpoint can continue
    it. If `thought`, the model writes a one-line thought before the call, as in ReAct; the result's
    `text` can be appended to the conversation unchanged. `characters` limits the thought, or the
    text before a trigger. If `decoding` is "off", one reply without constraints is read, valid or
    not. `bounds` limits the values in the call. `within` are restricted versions of the tools (see
    `IdScope`) for the grammar; they have no effect if no grammar is used.

    Raises:
        ModelUnavailable: the model did not reply.
        Undecodable: there are no tools, or the schema of one cannot be enforced.
    """
    if not tools:
        raise Undecodable("there is no tool to call.", hint="Offer at least one.")
    lead = lead_of(form, thought=thought, characters=characters)
    job = _Job(ask, tuple(messages), tools, form, lead, sampling or Sampling(), bounds, within)
    if decoding == "off":
        return job.read_reply(job.reply_freely(0), tries=1, enforced=None)
    for tries in range(1, max(1, job.sampling.tries) + 1):
        reply = job.reply_constrained(tries - 1)
        if reply is None:
            return job.resample(None)
        if not reply.is_constrained:
            return job.resample(reply)
        written = job.read_reply(reply, tries=tries, enforced=True)
        if written.is_valid:
            break
    return written


def continue_conversation(messages: Sequence[Message], text: str) -> list[Message]:
    """Return the conversation after the assistant wrote `text`. A last message of the assistant is
    continued.
    """
    if messages and messages[-1].role == "assistant":
        return [*messages[:-1], Message("assistant", messages[-1].content + text)]
    return [*messages, Message("assistant", text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """A model's reply. `is_constrained` is True if, judging by the reply, the endpoint enforced the
    constraint.
    """

    text: str
    truncated: bool = False
    is_constrained: bool = True
    how: How = "free"


@dataclass(frozen=True, slots=True)
class _Job:
    """The parameters of one call to be written."""

    ask: Ask
    messages: tuple[Message, ...]
    tools: Toolbox
    form: CallFormat
    lead: Lead | None
    sampling: Sampling
    bounds: Bounds
    within: Toolbox | None

    def _options(self, attempt: int, *, room: int = 0) -> dict[str, Any]:
        s = self.sampling
        warmth = s.temperature if not attempt else s.again
        return {"temperature": warmth, "seed": s.seed + attempt, "max_tokens": s.max_tokens << room}

    def reply_freely(self, attempt: int, messages: Sequence[Message] | None = None) -> _Reply:
        """Return a reply without constraints."""
        reply = self.ask(messages or self.messages, **self._options(attempt))
        return _Reply(text=reply.text, truncated=reply.truncated)

    def reply_constrained(self, attempt: int) -> _Reply | None:
        """Return a constrained reply, or None if the endpoint enforces nothing. Each further
        attempt has twice the tokens.
        """
        options = self._options(attempt, room=attempt)
        if powers(self.ask).lark:
            return self._by_grammar(self.within or self.tools, options)
        return self._by_schema(options) if powers(self.ask).schema else None

    def read_reply(self, reply: _Reply, *, tries: int, enforced: bool | None) -> WrittenCall:
        """Read the call in a reply."""
        call = read_call(reply.text, self.tools, self.form)
        text = reply.text[: call.span[1] or None]
        return WrittenCall(text=text, call=call, how=reply.how, tries=tries, enforced=enforced)

    def resample(self, first: _Reply | None) -> WrittenCall:
        """Read free replies, beginning with `first` if given, until one is valid.

        Before the last attempt, the model is shown the error of its last reply.
        """
        tries = max(1, self.sampling.tries)
        messages = self.messages
        for attempt in range(tries + 1):
            reply = (
                first if first is not None and not attempt else self.reply_freely(attempt, messages)
            )
            reply = replace(reply, how="resampled")
            found = self.read_reply(
                reply, tries=attempt + 1, enforced=None if first is None else False
            )
            if found.call.error is None:
                break
            if attempt == tries - 1:
                correction = Message("user", fill("again", error=found.call.error.message))
                messages = (*continue_conversation(self.messages, found.text), correction)
        return found

    def _by_grammar(self, tools: Toolbox, options: Mapping[str, Any]) -> _Reply:
        """Send one request with the grammar of all calls, or two requests if there are many
        tools.
        """
        if len(tools) <= ONE_GRAMMAR_TOOLS:
            return self._ask_with_grammar(
                call_grammar(tools, self.form, self.lead, self.bounds), "grammar", options
            )
        names = names_grammar(tools, self.form, self.lead)
        begun = self._ask_with_grammar(names, "two-stage", options, names=True)
        tool = tools.get(self._name_in(begun.text))
        if not begun.is_constrained or begun.truncated or tool is None:
            return begun
        if not powers(self.ask).continues:
            whole = arguments_grammar(tool, self.form, self.bounds, head=begun.text)
            return self._ask_with_grammar(whole, "two-stage", options)
        rest = arguments_grammar(tool, self.form, self.bounds)
        messages = continue_conversation(self.messages, begun.text)
        return self._ask_with_grammar(
            rest, "two-stage", options, messages=messages, head=begun.text
        )

    def _ask_with_grammar(
        self,
        grammar: Grammar,
        how: How,
        options: Mapping[str, Any],
        *,
        messages: Sequence[Message] | None = None,
        head: str = "",
        names: bool = False,
    ) -> _Reply:
        """Return the reply to `messages` under a grammar, prefixed with `head`, which it continues.

        With `names`, the reply is expected to end after the tool's name.
        """
        asked = self.messages if messages is None else messages
        reply = self.ask(asked, grammar=grammar.text, **options)
        text = head + reply.text
        verdict = classify_text(
            grammar.text, reply.text.rstrip("\ufffd") if reply.truncated else reply.text
        )
        kept = verdict == "complete" or (verdict == "unfinished" and reply.truncated)
        # A valid call in another spelling is accepted, which saves a request.
        if not kept and not names:
            kept = read_call(text, self.tools, self.form).is_valid
        return _Reply(text=text, truncated=reply.truncated, is_constrained=kept, how=how)

    def _name_in(self, head: str) -> str:
        """Return the tool name in a reply that ends where its arguments begin."""
        before = (self.lead.until if self.lead is not None else "") + self.form.before
        named = head.removesuffix(self.form.between)
        return named.rpartition(before)[2] if before else named

    def _by_schema(self, options: Mapping[str, Any]) -> _Reply:
        """Ask for a reply in JSON and convert it to the call format. With many tools, the name is
        requested first.
        """
        characters = self.lead.characters if self.lead is not None else 0
        tools = self.tools
        if len(tools) > ONE_GRAMMAR_TOOLS:
            chosen = self.ask(
                self.messages, schema=name_schema(tools, thought=bool(characters)), **options
            )
            name = _field(chosen.text, "name")
            if name not in tools:
                return _Reply(
                    text=chosen.text,
                    truncated=chosen.truncated,
                    is_constrained=chosen.truncated,
                    how="schema",
                )
            tools = tools.only([name])
        schema = call_schema(tools, thought=bool(characters), strict=powers(self.ask).strict)
        reply = self.ask(self.messages, schema=schema, **options)
        call = read_call(reply.text, tools, JSON_CALL)
        if not call.is_valid:
            return _Reply(
                text=reply.text,
                truncated=reply.truncated,
                is_constrained=reply.truncated,
                how="schema",
            )
        written = write_as(tools[call.tool], call.arguments, self.form)
        if self.lead is not None:
            thought = _field(reply.text, "thought").replace(self.lead.until, " ")[:characters]
            written = (
                self.lead.start
                + thought
                + self.lead.until
                + written.removeprefix(self.form.trigger)
            )
        return _Reply(text=written, how="schema")


def call_schema(tools: Toolbox, *, thought: bool = False, strict: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of `{"call": {"name": …, "arguments": …}}`, preceded by a thought if
    requested.

    The alternatives are inside an object, since several endpoints refuse `anyOf` at the top level.
    With `strict`, optional arguments are required and nullable, as OpenAI's strict mode demands;
    the host treats null as omitted.
    """
    calls = []
    for tool in tools.values():
        every = arguments_of(tool).every
        arguments = _object({one.alias: dict(one.schema) for one in every})
        arguments["required"] = [one.alias for one in every if one.required]
        shown = strict_object(arguments) if strict else arguments
        calls.append(
            _object({"name": {"type": "string", "enum": [tool.alias]}, "arguments": shown})
        )
    return _object({**_thought(thought), "call": {"anyOf": calls}})


def name_schema(names: Iterable[str], *, thought: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of `{"name": …}` with these names, after a thought if requested."""
    return _object({**_thought(thought), "name": {"type": "string", "enum": list(names)}})


def _thought(wanted: bool) -> dict[str, Any]:
    return {"thought": {"type": "string"}} if wanted else {}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def _field(text: str, key: str) -> str:
    """Return the text under `key` of a JSON object, on one line, or an empty string."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    found = value.get(key) if isinstance(value, dict) else None
    return " ".join(found.split()) if isinstance(found, str) else ""
