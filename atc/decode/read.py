"""Reads a model's reply: the calls of tools that stand in it, and what is wrong with each.

Reading is as tolerant as a good agent (code fences, white space, Markdown around labels, other orders of a JSON call's
keys, several calls, text around them); what a call means is as strict as its tool's schema.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from atc.decode.faults import CallError, accepted, item_types, ordered, unknown_tool, variadic
from atc.decode.formats import REACT, ArgumentForm, CallFormat
from atc.decode.literals import Bare, Unreadable, bracketed, json_object, quotient, written
from atc.decode.locate import Found, find_calls
from protocols.jsontypes import Json
from protocols.toolbox import Tool, Toolbox
from sandbox.contract import contract

_MOST_CALLS = 100
"""Calls of one reply that are looked at."""
_THOUGHT = re.compile(r"\A[\s*_#>]*thought[\s*_]*:[*_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """One call as it stands in a reply: valid, or with its error.

    `tool` is an alias, empty where there is no such tool; `arguments` are by alias, as the host would send them, and
    empty where there is an error; `name` is the tool's name as written. `span` and `name_span` say where call and name
    stand in the reply; (0, 0) where nothing does.
    """

    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    error: CallError | None = None
    name: str = ""
    span: tuple[int, int] = (0, 0)
    name_span: tuple[int, int] = (0, 0)

    @property
    def valid(self) -> bool:
        """Whether the host would make this call."""
        return self.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of ReAct: what was thought, and the call that followed."""

    thought: str
    call: ReadCall


def read_call(text: str, tools: Toolbox, form: CallFormat) -> ReadCall:
    """The first call in a reply; where there is none, one whose error is `no-call`."""
    found = next(_calls(text, tools, form), None)
    return found if found is not None else ReadCall(error=_no_call(form))


def read_calls(text: str, tools: Toolbox, form: CallFormat) -> list[ReadCall]:
    """Every call in a reply, valid or not, in order."""
    return list(_calls(text, tools, form))


def read_turn(text: str, tools: Toolbox, form: CallFormat = REACT) -> Turn:
    """The thought and the first call of a turn; an observation that the model made up is not read."""
    call = read_call(text, tools, form)
    before = text[: call.span[0]] if call.span[1] else text
    return Turn(thought=_THOUGHT.sub("", before).strip(), call=call)


def read_arguments(text: str, tool: Tool, form: ArgumentForm) -> dict[str, Json] | CallError:
    """What stands between a call's name and its end: the arguments as the host would send them, or what is wrong."""
    try:
        if form == "json":
            values: list[Json] = []
            named = json_object(text, 0)[0]
        else:
            values, named, _ = bracketed(text + ")", 0, ")")
    except Unreadable as error:
        return _unreadable(tool, str(error))
    return _arguments(values, named, tool, form)


def write_as(tool: Tool, arguments: Mapping[str, Json], form: CallFormat) -> str:
    """A call as this format writes it: what a prompt shows as an example, and a conversation as its past."""
    match form.arguments:
        case "json":
            inside = json.dumps(dict(arguments), ensure_ascii=False)
        case "keywords":
            inside = ", ".join(f"{alias}={written(value)}" for alias, value in arguments.items())
        case "positional":
            values = [arguments[alias] for alias in tool.arguments if alias in arguments]
            if variadic(tool) in arguments:
                values = [*values[:-1], *values[-1]]
            inside = ", ".join(map(written, values))
    return f"{form.trigger}{form.before}{tool.alias}{form.between}{inside}{form.after}"


def named_tool(name: str, tools: Toolbox) -> Tool | None:
    """The tool of this alias, or of this original name where no other has it. Letters fold as Python folds them."""
    alias = unicodedata.normalize("NFKC", name)
    if alias in tools:
        return tools[alias]
    named = [tool for tool in tools.values() if tool.protocol.name == name]
    return named[0] if len(named) == 1 else None


def _calls(text: str, tools: Toolbox, form: CallFormat) -> Iterator[ReadCall]:
    found = find_calls(text, form, lambda name: named_tool(name, tools) is not None)
    return (_judged(one, tools, form) for one in islice(found, _MOST_CALLS))


def _judged(found: Found, tools: Toolbox, form: CallFormat) -> ReadCall:
    """The call that was found, held against its tool's schema."""
    tool = named_tool(found.name, tools)
    if tool is None:
        arguments: dict[str, Json] | CallError = unknown_tool(found.name, tools)
    elif found.problem:
        arguments = _unreadable(tool, found.problem)
    else:
        arguments = _arguments(found.values, found.named, tool, form.arguments)
    error = arguments if isinstance(arguments, CallError) else None
    return ReadCall(
        tool=tool.alias if tool is not None else "",
        arguments={} if isinstance(arguments, CallError) else arguments,
        error=error,
        name=found.name,
        span=found.span,
        name_span=found.name_span,
    )


def _unreadable(tool: Tool, why: str) -> CallError:
    return CallError(kind="malformed", message=f"The arguments of {tool.alias} cannot be read: {why}.")


def _arguments(
    values: list[Json], named: Mapping[str, Json], tool: Tool, form: ArgumentForm
) -> dict[str, Json] | CallError:
    placed = ordered(tool, values)
    if isinstance(placed, CallError):
        return placed
    if twice := placed.keys() & named.keys():
        return CallError(kind="malformed", message=f"{tool.alias}: {min(twice)!r} is given twice.", argument=min(twice))
    kinds = contract(tool.protocol).types
    many = variadic(tool)
    given: dict[str, Json] = {}
    for alias, value in {**placed, **named}.items():
        inline = alias == many and isinstance(value, list)
        given[alias] = [_value(v, item_types(tool)) for v in value] if inline else _value(value, kinds.get(alias, ()))
    return accepted(tool, given, by_position=form == "positional")


def _value(value: Json, kinds: tuple[str, ...]) -> Json:
    """The value of what stands without quotes: a fraction where a number is wanted, else a text."""
    if not isinstance(value, Bare):
        return value
    number = quotient(value) if {"number", "integer"} & set(kinds) and "string" not in kinds else None
    return str(value) if number is None else number


def _no_call(form: CallFormat) -> CallError:
    shape = f"{form.trigger}{form.before}NAME{form.between}…{form.after}".strip()
    return CallError(kind="no-call", message=f"There is no call in the reply; write one as {shape}")
