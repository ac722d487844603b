"""Values framed in a text: JSON within it, and fields in the style of JSON."""

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
    rf"(?<=[{_QUOTES}])(?=(?P<quoted>[^{_QUOTES}\\]{{1,400}})(?:\\*[{_QUOTES}]){{1,3}}+(?P<names>{_BLANK}(?::|=>?|/[*/]|\#))?)"
    rf"|(?<![\w{_QUOTES}-])(?=(?P<bare>[^\W\d][\w-]{{0,79}})(?P<colon>{_BLANK}(?::|=>|/[*/])))"
)
_VALUE = re.compile(
    rf"{_BLANK}(?P<opened>\\*[{_QUOTES}]{{1,3}}+)(?P<quoted>[^{_QUOTES}\\]*)(?P<closed>\\*[{_QUOTES}]{{1,3}}+)"
    rf"|{_BLANK}(?P<bare>[^{_QUOTES},;&{{}}[\]\n<]{{0,1000}})"
)
_BEHIND = re.compile(rf"{_BLANK}(?:[,;&)}}\]<]|\Z)")
_OPENING = re.compile(rf"{_BLANK}(?=[\[{{\"])")


class Part(NamedTuple):
    """A field's name or another quoted text, found in a text. `after`: where the value of a field begins."""

    text: str
    start: int
    after: int | None


def find_parts(text: str) -> Iterator[Part]:
    """Every place where a reader could see the name of a field or a quoted text, in order.

    Which quote opens and which closes is not decided: what stands between any two counts. A name without quotes
    counts behind a brace.
    """
    brace = text.find("{")
    for match in _PART.finditer(text):
        if match["quoted"] is not None:
            yield Part(
                match["quoted"], match.start(), match.end("names") if match["names"] else None
            )
        elif 0 <= brace < match.start():
            yield Part(match["bare"], match.start(), match.end("colon"))


def value_at(text: str, start: int) -> tuple[Json, int]:
    """The value that begins there, and where it ends.

    Raises:
        ValueError: readers may differ on where it ends: it is no JSON and no plain text in quotes or without any, or
            what stands behind it may belong to it.
    """
    try:
        begin = _OPENING.match(text, start)
        value, end = (
            _STRICT.raw_decode(text, begin.end()) if begin is not None else _scalar_at(text, start)
        )
    except (ValueError, RecursionError):
        value, end = _scalar_at(text, start)
    if _BEHIND.match(text, end) is None:
        raise ValueError("something else stands behind it")
    return value, end


def _scalar_at(text: str, start: int) -> tuple[Json, int]:
    match = _VALUE.match(text, start)
    assert match is not None  # it may be empty
    if match["opened"] is not None:
        if match["closed"] != match["opened"].translate(_CLOSING):
            raise ValueError("an unclear end")
        return match["quoted"], match.end()
    plain = match["bare"].strip()
    with suppress(ValueError):
        return _STRICT.decode(plain), match.end()
    return (None if plain in ("None", "undefined") else plain), match.end()


def parse_unambiguous(text: str) -> Json:
    """The list, object or text that a text is as JSON, where every reader finds the same in it; None otherwise."""
    try:
        held: Json = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict | list | str) else None


def _reject_duplicates(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


_STRICT = json.JSONDecoder(object_pairs_hook=_reject_duplicates)
