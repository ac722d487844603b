"""One reply that the endpoint holds to a call: what it is sent, in how many requests, and whether it kept to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from atc.decode.asked import Tally, going_on
from atc.decode.bounds import Bounds
from atc.decode.formats import JSON_CALL, CallFormat
from atc.decode.held import (
    Constraint,
    Lead,
    Verdict,
    call_schema,
    name_schema,
    naming,
    rest_of_call,
    verdict,
    whole_call,
)
from atc.decode.read import read_call, write_as
from protocols.ask import Message
from protocols.toolbox import Toolbox

ONE_GRAMMAR_TOOLS = 64
"""Tools whose calls stand in one grammar; more are decoded in two stages.

An endpoint compiles the grammar anew for each request: for 64 tools of real MCP servers in 56 ms, for 256 in 224 ms. A
second request costs about as much as the former.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A reply, whether it keeps to what was sent (`unfinished`: as far as it goes), and how that was held."""

    text: str
    truncated: bool = False
    verdict: Verdict = "complete"
    how: Literal["grammar", "two-stage", "schema"] = "grammar"
    note: str = ""


def held_reply(
    tally: Tally,
    messages: Sequence[Message],
    tools: Toolbox,
    form: CallFormat,
    lead: Lead | None,
    *,
    bounds: Bounds,
    **options: Any,
) -> Held | None:
    """One reply held to a call of one of the tools, by what the endpoint offers; None where it offers nothing.

    `options` are those of `Ask`. Raises as `write_call` does.
    """
    job = _Holding(tally, messages, tools, form, lead, bounds, options)
    reply = job.by_grammar() if tally.powers.grammars else None
    return job.by_schema() if reply is None and tally.powers.schema else reply


@dataclass(frozen=True, slots=True)
class _Holding:
    tally: Tally
    messages: Sequence[Message]
    tools: Toolbox
    form: CallFormat
    lead: Lead | None
    bounds: Bounds
    options: dict[str, Any]

    def by_grammar(self) -> Held | None:
        """One request with the grammar of all calls, or two; None where the endpoint's kind cannot express it."""
        powers = self.tally.powers
        if len(self.tools) <= ONE_GRAMMAR_TOOLS:
            return self._sent(whole_call(self.tools, self.form, self.lead, self.bounds, powers), "grammar")
        begun = self._sent(naming(self.tools, self.form, self.lead, powers), "two-stage", names=True)
        if begun is None or begun.verdict != "complete":
            return begun
        tool = self.tools[self._name_in(begun.text)]
        if not powers.continues:
            rest = rest_of_call(tool, self.form, self.bounds, powers, head=begun.text)
            return self._sent(rest, "two-stage")
        rest = rest_of_call(tool, self.form, self.bounds, powers)
        return self._sent(rest, "two-stage", messages=going_on(self.messages, begun.text), head=begun.text)

    def _sent(
        self,
        constraint: Constraint,
        how: Literal["grammar", "two-stage"],
        *,
        messages: Sequence[Message] | None = None,
        head: str = "",
        names: bool = False,
    ) -> Held | None:
        """The reply to `messages` under a grammar, behind `head` where it goes on from it; `names`: up to a name."""
        if constraint.text is None:
            return None
        reply = self.tally(self.messages if messages is None else messages, grammar=constraint.text, **self.options)
        text = head + reply.text
        found: Verdict = "complete"
        if not (self._names_tool(text) if names else self._is_call(text)):
            judged = verdict(constraint.text, reply.text)
            if judged != "complete":  # who holds to a grammar goes on to its end, unless the reply is cut
                found = "unfinished" if reply.truncated and judged != "outside" else "outside"
        return Held(text=text, truncated=reply.truncated, verdict=found, how=how, note=constraint.note)

    def _is_call(self, text: str) -> bool:
        """Whether a reply is a valid call, with what may stand before it, and nothing else."""
        call = read_call(text, self.tools, self.form)
        begins = 0 if self.lead is None else call.span[0]
        return call.valid and call.span[0] == begins and not text[call.span[1] :].strip()

    def _names_tool(self, text: str) -> bool:
        """Whether a reply ends where the arguments of a tool begin."""
        return text.endswith(self.form.between) and self._name_in(text) in self.tools

    def _name_in(self, head: str) -> str:
        """The name in a reply that ends where its arguments begin."""
        before = (self.lead.until if self.lead is not None else "") + self.form.before
        named = head.removesuffix(self.form.between)
        return named.rpartition(before)[2] if before else named

    def by_schema(self) -> Held:
        """A reply in JSON, given as the format writes it; for many tools the name is asked for first."""
        characters = self.lead.characters if self.lead is not None else 0
        tools = self.tools
        if len(tools) > ONE_GRAMMAR_TOOLS:
            chosen = self.tally(self.messages, schema=name_schema(tools), **self.options)
            name = _field(chosen.text, "name")
            if name not in tools:
                verdict_: Verdict = "unfinished" if chosen.truncated else "outside"
                return Held(text=chosen.text, truncated=chosen.truncated, verdict=verdict_, how="schema")
            tools = tools.only([name])
        reply = self.tally(self.messages, schema=call_schema(tools, thought_characters=characters), **self.options)
        call = read_call(reply.text, tools, JSON_CALL)
        if not call.valid:
            verdict_ = "unfinished" if reply.truncated else "outside"
            return Held(text=reply.text, truncated=reply.truncated, verdict=verdict_, how="schema")
        written = write_as(tools[call.tool], call.arguments, self.form)
        if self.lead is not None:
            thought = _field(reply.text, "thought").replace(self.lead.until, " ")
            written = self.lead.start + thought + self.lead.until + written.removeprefix(self.form.trigger)
        return Held(text=written, how="schema")


def _field(text: str, key: str) -> str:
    """The text under `key` of a JSON object, on one line; empty where there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    found = value.get(key) if isinstance(value, dict) else None
    return " ".join(found.split()) if isinstance(found, str) else ""
