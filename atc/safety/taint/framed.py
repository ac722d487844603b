"""Reads JSON values, and fields in the style of JSON, within a text."""

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
    """The name of a field, or another quoted text.

    `after` is the start of the field's value, or None.
    """

    text: str
    start: int
    after: int | None


def find_parts(text: str) -> Iterator[Part]:
    """Yield every possible field name and quoted text, in order.

    It is not decided which quote opens and which closes, so the text between any two quotes counts.
    A name without quotes counts only after a brace.
    """
    brace = text.find("{")
    for match in _PART.finditer(text):
        if match["quoted"] is not None:
            after = match.end("names") if match["names"] else None
            yield Part(match["quoted"], match.start(), after)
        elif 0 <= brace < match.start():
            yield Part(match["bare"], match.start(), match.end("colon"))


def value_at(text: str, start: int) -> tuple[Json, int]:
    """Return the value that begins at `start`, and its end.

    Raises:
        ValueError: parsers may disagree on where the value ends. It is neither JSON nor plain text,
            or the text after it may belong to it.
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
    """Read a text, a number or another scalar. Raises ValueError as `value_at` does."""
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
    """Return the list, object or text in a JSON text that all parsers read alike, else None."""
    try:
        value: Json = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list | str) else None


def _reject_duplicates(pairs: list[tuple[str, Json]]) -> JsonObject:
    """Return the object with these members. Raises ValueError if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


_STRICT = json.JSONDecoder(object_pairs_hook=_reject_duplicates)
