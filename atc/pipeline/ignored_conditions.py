"""Finds conditions of a task that a program ignores: codes, numbers, and values of a field.

A condition is found only if the task contains a value that neither the program nor its calls use.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from atc.core.json_paths import walk_responses
from atc.pipeline.check.argument_values import find_mismatch
from atc.pipeline.slips import FACTORS
from protocols.naming import snake
from protocols.schema import iter_parts, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_BRACKETS = re.compile(r"\(((?:[A-Z0-9]{2,6})(?:(?:, | and | or )[A-Z0-9]{2,6})*)\)")
_NUMBERED = re.compile(r"(?<![\w-])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{4,}(?![\w-])")
_AFTER_NAME = re.compile(r"(?<!\w)[^\W\d_a-z]\w*\W*$")
_SMALL_WORDS = frozenset({"a", "an", "and", "for", "in", "of", "on", "the", "to"})
"""Words that an abbreviation may leave out."""


class ProgramText(NamedTuple):
    """A program that was executed: its source, its syntax tree and the calls that it made."""

    source: str
    tree: ast.Module
    calls: Sequence[ToolCall]

    @property
    def used(self) -> str:
        """The source and the arguments of all calls as one text."""
        arguments = [dict(call.arguments) for call in self.calls]
        return f"{self.source}\n{json.dumps(arguments, default=repr, ensure_ascii=False)}"

    @property
    def results(self) -> str:
        """The responses of all calls as one text."""
        return json.dumps([call.result for call in self.calls], default=repr, ensure_ascii=False)


# --- codes


def find_unused_codes(task: str, program: ProgramText, tools: Toolbox) -> list[str]:
    """Return the codes of the task that the program does not use, although a tool could take them.

    Codes are words such as `N14228`, and `JFK` in "Kennedy (JFK)". A tool could take a code if the
    code is a valid value in its arguments. A code in brackets is left out if it abbreviates the
    words before it, as in "universal trade currency (UTC)", or if the documentation of a called
    tool contains it: it then names a format or unit, such as IATA. A value that an argument of a
    called tool lists is a code all the same, unless it is the default. A code that is the only
    value of a field in the responses needs no condition.
    """
    codes = [*_find_codes_in_brackets(task), *_NUMBERED.findall(task)]
    named = list(dict.fromkeys(codes))[:_MOST_CODES]
    used = program.used.casefold()
    unused = [code for code in named if not _has_word(code.casefold(), used)]
    unused = [code for code in unused if code not in _only_values(program.calls)]
    called = {call.tool for call in program.calls}
    known = [tools[alias] for alias in called if alias in tools]
    documents = " ".join(map(describe_in_words, known))
    return [
        code
        for code in unused
        if not code.isdigit()  # a number, see `find_unused_numbers`
        and (not _has_word(code, documents) or any(_lists(tool, code) for tool in known))
        and _is_accepted(code, tools)
    ]


def _only_values(calls: Sequence[ToolCall]) -> set[str]:
    """Return the texts each of which is the only value of a field in the responses of a tool."""
    values: dict[tuple[str, str], set[str]] = {}
    for call, path, value in walk_responses(calls):
        if path and isinstance(path[-1], str) and isinstance(value, str):
            values.setdefault((call.tool, path[-1]), set()).add(value)
    return {next(iter(found)) for found in values.values() if len(found) == 1}


def _find_codes_in_brackets(task: str) -> Iterator[str]:
    """Yield the codes in brackets after a name, except abbreviations of the words before them.

    After a word in lower case or a number, as in "budget (USD)" and "March 2026 (UTC)", a code is a
    unit, a format or a time zone.
    """
    for found in _BRACKETS.finditer(task):
        before = _before(task, found)
        codes = re.findall(r"[A-Z0-9]+", found[1])
        if _AFTER_NAME.search(before) and (len(codes) > 1 or not _abbreviates(codes[0], before)):
            yield from codes


def _abbreviates(code: str, before: str) -> bool:
    """Return True if the letters of a code are the initials of the last words of a text."""
    words = re.findall(r"[^\W\d_]+", before)[-2 * len(code) :]
    initials = "".join(word[0] for word in words).upper()
    without_small = "".join(word[0] for word in words if word.lower() not in _SMALL_WORDS).upper()
    return initials.endswith(code) or without_small.endswith(code)


def describe_in_words(tool: Tool) -> str:
    """Return all that a tool's document says in words: its description and those in its schemas."""
    protocol = tool.protocol
    schemas = (protocol.input_schema, protocol.output_schema)
    described = [
        part.get("description")
        for schema in schemas
        for part in iter_parts(schema)
        if isinstance(part, Mapping)
    ]
    texts = [protocol.title, protocol.description, *described]
    return " ".join(text for text in texts if isinstance(text, str))


