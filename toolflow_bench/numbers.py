"""Functions that read words, numbers and structures (lists and objects) in an answer's text."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator

from protocols.python_source import evaluate_literal
from protocols.schema import Json

_LONGEST_STRUCTURE = (
    200_000  # characters; beyond, the parsers' recursion and time are not worth a verdict
)
_CLOCK = re.compile(
    r"(?<!\w)(?:\d{4}-\d{2}-\d{2}(?:[T "
    r"]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?|\d{1,2}:\d{2}(?::\d{2})?)(?!\w)"
)
_NUMBER = re.compile(
    r"(?<![\w.])"  # not within a name, a version or another number
    r"(?P<value>(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)"
    r"(?![\d]|\.\d|[^\W\d_]+\d)"  # `5f3a` is a name; `5km` is a number
)
_MINUS = re.compile(r"(?:^|[^\w.)\]])[-−][$€£]?$")


def fold(text: str) -> str:
    """Return `text` in lower case, without accents and without apostrophes inside words."""
    return re.sub(r"(?<=\w)['’](?=\w)", "", without_accents(text).casefold())


def without_accents(text: str) -> str:
    """Return `text` without accents and with ligatures replaced by their letters."""
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character)
    )


def folded_words(text: str) -> list[str]:
    """Return the words of `text` in lower case, without accents and punctuation."""
    return re.findall(r"[^\W_]+", fold(text))


def find_numbers(text: str) -> list[float]:
    """Return the numbers in `text`, in order.

    Dates, times, infinities and digits in names are not numbers. If `text` is a JSON or Python
    structure, return the numbers among its values.
    """
    value = parse_structure(text)
    if isinstance(value, dict | list):
        return [
            found[0]
            for leaf in leaves(value)
            if not isinstance(leaf, bool)
            for found in _spans(str(leaf))
        ]
    return [number for number, _, _ in _spans(text)]


def whole_number(text: str) -> float | None:
    """Return the number if `text` is a single number (`$1,234.50`, `12 km`, `[5]`), else None.

    At most three words may follow the number.
    """
    value = parse_structure(text)
    if isinstance(value, dict | list):
        found = leaves(value)
        if isinstance(value, dict) or len(found) != 1 or isinstance(found[0], bool):
            return None
        text = str(found[0])
    spans = _spans(text)
    if len(spans) != 1:
        return None
    number, start, end = spans[0]
    return number if not folded_words(text[:start]) and len(folded_words(text[end:])) <= 3 else None


def is_near(value: float, wanted: float, tolerance: float) -> bool:
    """Return True if two numbers differ by at most `tolerance`, apart from rounding errors."""
    slack = 1e-9 * max(1.0, abs(wanted))  # what binary fractions lose
    return abs(value - wanted) <= tolerance + slack


def parse_structure(text: str) -> Json:
    """Parse `text` as a list or object in JSON or Python notation, or return None.

    Tuples and sets become lists.
    """
    stripped = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if len(stripped) > _LONGEST_STRUCTURE or not stripped.startswith(("[", "{", "(", "set(")):
        return None
    try:
        return _plain(json.loads(stripped))
    except (ValueError, RecursionError):
        pass
    if stripped == "set()":
        return []
    try:
        return _plain(evaluate_literal(stripped))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def leaves(value: Json) -> list[Json]:
    """Return the values inside a structure that are not lists or objects. Keys are not included."""
    return [leaf for _, leaf in leaf_places(value)]


def leaf_places(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the path and value of each value in a structure that is not a list or object.

    In a path, `*` replaces any list index: `/flights/*/id`.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaf_places(part, f"{path}/{key}")
    elif isinstance(value, list):
        for part in value:
            yield from leaf_places(part, f"{path}/*")
    else:
        yield path, value


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    return value


def _spans(text: str) -> list[tuple[float, int, int]]:
    """Return each number in `text` with its start (including the sign) and its end."""
    masked = _CLOCK.sub(lambda match: "x" * len(match.group()), text)
    found = []
    for match in _NUMBER.finditer(masked):
        value = float(re.sub(r"[,\u00a0\u202f]", "", match["value"]))
        negative = _MINUS.search(masked[max(0, match.start() - 3) : match.start()]) is not None
        if math.isfinite(value):
            found.append((-value if negative else value, match.start(), match.end()))
    return found
