"""Finds the texts in a model's reply that are written like tool calls.

The module `parse` checks later whether the called tools and their arguments exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from atc.models.decode.formats import CallFormat
from atc.models.decode.literals import (
    Unreadable,
    json_object,
    read_bracketed,
)
from protocols.schema import Json

IsToolName = Callable[[str], bool]
"""Function that returns True if a tool has this name."""
_NAME = r"[^\W\d][\w.\-]*"
_MARKS = r"[ \t>*_#`\-]*+"
_NAME_KEYS = ("name", "tool", "function", "action", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "params")
_MOST_BRACES = 100
"""Maximum number of opening braces in a reply at which the parser tries to read a JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCandidate:
    """A piece of text that is written like a call.

    `span` is its position in the reply. `values` are the arguments without a name, `named` those
    with one. `problem` says why the arguments cannot be read; it is empty if they can.
    """

    name: str
    span: tuple[int, int]
    values: list[Json] = field(default_factory=list)
    named: dict[str, Json] = field(default_factory=dict)
    problem: str = ""


def find_calls(text: str, form: CallFormat, known: IsToolName) -> Iterator[CallCandidate]:
    """Yield every part of a reply that is written like a call in the format `form`.

    The calls are in the order of the text, and do not overlap.
    """
    if form.before.lstrip().startswith("{") and form.arguments == "json":
        return _find_objects(text, form, known)
    if form.before.strip():
        return _find_labelled(text, form)
    return _find_functions(text, form, known)


def _find_objects(text: str, form: CallFormat, known: IsToolName) -> Iterator[CallCandidate]:
    """Yield the calls that are JSON objects with a name and arguments.

    The keys may be in any order, and have other usual names, such as `tool` instead of `name`.
    """
    place = 0
    name_keys = (*_quoted_key(form.before), *_NAME_KEYS)
    argument_keys = (*_quoted_key(form.between), *_ARGUMENT_KEYS)
    heads = list(_head(name_keys).finditer(text))
    for _ in range(_MOST_BRACES):
        if (start := _next_object(text, place, form)) < 0:
            return
        place = start + 1
        next_name = next((head for head in heads if head.start() > start), None)
        if next_name is None:
            return  # no further name, so no further call
        try:
            value, end = json_object(text, start)
        except Unreadable as error:
            if not text[start + 1 : next_name.start()].strip():
                yield CallCandidate(
                    name=next_name["name"], span=(start, len(text)), problem=f"{error}"
                )
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
    """Return the offset of the first opening brace at or after the offset `place`, or -1.

    If the format has a trigger (a text that begins a call), the brace must come after the next
    trigger.
    """
    if form.trigger:
        place = text.find(form.trigger, place)
        if place < 0:
            return -1
    return text.find("{", place)


def _as_object(value: Json) -> tuple[dict[str, Json], str]:
    """Return the arguments of a call, and why they cannot be read ("" if they can).

    Some models write the arguments as a string that contains JSON.
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
    """Yield the calls that are written with two labels, as in ReAct.

    They have the form `Action: NAME`, then `Action Input: ARGUMENTS`.
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
    """Yield the calls that are written as `NAME(…)`.

    If calls begin with a trigger (a fixed text) in this format, any name is accepted. Otherwise
    only names of known tools are. If the text has no call of a known tool, the first call of an
    unknown name with a bracket directly after it is yielded, so that an error can name it.
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
    """Return the call that begins at the offset `start` of the text, with its arguments.

    The arguments begin at the offset `inside`.
    """
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
    """Return a regular expression for a label such as `Action:`, in upper or lower case.

    Markdown and whitespace may be around the label. It must follow `trigger` if that is not empty.
    Otherwise it must begin a line, unless `inline` is True.
    """
    word = label.strip()
    colon = r"\s*[*_`]*\s*:[ \t*_]*" if word.endswith(":") else r"[ \t]*"
    start = "" if inline else "^" + _MARKS
    if trigger:
        start = re.escape(trigger) + r"\s*"
    words = r"\s+".join(map(re.escape, word.removesuffix(":").split()))
    return re.compile(start + words + colon, re.IGNORECASE | re.MULTILINE)


def _quoted_key(text: str) -> list[str]:
    """Return a list with the last JSON key in a part of a format, or an empty list.

    For example, the result is `["arguments"]` for `", "arguments": `.
    """
    return re.findall(r'"(\w+)"\s*:', text)[-1:]


@cache
def _head(keys: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(dict.fromkeys(map(re.escape, keys)))
    return re.compile(rf"[\"'](?:{words})[\"']\s*:\s*[\"'](?P<name>[^\"'\n]{{0,200}})[\"']")