def _is_accepted(code: str, tools: Toolbox) -> bool:
    return any(_accepts(tool, code) for tool in tools.values())


def _accepts(tool: Tool, code: str) -> bool:
    """Return True if a string in the arguments of a tool, at any depth, may be this code."""
    root = tool.protocol.input_schema
    return any(
        _is_text_schema(part) and find_mismatch(code, part, root) is None
        for part in iter_parts(root)
    )


def _lists(tool: Tool, code: str) -> bool:
    """Return True if an argument of a tool lists this code among its values, not as the default."""
    return any(
        isinstance(part, Mapping)
        and isinstance(part.get("enum"), list)
        and code in part["enum"]
        and part.get("default") != code
        for part in iter_parts(tool.protocol.input_schema)
    )


def _is_text_schema(part: Any) -> bool:
    """Return True for a JSON Schema that says that a value is a text."""
    return isinstance(part, Mapping) and "string" in types(part)


# --- numbers

_NUMBER = re.compile(
    r"(?<![\w.,'/:-])(?P<whole>\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?P<decimals>\.\d{1,15})?"
    r"(?![\w'/:-]|[.,]\d)(?:\s+(?P<scale>thousand|million|billion)\b)?"
)
"""A number that stands by itself: no part of a date, a time, a word or a quoted example."""
_DATE = re.compile(r"(?<!\w)\d{4}-\d\d-\d\d(?!\w)")
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_DAY = re.compile(rf"^(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}", re.IGNORECASE)
_DAY_AFTER = re.compile(rf"{_MONTH}[a-z]*\.?\s+$", re.IGNORECASE)
_ROUNDING = re.compile(
    r"\bround\w*\s+(?:off\s+|up\s+|down\s+)?(?:to\s+)?(?:the\s+)?$", re.IGNORECASE
)
_RANGE_BEFORE = re.compile(r"\d\s*(?:to|-|–)\s*$")
_RANGE_AFTER = re.compile(r"\s*(?:to|-|–)\s*\d")
_WINDOW = 100
"""Number of characters around a number or code of the task that tell what it means."""
_MOST_NUMBERS = 10
"""Maximum number of unused numbers that are looked for."""
_MOST_CODES = 50
"""Maximum number of codes of a task that are looked for."""
_LEAST = 10
"""Smaller numbers are often written as words, or are the number of items to print."""


_YEAR = re.compile(r"1[89]\d\d|20\d\d")
_PERIOD = re.compile(
    r"(?:^|_)(?:dates?|years?|seasons?|months?|days?|times?(?!_zone)|since|until|before|after|start|end|from"
    r"|to|at|on|built|born|released|created|updated|period)(?:_|$)"
)
"""Words in the name of an argument or field that says when something is."""


def find_unused_numbers(task: str, program: ProgramText, tools: Toolbox) -> list[str]:
    """Return the numbers and ISO dates of the task that neither the program nor its calls contain.

    Such a number may be a limit or a year that the program does not apply. Left out are small
    numbers, days of a month, numbers of decimals to round to, numbers in quotes, numbers in
    brackets that a response contains, such as the year of a film, and years if no called tool has
    to do with times.
    """
    used = set(map(_plain, re.findall(r"\d[\d_]*(?:\.\d+)?(?:e\+?\d+)?", program.used)))
    unused = list[str]()
    words: set[str] | None = None
    for found in _NUMBER.finditer(task):
        number = _plain(found["whole"].replace(",", "") + (found["decimals"] or ""))
        if float(number) < _LEAST and not found["scale"]:
            continue
        if _is_used(number, found["scale"], used):
            continue
        words = _words_of_results(program.calls) if words is None else words
        if _YEAR.fullmatch(number) and not _tells_time(program.calls, tools):
            continue
        if not _is_no_condition(task, found, words, number):
            unused.append(found[0].strip())
        if len(unused) == _MOST_NUMBERS:
            break
    dates = [
        date
        for date in _DATE.findall(task)
        if date not in program.used and not used.issuperset(map(_plain, date.split("-")))
    ]
    return list(dict.fromkeys([*dates, *unused]))


def _tells_time(calls: Sequence[ToolCall], tools: Toolbox) -> bool:
    """Return True if a called tool takes or returns a time, so that a program can select a year."""
    called = dict.fromkeys(call.tool for call in calls if call.tool in tools)
    arguments = [snake(name) for alias in called for name in tools[alias].arguments]
    keys = {path[-1] for _, path, _ in walk_responses(calls) if path}
    fields = [snake(key) for key in keys if isinstance(key, str)]
    return any(_PERIOD.search(name) for name in (*arguments, *fields))


