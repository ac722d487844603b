"""Names as words: one spelling for `flightId`, `flight-id` and `flight_ids`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice

from protocols.vocabulary import VERBS

_LONGEST_COMPARED, _MOST_COMPARED = 80, 1_000
"""Characters of a name, and names, that are compared with one another letter by letter."""


@lru_cache(maxsize=16_384)
def snake(name: str) -> str:
    """`flightId`, `flight-id` → `flight_id`."""
    split = name if len(name) > 200 else re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    return re.sub(r"[^a-z0-9]+", "_", split.lower()).strip("_")


@lru_cache(maxsize=16_384)
def singular(name: str) -> str:
    """`airport_codes` → `airport_code`, `cities` → `city`, `addresses` → `address`."""
    if name.endswith("ies") and len(name) > 4 and name not in ("series", "movies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is", "series")) else name


def alike(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Those of `known` that `name` was probably meant to be, the nearest first; of many, those that begin alike.

    A name that has all its words and more comes first, then one of the same noun, then what only looks like it:
    `fetch_order` is rather `get_order` than `fetch_other`.
    """
    if len(name) > _LONGEST_COMPARED:
        return []
    known = list(known)
    words = _words(name)
    longer = [other for other in known if words <= _words(other)] if len(words) > 1 else []
    nouns = words - VERBS
    same = [other for other in known if nouns and nouns <= _words(other)] if len(words) > 1 else []
    compared = [other for other in known if len(other) <= _LONGEST_COMPARED]
    if len(compared) > _MOST_COMPARED:
        begins_alike = (other for other in compared if other[:2].casefold() == name[:2].casefold())
        compared = list(islice(begins_alike, _MOST_COMPARED))
    close = get_close_matches(name, compared, n=most, cutoff=cutoff)
    same.sort(key=lambda other: (len(_words(other) - nouns), other not in close, len(other)))
    begins = f"{snake(name)}_"
    longer.sort(key=lambda other: (not f"{snake(other)}_".startswith(begins), len(other)))
    return list(dict.fromkeys([*longer, *same, *close]))[:most]


def _words(name: str) -> set[str]:
    return {singular(word) for word in snake(name).split("_")}
