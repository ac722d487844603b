"""Reads arguments as models write them: JSON, or Python literals between brackets."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import NamedTuple, NoReturn

from protocols.python_source import parse_expression
from protocols.schema import Json

_OPENING = "([{"
_CLOSING = ")]}"
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_KEYWORD = re.compile(r"\s*([^\W\d]\w*)\s*(?:=(?!=)|:\s)\s*(.*)", re.DOTALL)
_NUMBER = r"[+-]?(?:\d+(?:\.\d+)?)(?:[eE][+-]?\d+)?"
_FRACTION = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})")
_FENCE = re.compile(r"\s*(?:```[\w-]*\s*)?")


class Unreadable(ValueError):
    """A text cannot be read as arguments or as a JSON object. The message says why."""


class BareText(str):
    """Text without quotes where a literal was expected: `Berlin`, `4/3`."""

    __slots__ = ()


class ParsedArguments(NamedTuple):
    """The arguments of a call as read from a text.

    It has the values without a name, the values with a name, and the offset in the text after the
    last argument.
    """

    values: list[Json]
    named: dict[str, Json]
    end: int


def json_object(text: str, start: int) -> tuple[dict[str, Json], int]:
    """Return the JSON object that begins at `start`, and the offset after it.

    Whitespace and a code fence may come before the object. An object in Python's notation (single
    quotes, `True`) is read as well.

    Raises:
        Unreadable: there is no object, or it is not closed.
    """
    found = _FENCE.match(text, start)
    begin = found.end() if found else start
    if not text.startswith("{", begin):
        raise Unreadable(f"a JSON object is expected, not {text[begin : begin + 40]!r}")
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        end = _find_closing(text, begin + 1, "}") + 1
        value = _literal(text[begin:end])
        if not isinstance(value, dict):
            raise Unreadable(f"{_short(text[begin:end])} is not JSON") from None
    return value, end


def read_bracketed(text: str, start: int, closing: str) -> ParsedArguments:
    """Return the arguments from `start` up to the text `closing`, for example `)`.

    The offset in the result is that of `closing`. A text that is not a literal becomes `BareText`,
    which is later checked against the schema. `name=value` and `name: value` are named arguments.

    Raises:
        Unreadable: `closing` is missing, an argument is empty, or one is given twice.
    """
    values: list[Json] = []
    named: dict[str, Json] = {}
    place = start
    while True:
        end = _find_closing(text, place, closing, ",")
        last = not text.startswith(",", end)
        piece = text[place:end].strip()
        if found := _KEYWORD.fullmatch(piece):
            if found[1] in named:
                raise Unreadable(f"argument {found[1]!r} is given twice")
            named[found[1]] = value_of(found[2].strip())
        elif piece:
            values.append(value_of(piece))
        elif not last:
            raise Unreadable("an argument is empty")
        if last:
            return ParsedArguments(values, named, end)
        place = end + 1


def value_of(text: str) -> Json:
    """Return the value of a text that is a JSON or Python literal.

    Any other text becomes `BareText`, a string that is marked as unquoted. This includes fractions
    (`4/3`).
    """
    if text in _WORDS:
        return _WORDS[text]
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        try:
            return BareText(text) if _FRACTION.fullmatch(text) else _literal(text)
        except Unreadable:
            return BareText(text)


def python_text(value: Json) -> str:
    """Return the value as a Python literal. Strings and numbers are written as in JSON."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            return (
                "{"
                + ", ".join(
                    f"{python_text(key)}: {python_text(item)}" for key, item in value.items()
                )
                + "}"
            )
        case list():
            return "[" + ", ".join(map(python_text, value)) + "]"
        case _:
            return repr(value)


def quotient(text: str) -> float | None:
    """Return the value of a fraction of two numbers, `4/3`, or None for any other text."""
    found = _FRACTION.fullmatch(text)
    if found is None or not float(found[2]):
        return None
    value = float(found[1]) / float(found[2])
    return value if math.isfinite(value) else None


def _literal(text: str) -> Json:
    try:
        return _to_json(ast.literal_eval(_JsonWords().visit(parse_expression(text.strip()))))
    except (
        ValueError,
        SyntaxError,
        TypeError,
        RecursionError,
        MemoryError,
        ArithmeticError,
    ) as error:
        raise Unreadable(f"{_short(text)} is no literal") from error


class _JsonWords(ast.NodeTransformer):
    """Replaces JSON's `true`, `false` and `null` in Python literals by Python's constants."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node) if node.id in _WORDS else node


def _to_json(value: object) -> Json:
    """Return a Python literal as a JSON value.

    Raises:
        ValueError: JSON has no such value.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_to_json(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _to_json(item) for key, item in value.items()}
    raise ValueError(f"{value!r} is no JSON value")


def _find_closing(text: str, start: int, *ends: str) -> int:
    """Return the offset of the first of the texts `ends` after the offset `start`.

    An occurrence within a string or brackets does not count. A quotation mark opens a string only
    where a value may begin, so an apostrophe within a word does not.

    Raises:
        Unreadable: none of the texts follows.
    """
    depth = 0
    place = start
    before = "("
    while place < len(text):
        char = text[place]
        if depth == 0 and any(text.startswith(end, place) for end in ends):
            return place
        if char in "\"'" and before in "([{,=:":
            place = _string_end(text, place)
            before = char
            continue
        depth += (char in _OPENING) - (char in _CLOSING)
        if depth < 0:
            break
        before = before if char.isspace() else char
        place += 1
    if "\n" in ends and depth == 0:
        return len(text)
    raise Unreadable(f"{ends[0]!r} is missing")


def _string_end(text: str, start: int) -> int:
    found = re.compile(rf"(?:\\.|[^\\{text[start]}])*+{text[start]}", re.DOTALL).match(
        text, start + 1
    )
    if found is None:
        raise Unreadable("a string is not closed")
    return found.end()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)
