"""Search for airports and airlines by the words in their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

_GIVEN: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("names.yaml").read_text(encoding="utf-8")
)
ALSO_CALLED: Mapping[str, str] = _GIVEN["also_called"]
"""Other names of airports, keyed by the airport's code."""
_SHORT: Mapping[str, str] = _GIVEN["short"]


def plain_words(text: str) -> list[str]:
    """Split a name into lower-case words, with common words abbreviated.

    `Chicago O'Hare International Airport` becomes `chicago`, `ohare`, `intl`.
    """
    plain = re.sub(r"[^a-z0-9]+", " ", re.sub(r"['’.]", "", text.lower())).split()
    return [short for word in plain if (short := _SHORT.get(word, word))]


def search_text(text: str) -> str:
    """Return the text in which `match_score` searches, such as ` la guardia | laguardia `."""
    parts = plain_words(text)
    return f" {' '.join(parts)} | {''.join(parts)} "


def match_score(wanted: Sequence[str], text: str) -> int:
    """Return how well the words `wanted` match a `search_text`, from 0 to 3.

    3: all are whole words in it. 2: all are beginnings of words. 1: all are parts of words. 0:
    there is no match.
    """
    if not wanted:
        return 0
    if all(f" {word} " in text for word in wanted):
        return 3
    if all(f" {word}" in text for word in wanted):
        return 2
    return int(all(word in text for word in wanted) or "".join(wanted) in text.partition("|")[2])
