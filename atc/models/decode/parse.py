"""Reads the first tool call in a model's reply, and explains why a call cannot be made.

Reading is tolerant: it accepts code fences, whitespace, Markdown around labels, JSON keys in any
order, several calls, and text around them. The arguments are then checked strictly against the
tool's schema.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from atc.models.decode.find_calls import (
    CallCandidate,
    find_calls,
)
from atc.models.decode.formats import ArgumentForm, CallFormat
from atc.models.decode.literals import (
    BareText,
    python_text,
    quotient,
)
from protocols.effects import may_be_meant
from protocols.naming import closest_meanings
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.arguments import BadArguments, contract

ErrorClass = Literal[
    "no-call",
    "unknown-tool",
    "malformed",
    "missing-argument",
    "unknown-argument",
    "wrong-count",
    "wrong-type",
]
"""Kinds of errors of a call. *wrong-type* means that a value violates its schema."""


_MOST_NAMES = 2000
"""Maximum number of tools for which similar names are suggested. With more, it takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """The reason why a call cannot be made. `message` is a sentence for the model."""

    kind: ErrorClass
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """A call in a reply that was checked against its tool: a valid call, or an error.

    `tool` is the tool's alias, or an empty string if no tool has the name. `arguments` are the
    values that would be sent, keyed by alias; it is empty if there is an error. `name` is the
    tool's name as the model wrote it. `span` is the position of the call in the reply, or (0, 0) if
    no call was found.
    """

    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    error: CallError | None = None
    name: str = ""
    span: tuple[int, int] = (0, 0)

    @property
    def is_valid(self) -> bool:
        """True if the call has no error, so that it can be made."""
        return self.error is None


def read_call(text: str, tools: Toolbox, form: CallFormat) -> ReadCall:
    """Return the first call in a reply, or a `ReadCall` with the error `no-call`."""
    found = next(find_calls(text, form, lambda name: named_tool(name, tools) is not None), None)
    return (
        _validate_call(found, tools, form) if found is not None else ReadCall(error=_no_call(form))
    )


def write_as(tool: Tool, arguments: Mapping[str, Json], form: CallFormat) -> str:
    """Return the text of a call in this format, for a prompt or the history of a conversation."""
    match form.arguments:
        case "json":
            inside = json.dumps(dict(arguments), ensure_ascii=False)
        case "keywords":
            inside = ", ".join(
                f"{alias}={python_text(value)}" for alias, value in arguments.items()
            )
        case "positional":
            values = [arguments[alias] for alias in tool.arguments if alias in arguments]
            inside = ", ".join(map(python_text, values))
    return f"{form.trigger}{form.before}{tool.alias}{form.between}{inside}{form.after}"


def named_tool(name: str, tools: Toolbox) -> Tool | None:
    """Return the tool with this alias, or else the only one with this original name, or None.

    The name is NFKC-normalised, as Python does with identifiers.
    """
    alias = unicodedata.normalize("NFKC", name)
    if alias in tools:
        return tools[alias]
    named = [tool for tool in tools.values() if tool.protocol.name == name]
    return named[0] if len(named) == 1 else None


def _validate_call(found: CallCandidate, tools: Toolbox, form: CallFormat) -> ReadCall:
    """Check a call that was found in a reply against its tool's schema, and return the result."""
    tool = named_tool(found.name, tools)
    if tool is None:
        arguments: dict[str, Json] | CallError = unknown_tool(found.name, tools)
    elif found.problem:
        arguments = _unreadable_error(tool, found.problem)
    else:
        arguments = _arguments(found.values, found.named, tool, form.arguments)
    error = arguments if isinstance(arguments, CallError) else None
    return ReadCall(
        tool=tool.alias if tool is not None else "",
        arguments={} if isinstance(arguments, CallError) else arguments,
        error=error,
        name=found.name,
        span=found.span,
    )


