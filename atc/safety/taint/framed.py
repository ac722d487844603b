"""Search for fields that are written as in JSON within a longer text, and for their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from protocols.schema import Json, JsonObject

_QUOTES = "\"'`“”‘’"
_CLOSING = str.maketrans("“‘", "”’")
_BLANK = r"[\s\x00\ufeff\u200b]*+"
_PART = re.compile(
    rf"(?<=[{_QUOTES}])(?=(?P<quoted>[^{_QUOTES}\\]{{1,400}})(?:\\*[{_QUOTES}]){{1,3}}+"
    rf"(?P<names>{_BLANK}(?::|=>?|/[*/]|\#))?)"
    rf"|(?<![\w{_QUOTES}-])(?=(?P<bare>[^\W\d][\w-]{{0,79}})(?P<colon>{_BLANK}(?::|=>|/[*/])))"
)
_VALUE = re.compile(
    rf"{_BLANK}(?P<opened>\\*[{_QUOTES}]{{1,3}}+)(?P<quoted>[^{_QUOTES}\\]*)"
    rf"(?P<closed>\\*[{_QUOTES}]{{1,3}}+)"
    rf"|{_BLANK}(?P<bare>[^{_QUOTES},;&{{}}[\]\n<]{{0,1000}})"
)
_BEHIND = re.compile(rf"{_BLANK}(?:[,;&)}}\]<]|\Z)")
_OPENING = re.compile(rf"{_BLANK}(?=[\[{{\"])")


class Part(NamedTuple):
    """A quoted text within a longer text. It may be the name of a field, as in `"amount": 5`.

    `start` is its position. If it is a name, `after` is the position at which the field's value
    begins; otherwise it is None.
    """

    text: str
    start: int
    after: int | None


def find_parts(text: str) -> Iterator[Part]:
    """Yield every possible field name and every quoted text in a text, in order.

    Any quotation mark may open or close a quoted text, so what is between any two of them is
    yielded. A name without quotation marks counts only after a brace.
    """
    brace = text.find("{")
    for match in _PART.finditer(text):
        if match["quoted"] is not None:
            after = match.end("names") if match["names"] else None
            yield Part(match["quoted"], match.start(), after)
        elif 0 <= brace < match.start():
            yield Part(match["bare"], match.start(), match.end("colon"))


def value_at(text: str, start: int) -> tuple[Json, int]:
    """Return the value of a field that begins at the index `start` of a text, and where it ends.

    Raises:
        ValueError: parsers may disagree on where the value ends, because it is neither JSON nor
            plain text, or because the text after it may be a part of it.
    """
    try:
        opening = _OPENING.match(text, start)
        if opening is None:
            value, end = _scalar_at(text, start)
        else:
            value, end = _STRICT.raw_decode(text, opening.end())
    except (ValueError, RecursionError):
        value, end = _scalar_at(text, start)
    if _BEHIND.match(text, end) is None:
        raise ValueError("something else stands behind it")
    return value, end


def _scalar_at(text: str, start: int) -> tuple[Json, int]:
    """Return the scalar that begins at the index `start` of a text, and where it ends.

    A scalar is a text, a number or the like, but no list or object.

    Raises:
        ValueError: it is unclear where the scalar ends.
    """
    match = _VALUE.match(text, start)
    assert match is not None  # the pattern also matches nothing
    if match["opened"] is not None:
        if match["closed"] != match["opened"].translate(_CLOSING):
            raise ValueError("an unclear end")
        return match["quoted"], match.end()
    plain = match["bare"].strip()
    with suppress(ValueError):
        return _STRICT.decode(plain), match.end()
    return (None if plain in ("None", "undefined") else plain), match.end()


def parse_unambiguous(text: str) -> Json:
    """Return the list, object or text that a JSON text encodes, if every JSON parser agrees on it.

    Return None for any other text, for instance JSON in which an object repeats a key.
    """
    try:
        value: Json = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def _reject_duplicates(pairs: list[tuple[str, Json]]) -> JsonObject:
    """Return a JSON object with the members `pairs`. Raise ValueError if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


_STRICT = json.JSONDecoder(object_pairs_hook=_reject_duplicates)
