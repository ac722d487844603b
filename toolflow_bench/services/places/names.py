"""Finding places by the words that people use for them, and the ids that they have."""

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
# Nearly every airfield has one of these; they tell nothing apart.
_COMMON = frozenset({"airport", "airfield", "aerodrome"})


def place_id(kind: str, number: int) -> str:
    """The opaque id of the thing of this number: `ci_x3f6q`. `kind` is one of the prefixes."""
    return opaque_id(kind, number, _SALTS)


def plain_words(text: str) -> str:
    """Plain lower-case words with one space between: `São Tomé-Île` → `sao tome ile`."""
    plain = without_accents(text.lower().translate(_LETTERS))
    return " ".join(re.sub(r"[^a-z0-9]+", " ", re.sub(r"['’‘`.]", "", plain)).split())


def telling_words(text: str) -> list[str]:
    """The words of an airfield's name that tell it from others."""
    return [word for word in plain_words(text).split() if word not in _COMMON]