def _unreadable_error(tool: Tool, why: str) -> CallError:
    return CallError(
        kind="malformed", message=f"The arguments of {tool.alias} cannot be read: {why}."
    )


def _arguments(
    values: list[Json], named: Mapping[str, Json], tool: Tool, form: ArgumentForm
) -> dict[str, Json] | CallError:
    placed = name_arguments(tool, values)
    if isinstance(placed, CallError):
        return placed
    if twice := placed.keys() & named.keys():
        return CallError(kind="malformed", message=f"{tool.alias}: {min(twice)!r} is given twice.")
    kinds = contract(tool.protocol).types
    given = {
        alias: _value(value, kinds.get(alias, ())) for alias, value in {**placed, **named}.items()
    }
    return validate_arguments(tool, given, by_position=form == "positional")


def _value(value: Json, kinds: tuple[str, ...]) -> Json:
    """Return the value of an argument. Text without quotes (`BareText`) is converted.

    The text becomes a number if it is a fraction such as `4/3` and the schema expects a number
    (`kinds` are the types that the schema allows). Otherwise it becomes a string.
    """
    if not isinstance(value, BareText):
        return value
    number = (
        quotient(value) if {"number", "integer"} & set(kinds) and "string" not in kinds else None
    )
    return str(value) if number is None else number


def _no_call(form: CallFormat) -> CallError:
    shape = f"{form.trigger}{form.before}NAME{form.between}…{form.after}".strip()
    return CallError(kind="no-call", message=f"There is no call in the reply; write one as {shape}")


def unknown_tool(name: str, tools: Toolbox) -> CallError:
    """Build the error for an unknown tool name, with similar names as suggestions."""
    known = tools.items() if len(tools) <= _MOST_NAMES else ()
    names = [alias for alias, tool in known if may_be_meant(name, tool.protocol)]
    near = closest_meanings(name, names, most=3, cutoff=0.5)
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else f"the first of the tools are {', '.join(list(tools)[:8])}."
    )
    return CallError(kind="unknown-tool", message=f"There is no tool {name[:80]!r}; {hint}")


def name_arguments(tool: Tool, values: Sequence[Json]) -> dict[str, Json] | CallError:
    """Return positional arguments of a call as a dictionary, keyed by alias.

    The values are in the order of the tool's parameters. Return an error if there are too many
    values.
    """
    if len(values) > len(tool.arguments):
        return _count(tool, len(values))
    return dict(zip(tool.arguments, values, strict=False))


def validate_arguments(
    tool: Tool, given: Mapping[str, Json], *, by_position: bool = False
) -> dict[str, Json] | CallError:
    """Check the arguments of a call, and return those that are sent, keyed by alias.

    If they are not valid, return the error instead. The same check is applied when the call is
    made, so a call that is valid here is not refused then. The names in `given` may be aliases or
    original names. If `by_position` is True, missing arguments are reported as a wrong number of
    arguments.
    """
    aliases = {name: alias for alias, name in tool.arguments.items()}
    named = {
        key if key in tool.arguments else aliases.get(key, key): value
        for key, value in given.items()
    }
    missing = [alias for alias in tool.arguments if alias in tool.required and alias not in named]
    if by_position and missing:
        return _count(tool, len(given))
    rules = contract(tool.protocol)
    try:
        return rules.accept(named)
    except BadArguments as error:
        kind: ErrorClass = "wrong-type"
        if not rules.open and any(alias not in tool.arguments for alias in named):
            kind = "unknown-argument"
        elif missing:
            kind = "missing-argument"
        return CallError(kind=kind, message=f"{tool.alias}: {error}.")


def _count(tool: Tool, given: int) -> CallError:
    least = len(tool.required)
    most = len(tool.arguments)
    wanted = str(most) if least == most else f"{least} to {most}"
    names = f" ({', '.join(tool.arguments)})" if tool.arguments else ""
    return CallError(
        kind="wrong-count",
        message=f"{tool.alias} takes {wanted} arguments{names}, and was given {given}.",
    )
