"""Reads a model's reply: the tool calls in it, and what is wrong with each.

Reading is tolerant: it accepts code fences, whitespace, Markdown around labels, JSON keys in any
order, several calls, and text around them. The arguments are then checked strictly against the
tool's schema.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from atc.models.decode.formats import ArgumentForm, CallFormat
from atc.models.decode.literals import (
    BareText,
    Unreadable,
    json_object,
    python_text,
    quotient,
    read_bracketed,
)
from protocols.naming import closest_meanings
from protocols.schema import Json
from protocols.toolbox import Tool, Toolbox
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
"""Kinds of errors of a call. *wrong-type*: a value violates its schema."""


_MOST_NAMES = 2000
"""Maximum number of names that are compared to find a similar one. More would take seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """Why a call cannot be made, as a sentence that a model can act on."""

    kind: ErrorClass
    message: str


IsToolName = Callable[[str], bool]
"""Returns True if a tool has this name."""

_NAME = r"[^\W\d][\w.\-]*"
_MARKS = r"[ \t>*_#`\-]*+"
_NAME_KEYS = ("name", "tool", "function", "action", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "params")
_MOST_BRACES = 100
"""Maximum number of offsets at which an object is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCandidate:
    """A piece of text written like a call: its name, span and arguments, or the problem that
    prevents reading them.
    """

    name: str
    span: tuple[int, int]
    values: list[Json] = field(default_factory=list)
    named: dict[str, Json] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """One call as read from a reply: valid, or with its error.

    `tool` is an alias, empty if there is no such tool. `arguments` are by alias, as the host would
    send them, and empty if there is an error. `name` is the tool's name as written. `span` is the
    position of the call in the reply, (0, 0) if there is none.
    """

    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    error: CallError | None = None
    name: str = ""
    span: tuple[int, int] = (0, 0)

    @property
    def is_valid(self) -> bool:
        """True if the host would make this call."""
        return self.error is None


def read_call(text: str, tools: Toolbox, form: CallFormat) -> ReadCall:
    """Return the first call in a reply. If there is none, its error is `no-call`."""
    found = next(find_calls(text, form, lambda name: named_tool(name, tools) is not None), None)
    return (
        _validate_call(found, tools, form) if found is not None else ReadCall(error=_no_call(form))
    )


def write_as(tool: Tool, arguments: Mapping[str, Json], form: CallFormat) -> str:
    """Return a call as written in this format, for examples in a prompt or the history of a
    conversation.
    """
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
    """Check a candidate against its tool's schema."""
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
    """Return the value of text without quotes: a number if a number is expected and it is a
    fraction, else a string.
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


def find_calls(text: str, form: CallFormat, known: IsToolName) -> Iterator[CallCandidate]:
    """Yield everything that is written like a call in this format, in order and without
    overlaps.
    """
    if form.before.lstrip().startswith("{") and form.arguments == "json":
        return _find_objects(text, form, known)
    if form.before.strip():
        return _find_labelled(text, form)
    return _find_functions(text, form, known)


def _find_objects(text: str, form: CallFormat, known: IsToolName) -> Iterator[CallCandidate]:
    """Yield JSON objects with a name and arguments. Keys may be in any order and have any of the
    usual names.
    """
    place = 0
    name_keys = (*_quoted_key(form.before), *_NAME_KEYS)
    argument_keys = (*_quoted_key(form.between), *_ARGUMENT_KEYS)
    heads = list(_head(name_keys).finditer(text))
    for _ in range(_MOST_BRACES):
        if (start := _next_object(text, place, form)) < 0:
            return
        place = start + 1
        begun = next((head for head in heads if head.start() > start), None)
        if begun is None:
            return  # no further name, so no further call
        try:
            value, end = json_object(text, start)
        except Unreadable as error:
            if not text[start + 1 : begun.start()].strip():
                yield CallCandidate(name=begun["name"], span=(start, len(text)), problem=f"{error}")
                return
            continue
        name = next((value[key] for key in name_keys if isinstance(value.get(key), str)), None)
        key = next((key for key in argument_keys if key in value), None)
        if name is None or (key is None and not known(name)):
            continue
        place = end
        given, problem = _as_object(value[key] if key is not None else {})
        yield CallCandidate(name=name, span=(start, end), named=given, problem=problem)


def _next_object(text: str, place: int, form: CallFormat) -> int:
    """Return the offset of the next object, or -1. If the format has a trigger, the object must
    follow one.
    """
    if form.trigger:
        place = text.find(form.trigger, place)
        if place < 0:
            return -1
    return text.find("{", place)


def _as_object(value: Json) -> tuple[dict[str, Json], str]:
    """Return the arguments of a call and what is wrong with them.

    Some models write the arguments as a string that holds JSON.
    """
    if isinstance(value, str) and value.strip():
        try:
            return json_object(value, 0)[0], ""
        except Unreadable as error:
            return {}, str(error)
    if isinstance(value, dict):
        return value, ""
    return ({}, "") if value in (None, "", []) else ({}, "the arguments are no JSON object")


def _find_labelled(text: str, form: CallFormat) -> Iterator[CallCandidate]:
    """Yield calls whose name follows a label (`Action: NAME`) and whose arguments follow
    another.
    """
    before = _label(form.trigger, form.before)
    between = _label("", form.between, inline=True)
    starts = list(before.finditer(text))
    for index, start in enumerate(starts):
        limit = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        behind = between.search(text, start.end(), limit)
        line_end = text.find("\n", start.end(), limit)
        name_end = min(behind.start() if behind else limit, line_end if line_end >= 0 else limit)
        name = text[start.end() : name_end].strip(" \t\r`*\"'")
        if behind is None:
            missing = f"{form.between.strip()!r} is missing"
            yield CallCandidate(name=name, span=(start.start(), name_end), problem=missing)
        else:
            yield _with_arguments(text, form, name, start.start(), behind.end())


def _find_functions(text: str, form: CallFormat, known: IsToolName) -> Iterator[CallCandidate]:
    """Yield calls written as `NAME(…)`.

    In prose, an unknown name counts as a call only if there is no call of a known tool, and only if
    the bracket follows the name directly. Only the first such name is yielded.
    """
    opening = re.escape(form.between.strip())
    trigger = re.escape(form.trigger) + r"\s*" if form.trigger else r"(?<!\w)"
    pattern = re.compile(rf"{trigger}(?P<name>{_NAME})\s*{opening}")
    place = 0
    other = None
    some = False
    while (start := pattern.search(text, place)) is not None:
        found = _with_arguments(text, form, start["name"], start.start(), start.end())
        if known(found.name) or form.trigger:
            some = True
            place = found.span[1]
            yield found
        else:
            glued = text[start.end("name") : start.end()] == form.between.strip()
            other = other or (found if glued else None)
            place = start.end()
    if not some and other is not None:
        yield other


def _with_arguments(
    text: str, form: CallFormat, name: str, start: int, inside: int
) -> CallCandidate:
    """Read the call whose arguments begin at `inside`."""
    closing = form.after.strip() or "\n"
    try:
        if form.arguments == "json":
            named, end = json_object(text, inside)
            return CallCandidate(name=name, span=(start, end), named=named)
        values, named, end = read_bracketed(text, inside, closing)
    except Unreadable as error:
        return CallCandidate(name=name, span=(start, len(text)), problem=str(error))
    end = min(len(text), end + len(closing))
    return CallCandidate(name=name, span=(start, end), values=values, named=named)


@cache
def _label(trigger: str, label: str, *, inline: bool = False) -> re.Pattern[str]:
    """Return a pattern for a label such as `Action:` at the beginning of a line, in any case, with
    Markdown and whitespace around it.
    """
    word = label.strip()
    colon = r"\s*[*_`]*\s*:[ \t*_]*" if word.endswith(":") else r"[ \t]*"
    start = re.escape(trigger) + r"\s*" if trigger else "" if inline else "^" + _MARKS
    words = r"\s+".join(map(re.escape, word.removesuffix(":").split()))
    return re.compile(start + words + colon, re.IGNORECASE | re.MULTILINE)


def _quoted_key(text: str) -> list[str]:
    """Return the last JSON key in a format's own text, as in `", "arguments": `."""
    return re.findall(r'"(\w+)"\s*:', text)[-1:]


