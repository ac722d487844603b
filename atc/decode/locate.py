"""Finds where calls stand in a reply, and what is written there, whatever tools there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from atc.decode.formats import CallFormat
from atc.decode.literals import Unreadable, bracketed, json_object
from protocols.jsontypes import Json

Known = Callable[[str], bool]
"""Whether a tool has this name."""

_NAME = r"[^\W\d][\w.\-]*"
_MARKS = r"[ \t>*_#`\-]*+"
_NAME_KEYS = ("name", "tool", "function", "action", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input", "params")
_MOST_BRACES = 100
"""Places where an object may begin that are looked at."""
_LABEL = re.compile(rf"{_MARKS}(?:\d+[.)]\s*)?(?:[\w ]{{1,30}}[:=]\s*)?[`(*]*")
_REST = re.compile(r"[`)*.;\s]*?(?:\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is written like a call: its name, its arguments by position and by name, or why they cannot be read.

    `span` and `name_span` are places in the reply; `name_span` is (0, 0) where the name is written with escapes.
    """

    name: str
    span: tuple[int, int]
    name_span: tuple[int, int]
    values: list[Json] = field(default_factory=list)
    named: dict[str, Json] = field(default_factory=dict)
    problem: str = ""


def find_calls(text: str, form: CallFormat, known: Known) -> Iterator[Found]:
    """What is written like a call in this format, in order. They do not overlap."""
    if form.before.lstrip().startswith("{") and form.arguments == "json":
        return _objects(text, form, known)
    if form.before.strip():
        return _labelled(text, form)
    return _functions(text, form, known)


def _objects(text: str, form: CallFormat, known: Known) -> Iterator[Found]:
    """JSON objects with a name and arguments, their keys in any order and under any usual word."""
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
                where = (begun.start("name"), begun.end("name"))
                yield Found(name=begun["name"], span=(start, len(text)), name_span=where, problem=f"{error}")
                return
            continue
        name = next((value[key] for key in name_keys if isinstance(value.get(key), str)), None)
        key = next((key for key in argument_keys if key in value), None)
        if name is None or (key is None and not known(name)):
            continue
        place = end
        given, problem = _as_object(value[key] if key is not None else {})
        inside = begun["name"] == name and begun.end() <= end
        where = (begun.start("name"), begun.end("name")) if inside else (0, 0)
        yield Found(name=name, span=(start, end), name_span=where, named=given, problem=problem)


def _next_object(text: str, place: int, form: CallFormat) -> int:
    """Where the next object begins, which is behind the next trigger where the format has one; -1 if none does."""
    if form.trigger:
        place = text.find(form.trigger, place)
        if place < 0:
            return -1
    return text.find("{", place)


def _as_object(value: Json) -> tuple[dict[str, Json], str]:
    """The arguments of a call, which some models write as a text that holds JSON, and what is wrong with them."""
    if isinstance(value, str) and value.strip():
        try:
            return json_object(value, 0)[0], ""
        except Unreadable as error:
            return {}, str(error)
    if isinstance(value, dict):
        return value, ""
    return ({}, "") if value in (None, "", []) else ({}, "the arguments are no JSON object")


def _labelled(text: str, form: CallFormat) -> Iterator[Found]:
    """Calls whose name stands behind a label (`Action: NAME`), the arguments behind another."""
    before, between = _label(form.trigger, form.before), _label("", form.between, inline=True)
    starts = list(before.finditer(text))
    for index, start in enumerate(starts):
        limit = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        behind = between.search(text, start.end(), limit)
        line_end = text.find("\n", start.end(), limit)
        name_end = min(behind.start() if behind else limit, line_end if line_end >= 0 else limit)
        name = text[start.end() : name_end].strip(" \t\r`*\"'")
        at = text.find(name, start.end()) if name else start.end()
        where = (at, at + len(name))
        if behind is None:
            missing = f"{form.between.strip()!r} is missing"
            yield Found(name=name, span=(start.start(), name_end), name_span=where, problem=missing)
        else:
            yield _with_arguments(text, form, name, where, start.start(), behind.end())


def _functions(text: str, form: CallFormat, known: Known) -> Iterator[Found]:
    """Calls written `NAME(…)`. Where prose stands around, a name that no tool has counts if it stands alone on its
    line; else the first such name counts only where no other call does.
    """
    opening = re.escape(form.between.strip())
    trigger = re.escape(form.trigger) + r"\s*" if form.trigger else r"(?<!\w)"
    pattern = re.compile(rf"{trigger}(?P<name>{_NAME})\s*{opening}")
    place, others, some = 0, None, False
    while (start := pattern.search(text, place)) is not None:
        found = _with_arguments(text, form, start["name"], start.span("name"), start.start(), start.end())
        glued = text[start.end("name") : start.end()] == form.between.strip()
        wraps = any(
            known(one["name"]) for one in pattern.finditer(text, start.end(), found.span[1])
        )  # print(add(1, 2))
        stands = glued and not found.problem and not wraps and _alone(text, found.span)
        if known(found.name) or form.trigger or stands:
            some, place = True, found.span[1]
            yield found
        else:
            others, place = others or (found if glued else None), start.end()
    if not some and others is not None:
        yield others


def _with_arguments(text: str, form: CallFormat, name: str, where: tuple[int, int], start: int, inside: int) -> Found:
    """The call whose arguments begin at `inside`."""
    closing = form.after.strip() or "\n"
    try:
        if form.arguments == "json":
            named, end = json_object(text, inside)
            return Found(name=name, span=(start, end), name_span=where, named=named)
        values, named, end = bracketed(text, inside, closing)
    except Unreadable as error:
        return Found(name=name, span=(start, len(text)), name_span=where, problem=str(error))
    end = min(len(text), end + len(closing))
    return Found(name=name, span=(start, end), name_span=where, values=values, named=named)


def _alone(text: str, span: tuple[int, int]) -> bool:
    """Whether nothing but a label, a list's mark or Markdown stands on the line of `span` besides it."""
    line = text.rfind("\n", 0, span[0]) + 1
    return _LABEL.fullmatch(text, line, span[0]) is not None and _REST.match(text, span[1]) is not None


@cache
def _label(trigger: str, label: str, *, inline: bool = False) -> re.Pattern[str]:
    """`Action:` at the beginning of a line, Markdown and white space around it, in any case."""
    word = label.strip()
    colon = r"\s*[*_`]*\s*:[ \t*_]*" if word.endswith(":") else r"[ \t]*"
    start = re.escape(trigger) + r"\s*" if trigger else "" if inline else "^" + _MARKS
    words = r"\s+".join(map(re.escape, word.removesuffix(":").split()))
    return re.compile(start + words + colon, re.IGNORECASE | re.MULTILINE)


def _quoted_key(text: str) -> list[str]:
    """The last key that a format's own text writes, as in `", "arguments": `."""
    return re.findall(r'"(\w+)"\s*:', text)[-1:]


@cache
def _head(keys: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(dict.fromkeys(map(re.escape, keys)))
    return re.compile(rf"[\"'](?:{words})[\"']\s*:\s*[\"'](?P<name>[^\"'\n]{{0,200}})[\"']")
