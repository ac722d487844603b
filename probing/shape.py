"""What a value looks like, apart from what it says: by this, values of one kind are told from others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from probing.infer.formats import common_format
from protocols.jsontypes import Json

_LONGEST = 300
"""Characters of a text that is looked at; a longer one is prose."""

_LONGEST_BYTES = 2_000

_COMMON = frozenset({
    "a", "active", "all", "any", "asc", "closed", "default", "desc", "error", "failed", "false", "female", "high",
    "inactive", "low", "male", "medium", "n/a", "na", "nan", "new", "no", "none", "normal", "null", "off", "ok", "on",
    "open", "other", "pending", "success", "test", "true", "unknown", "yes",
})  # fmt: skip
_SMALL = 10_000
"""Whole numbers below this are counts, years and positions in lists as often as ids."""
_DECIMALS = 3


def text_of(value: Json) -> str:
    """A scalar as it is written in a URL: `5` and `"5"` are one value there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


@lru_cache(maxsize=65_536)
def shape(text: str) -> tuple[tuple[str, int], ...]:
    """The parts of a text between signs, by what they are of and how long: `tm_8xz1q` → `(a, 2) (_, 1) (x, 5)`.

    `A` and `a` are of letters alone, `9` of digits, `x` of both.
    """
    return tuple((_kind(part), len(part)) for part in re.findall(r"[^\W_]+|[\W_]", text[:_LONGEST]))


@lru_cache(maxsize=16_384)
def format_of(text: str) -> str:
    """The JSON Schema format that a text has (`date`, `uuid` …); empty for none."""
    if len(text) > _LONGEST or not re.search(r"[-:@]", text):
        return ""
    return common_format((text,)) or ""


def look(value: Json) -> str:
    """The kind of a value, coarser than its shape: `number`, a format, `text` for several words, `token` for one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    text = text_of(value)
    if re.fullmatch(r"[-+]?\d+(\.\d+)?", text[:_LONGEST]):
        return "number"
    return format_of(text) or ("text" if len(text.split()) != 1 else "token")


def alike(value: Json, others: Iterable[Json]) -> bool:
    """Whether a value looks as one of the others does: the same signs, and between them parts of the same make.

    Words of letters alone are alike only when they are codes of one length: all prose would be alike otherwise.
    """
    return any(_alike(value, other) for other in others)


def distinctive(value: Json) -> bool:
    """Whether two places that hold this value hold the same thing: an id or a code, not a count, a date or prose."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, float):
        return len(repr(value).rpartition(".")[2]) >= _DECIMALS
    text = text_of(value).strip()
    if re.fullmatch(r"[-+]?\d+", text):
        return abs(int(text[:_LONGEST])) >= _SMALL
    if len(text) < 2 or len(text) > _LONGEST or text.lower() in _COMMON or re.fullmatch(r"[-+]?[\d.]+", text):
        return False
    return len(text.split()) <= 2 and format_of(text) not in ("date", "date-time")


def is_id(value: Json) -> bool:
    """Whether a value is an id or a code by its look, whatever its name: distinctive, and no word."""
    return distinctive(value) and not plain_word(value)


def is_content(value: Json) -> bool:
    """Whether a text is what a file holds, and names nothing: several lines, or bytes in base64."""
    if not isinstance(value, str):
        return False
    return (
        "\n" in value
        or re.fullmatch(r"[A-Za-z0-9+/]{6,}={1,2}|[A-Za-z0-9+/]{400,}", value[:_LONGEST_BYTES]) is not None
    )


def plain_word(value: Json) -> bool:
    """Whether a text is a word of small letters as any language has them, which says little about what it is of."""
    return isinstance(value, str) and re.fullmatch(r"[^\W\d_]?[^\W\d_A-Z]*( [^\W\d_]+)*", value) is not None


def _alike(value: Json, other: Json) -> bool:
    if isinstance(value, bool) or isinstance(other, bool):
        return isinstance(value, bool) and isinstance(other, bool)
    return _texts_alike(text_of(value), text_of(other))


@lru_cache(maxsize=65_536)
def _texts_alike(one: str, two: str) -> bool:
    if (form := format_of(two)) or format_of(one):
        return format_of(one) == form
    mine, its = shape(one), shape(two)
    if len(mine) != len(its):
        return False
    if mine == its:
        return True
    if [kind for kind, _ in its] == ["9"]:
        return mine[0][0] == "9" and abs(len(one) - len(two)) <= 1
    return all(map(_parts_alike, mine, its)) and any(kind in "9x" for kind, _ in (*mine, *its))


def _parts_alike(one: tuple[str, int], two: tuple[str, int]) -> bool:
    """Whether both are of the same, and as long where letters alone tell; a random part may happen to lack digits."""
    if one[0] == two[0]:
        return one[1] == two[1] or one[0] in "9x"
    return one[1] == two[1] and "x" in (one[0], two[0])


def _kind(part: str) -> str:
    if part.isdigit():
        return "9"
    if part.isalpha():
        return "A" if part.isupper() else "a"
    return "x" if part.isalnum() else part
