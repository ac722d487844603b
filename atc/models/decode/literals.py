"""Arguments as models write them: JSON, or Python's literals between brackets."""

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
    """A text is no value, list of arguments or object; the message says why."""


class BareText(str):
    """A text that stood without quotes where a literal was expected: `Berlin`, `4/3`."""

    __slots__ = ()


class ParsedArguments(NamedTuple):
    """Values given by position, values given by name, and the place behind the last of them."""

    values: list[Json]
    named: dict[str, Json]
    end: int


def json_object(text: str, start: int) -> tuple[dict[str, Json], int]:
    """The object that begins at `start` (white space and a code fence skipped), and the place behind it.

    Python's way of writing one (single quotes, `True`) is read too.

    Raises:
        Unreadable: there is none, or it is not closed.
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
    """Arguments from `start` up to `closing` (`)`, a line's end …), which is not read itself.

    What is no literal is `Bare` text, so that the schema judges it. `name=value` and `name: value` name their argument.

    Raises:
        Unreadable: `closing` does not come, an argument is empty, or one is named twice.
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
    """The value of a literal of JSON or Python; any other text, a fraction (`4/3`) too, is `Bare`."""
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
    """The value as a literal that Python reads, and JSON where it is a string or a number."""
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
    """The value of a fraction of two numbers, `4/3`; None for any other text."""
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
    """JSON's `true`, `false` and `null` within Python's literals."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_WORDS[node.id]), node) if node.id in _WORDS else node


def _to_json(value: object) -> Json:
    """A literal of Python as JSON has it. Raises ValueError where JSON has no such value."""
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
    """The first place from `start` on, outside strings and brackets, where one of `ends` stands.

    A quote opens a string only where a value may begin, so an apostrophe within words is a letter.
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
