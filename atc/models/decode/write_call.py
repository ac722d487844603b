"""Asks a model for one tool call or one ReAct turn, with the strictest constraint that it supports.

If the endpoint supports grammars, a grammar describes the whole call. For many tools, there are two
requests: one with a grammar of the names, then one with a grammar of the chosen tool's arguments
(section 3.1 of ToolDec's paper). Other endpoints get a JSON schema. If an endpoint enforces
nothing, the reply is checked, and requested again if it is not valid. `WrittenCall.how` records
what was done.
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
"""How a call was produced. *free*: without constraints. *grammar*: with one grammar of all calls.
*two-stage*: with a grammar of names and a second one of arguments. *schema*: with a JSON schema.
*resampled*: without constraints, but repeated until it was valid. *fuzzy* and *backtracked* are
baselines of ToolDec's paper.
"""
ONE_GRAMMAR_TOOLS = 64
"""Up to this many tools, one grammar of all calls is sent; for more, there are two requests. The
endpoint compiles the grammar for each request, which takes 56 ms for 64 tools of real MCP servers
and 224 ms for 256. A second request takes about as long.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A tool call that a model wrote, with the text of the reply and how the reply was requested.

    `text` is the last reply up to the end of its call. A reply without a valid call is requested
    again; `tries` is the number of replies. `enforced` is True if the endpoint enforced the
    constraint that was sent to it, False if it ignored the constraint, and None if no constraint
    was sent. `how` names the kind of constraint.
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
        """True if the call has no error, so that it can be made."""
        return self.call.is_valid


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of the replies, which are requested until one is valid.

    The first reply has the temperature `temperature` and the seed `seed`. Later replies have the
    temperature `again`, and a seed that is one higher each time.
    """

    tries: int = 3
    """Maximum number of replies. After that, without constraints, the model is shown its error, and
    one more reply is requested.
    """
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
    """Ask a model for one call in reply to `messages`.

    `messages` may end with the beginning of the assistant's message if the endpoint can continue
    it. If `thought` is True, the model writes a one-line thought before the call, as in ReAct. The
    `text` of the result can be appended to the conversation unchanged. `characters` is the maximum
    length of the thought, or of the text before a trigger. If `decoding` is "off", a single reply
    without constraints is requested, valid or not. `bounds` limits the values in the call. `within`
    are versions of the tools that allow fewer values (see `IdScope`). They are used in grammars,
    and have no effect without a grammar.

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
    """Return the conversation with `text` added as a message of the assistant.

    If the last message is one of the assistant, the text is appended to it.
    """
    if messages and messages[-1].role == "assistant":
        return [*messages[:-1], Message("assistant", messages[-1].content + text)]
    return [*messages, Message("assistant", text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """A model's reply to one request.

    `is_constrained` is True if the reply satisfies the constraint that was sent to the endpoint.
    """

    text: str
    truncated: bool = False
    is_constrained: bool = True
    how: How = "free"


@dataclass(frozen=True, slots=True)
class _Job:
    """The arguments of `write_call`, with methods that request replies and read the call."""

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
        """Request a reply without constraints. `attempt` is the number of replies before it."""
        reply = self.ask(messages or self.messages, **self._options(attempt))
        return _Reply(text=reply.text, truncated=reply.truncated)

    def reply_constrained(self, attempt: int) -> _Reply | None:
        """Request a reply with constraints, or return None if the endpoint enforces none.

        `attempt` is the number of replies before it. The token limit is doubled in each attempt.
        """
        options = self._options(attempt, room=attempt)
        if powers(self.ask).lark:
            return self._by_grammar(self.within or self.tools, options)
        return self._by_schema(options) if powers(self.ask).schema else None

    def read_reply(self, reply: _Reply, *, tries: int, enforced: bool | None) -> WrittenCall:
        """Return the call in a reply. For `tries` and `enforced`, see `WrittenCall`."""
        call = read_call(reply.text, self.tools, self.form)
        text = reply.text[: call.span[1] or None]
        return WrittenCall(text=text, call=call, how=reply.how, tries=tries, enforced=enforced)

    def resample(self, first: _Reply | None) -> WrittenCall:
        """Request replies without constraints until one contains a valid call.

        If `first` is not None, it is used as the first of these replies. Before the last attempt,
        the model is shown the error in its previous reply.
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
        """Request a reply with a grammar of all calls.

        For many tools, there are two requests: one with a grammar of the names, one with a grammar
        of the arguments.
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
        """Request a reply to `messages` that must match a grammar.

        If the reply continues a call, `head` is the beginning of the call; the result includes it.
        If `names` is True, the reply must end after the tool's name.
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
        """Return the tool name at the end of a reply that stops before the tool's arguments."""
        before = (self.lead.until if self.lead is not None else "") + self.form.before
        named = head.removesuffix(self.form.between)
        return named.rpartition(before)[2] if before else named

    def _by_schema(self, options: Mapping[str, Any]) -> _Reply:
        """Request a reply with a JSON schema, and convert it to the call format.

        If there are many tools, the name of the tool is requested first.
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
    """Return the JSON Schema of a call: `{"call": {"name": …, "arguments": …}}`.

    If `thought` is True, the object begins with a `thought`. The alternatives for the tools are
    under the key `call`, since several endpoints refuse `anyOf` at the top level. If `strict` is
    True, optional arguments are required, but may be null, as OpenAI's strict mode demands. An
    argument that is null counts as omitted.
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
    """Return the JSON Schema of `{"name": …}`, in which the name is one of `names`.

    If `thought` is True, the object begins with a `thought`.
    """
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