@cache
def _head(keys: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(dict.fromkeys(map(re.escape, keys)))
    return re.compile(rf"[\"'](?:{words})[\"']\s*:\s*[\"'](?P<name>[^\"'\n]{{0,200}})[\"']")


def unknown_tool(name: str, tools: Toolbox) -> CallError:
    """Build the error for an unknown tool name, with similar names as suggestions."""
    names = list(tools) if len(tools) <= _MOST_NAMES else []
    near = closest_meanings(name, names, most=3, cutoff=0.5)
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else f"the first of the tools are {', '.join(list(tools)[:8])}."
    )
    return CallError(kind="unknown-tool", message=f"There is no tool {name[:80]!r}; {hint}")


def name_arguments(tool: Tool, values: Sequence[Json]) -> dict[str, Json] | CallError:
    """Assign positional values to arguments: values in the order of the tool's parameters →
    arguments by alias.
    """
    if len(values) > len(tool.arguments):
        return _count(tool, len(values))
    return dict(zip(tool.arguments, values, strict=False))


def validate_arguments(
    tool: Tool, given: Mapping[str, Json], *, by_position: bool = False
) -> dict[str, Json] | CallError:
    """Return the arguments, by alias, with which the host would make the call, or why it would
    refuse it.

    The check uses the same contract as the host, so a call that is valid here is not refused there.
    Names may be aliases or original names. With `by_position`, a missing argument is reported as a
    wrong count.
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
        unknown = not rules.open and any(alias not in tool.arguments for alias in named)
        kind: ErrorClass = (
            "unknown-argument" if unknown else "missing-argument" if missing else "wrong-type"
        )
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
