"""Grades an answer of the type list or set: it must have exactly the expected items.

The docstring of `toolflow_bench.grade` has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from protocols.schema import Json
from toolflow_bench.numbers import (
    fold,
    folded_words,
    is_near,
    leaves,
    parse_structure,
    whole_number,
)
from toolflow_bench.task import GradedQuestion

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def has_expected_items(answer: str, expected: GradedQuestion) -> bool:
    """Return True if the answer has exactly the expected items, in any accepted notation."""
    readings = list(iter_readings(answer))
    return (
        any(_are_expected_items(items, expected) for items in readings)
        or any(_are_grouped_items(items, expected) for items in readings)
        or any(_has_expected_words(text, expected) for text in _bodies(answer))
    )


def _are_grouped_items(items: Sequence[Json], expected: GradedQuestion) -> bool:
    """Return True if `items` contain the expected items, some of them inside lists or objects.

    There must be no further values. Return False if an expected item is itself a list or an object.
    """
    flat = leaves(list(items))
    is_flat = not any(isinstance(one, dict | list) for one in expected.answer)
    return is_flat and len(flat) == len(expected.answer) and _are_expected_items(flat, expected)


def _are_expected_items(items: Sequence[Json], expected: GradedQuestion) -> bool:
    wanted = expected.answer
    tolerance = expected.tolerance
    if expected.type == "list":
        pairs = zip(items, wanted, strict=False)
        return len(items) == len(wanted) and all(
            _is_same(one, other, tolerance) for one, other in pairs
        )

    def is_wanted(item: Json) -> bool:
        return any(_is_same(item, one, tolerance) for one in wanted)

    def is_found(one: Json) -> bool:
        return any(_is_same(item, one, tolerance) for item in items)

    return all(map(is_wanted, items)) and all(map(is_found, wanted))


def iter_readings(answer: str) -> Iterator[list[Json]]:
    """Yield each way in which the answer can be read as a list of items."""
    value = _structure_of(answer)
    if isinstance(value, dict | list):
        yield _values(value)
        if isinstance(value, dict):
            yield [
                [key, *(_values(part) if isinstance(part, list) else [part])]
                for key, part in value.items()
            ]
        return
    for body in _bodies(answer):
        for separator in (r"\n", r"[,;\n]", r"[,;\n]|\band\b"):
            if kept := [
                item for one in re.split(separator, body) if (item := one.strip(" \t\r.`'\""))
            ]:
                yield kept


def _structure_of(answer: str) -> Json:
    """Return the JSON or Python structure in the answer, or None if it has none.

    If each of several lines is a structure, return the list of them. A list or object whose only
    item is a list or object is replaced with that item.
    """
    value = parse_structure(answer)
    if value is None:
        lines = [line for line in answer.splitlines() if line.strip()]
        parsed = [parse_structure(line) for line in lines]
        if len(lines) > 1 and None not in parsed:
            value = parsed
    while (
        isinstance(value, dict | list)
        and len(value) == 1
        and isinstance(_values(value)[0], dict | list)
    ):
        value = _values(value)[0]
    return value


def _bodies(answer: str) -> list[str]:
    """Return the texts of an answer in which items are searched, without bullets and line numbers.

    The first text is the whole answer. If it has a colon, the second is what follows the first
    colon.
    """
    plain = "\n".join(_BULLET.sub("", line) for line in answer.splitlines())
    return [plain, plain.partition(":")[2]] if ":" in plain else [plain]


def _values(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else [value]


def _has_expected_words(text: str, expected: GradedQuestion) -> bool:
    """Return True if the words and numbers of `text` are exactly those of the expected items."""
    if isinstance(parse_structure(text), dict | list) or any(
        re.search(r"[{\[(]\s*['\"]", line) for line in text.splitlines()
    ):
        return False
    tokens = _tokens(text)
    items = [_tokens(" ".join(map(str, _values(item)))) for item in expected.answer]

    def follows(item: Sequence[str], at: int) -> bool:
        return len(tokens) >= at + len(item) and all(
            _is_same(token, _number_or(one), expected.tolerance)
            for token, one in zip(tokens[at:], item, strict=False)
        )

    at = 0
    left = list(range(len(items)))
    found: set[int] = set()
    while at < len(tokens):
        choice = (
            left[:1]
            if expected.type == "list"
            else sorted(range(len(items)), key=lambda n: -len(items[n]))
        )
        number = next((number for number in choice if follows(items[number], at)), None)
        if number is None:
            return False
        at = at + len(items[number])
        found = found | {number}
        left = left[1:]
    return len(found) == len(items)


def _tokens(text: str) -> list[str]:
    """Return the words and numbers of `text`, except the word `and`.

    A number such as `2,500` or `-3.5` is one token.
    """
    found = re.findall(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)|[^\W_]+", fold(text))
    return [word for word in found if word != "and"]


def _number_or(token: str) -> Json:
    try:
        return float(token)
    except ValueError:
        return token


def _is_same(item: Json, wanted: Json, tolerance: float) -> bool:
    if isinstance(item, dict) and isinstance(wanted, list):
        return _has_values(item, wanted, tolerance)
    if isinstance(wanted, list):
        if not isinstance(item, list) or len(item) != len(wanted):
            return False
        return all(_is_same(a, b, tolerance) for a, b in zip(item, wanted, strict=True))
    if isinstance(item, dict | list) and len(item) == 1:
        item = _values(item)[0]
    if not isinstance(item, str | int | float) or isinstance(item, bool):
        return False
    if isinstance(wanted, str):
        return folded_words(str(item)) == folded_words(wanted)
    value = whole_number(str(item))
    return value is not None and is_near(value, wanted, tolerance)


def _has_values(item: Mapping[str, Json], wanted: Sequence[Json], tolerance: float) -> bool:
    """Return True if the JSON object `item` has exactly the wanted values, in any order.

    Its keys are ignored.
    """
    left = list(item.values())
    for one in wanted:
        match = next(
            (number for number, other in enumerate(left) if _is_same(other, one, tolerance)), None
        )
        if match is None:
            return False
        del left[match]
    return not left