def _is_used(number: str, scale: str | None, used: set[str]) -> bool:
    """Return True if a number of the task is among those of the program, perhaps in another form.

    "60 million" is used if the program contains 60,000,000, or both 60 and a million, "before 2000"
    if it contains 1999, and "100 miles" if it contains 161.
    """
    if scale is None:
        return number in used or any(_is_same_bound(float(number), float(one)) for one in used)
    factor = _SCALES[scale]
    return _plain(str(round(float(number) * factor))) in used or {number, str(factor)} <= used


def _is_same_bound(number: float, other: float) -> bool:
    """Return True if two numbers are next to each other, or one is the other in another unit."""
    if number.is_integer() and abs(number - other) == 1:
        return True
    return any(math.isclose(other, number * factor, rel_tol=_ROUNDED) for factor in FACTORS)


_ROUNDED = 0.01
"""Relative difference between a converted number and the rounded one that a program contains."""


def _plain(number: str) -> str:
    """Return a number without grouping, exponent, leading zeros and final zeros of its decimals."""
    number = number.replace("_", "")
    if "e" in number:
        # An exponent of three digits belongs to no number of a task.
        number = f"{float(number):f}" if len(number.partition("e")[2]) <= 2 else number
    whole, point, decimals = number.partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")


def _is_no_condition(task: str, found: re.Match[str], words: Collection[str], number: str) -> bool:
    """Return True if a number is a day of a month, or follows "round to", or is only a remark.

    `found` is its match in the task. A remark is in brackets, and is a range, such as "(1 to 10)",
    or a number that a response contains. `words` are those of all responses.
    """
    before = _before(task, found)
    after = task[found.end() :][:_WINDOW]
    if _DAY.match(after) or _DAY_AFTER.search(before) or _ROUNDING.search(before):
        return True
    if before.rfind("(") <= before.rfind(")"):
        return False
    is_range = _RANGE_BEFORE.search(before) or _RANGE_AFTER.match(after)
    return bool(is_range) or number in words


def _before(task: str, found: re.Match[str]) -> str:
    """Return the part of the task that stands directly before a match."""
    return task[max(0, found.start() - _WINDOW) : found.start()]


def _words_of_results(calls: Sequence[ToolCall]) -> set[str]:
    """Return the words and numbers of all responses."""
    values = (value for _, _, value in walk_responses(calls) if isinstance(value, str | int))
    return {word for value in values for word in re.findall(r"\w+", str(value)[:_LONGEST_TEXT])}


# --- values of a field


class IgnoredField(NamedTuple):
    """A field of the objects in a list that a tool returned, one of whose values the task contains.

    `value` is this value, and `key` the field's name.
    """

    tool: str
    key: str
    value: str


def find_ignored_fields(task: str, program: ProgramText) -> list[IgnoredField]:
    """Return the fields by which the task selects records, and which the program does not read.

    For example, the task says "in Berlin", and a tool returned a list of objects whose field `city`
    is "Berlin" in some objects and another text in others. If neither the program nor its calls
    contain `city` or "Berlin", the program takes the objects of all cities. Texts that begin with a
    small letter are left out, because they are often plain words of the task.
    """
    used = program.used.casefold()
    found = []
    for (tool, key), values in _texts_by_field(program.calls).items():
        if len(values) == 1 or _has_word(key.casefold(), used):
            continue
        named = (text for text in values if not text[0].islower() and _has_word(text, task))
        found += [
            IgnoredField(tool, key, text) for text in named if not _has_word(text.casefold(), used)
        ]
    return found


_SHORTEST_TEXT = 3
_LONGEST_TEXT = 60


def _texts_by_field(calls: Sequence[ToolCall]) -> dict[tuple[str, str], dict[str, None]]:
    """Return the texts in the fields of objects in lists, keyed by tool and field name."""
    texts: dict[tuple[str, str], dict[str, None]] = {}
    for call, path, value in walk_responses(calls):
        is_field_of_item = len(path) > 1 and isinstance(path[-2], int) and isinstance(path[-1], str)
        if not is_field_of_item or not isinstance(value, str):
            continue
        if _SHORTEST_TEXT <= len(value) <= _LONGEST_TEXT:
            texts.setdefault((call.tool, str(path[-1])), {})[value] = None
    return texts


def _has_word(word: str, text: str) -> bool:
    """Return True if a text contains the word, not as a part of a longer word."""
    if word not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
