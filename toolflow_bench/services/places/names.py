"""Functions that normalize place names, and the opaque ids of places."""

from __future__ import annotations

import re

from toolflow_bench.numbers import without_accents
from toolflow_bench.services.database import opaque_id

# A salt for each kind, so that equal numbers of two kinds do not make equal ids.
_SALTS = {
    "st": 0x3A91,
    "ob": 0x77C05,
    "ci": 0x1F00D,
    "co": 0x5E21,
    "cn": 0x9B3,
    "cu": 0xC0DE,
    "tz": 0x2F5A7,
}
_SALTS |= {"us": 0x6D11, "af": 0x4AF1E, "al": 0x16BD3}
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"}
)
# Nearly every airfield has one of these words in its name, so they distinguish nothing.
_COMMON = frozenset({"airport", "airfield", "aerodrome"})


def place_id(kind: str, number: int) -> str:
    """Return the opaque id of the record with this number, such as `ci_x3f6q`.

    `kind` is the prefix of the id, such as `ci` for cities.
    """
    return opaque_id(kind, number, _SALTS)


def plain_words(text: str) -> str:
    """Return a name as lower-case words without accents, separated by single spaces.

    `São Tomé-Île` becomes `sao tome ile`.
    """
    plain = without_accents(text.lower().translate(_LETTERS))
    return " ".join(re.sub(r"[^a-z0-9]+", " ", re.sub(r"['’‘`.]", "", plain)).split())


def telling_words(text: str) -> list[str]:
    """Return the words that distinguish an airfield's name from others (its "telling" words).

    Words such as `airport` are left out, because most names contain them.
    """
    return [word for word in plain_words(text).split() if word not in _COMMON]
