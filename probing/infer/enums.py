"""Enums of strings: stated only where the values look like a closed list and keep coming back in reply after reply.

A wrong enum is worse than none: it turns a good answer into a departure from the protocol.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from protocols.vocabulary import ID_WORDS

_CLOSED = frozenset({
    "availability", "direction", "gender", "level", "method", "mode", "outcome", "phase", "plan", "priority",
    "role", "scope", "severity", "stage", "state", "status", "tier", "type", "kind", "unit", "units", "visibility",
})  # fmt: skip
"""Last words of names of fields that hold one of a few words."""

_OPEN = frozenset({
    "address", "author", "brand", "city", "comment", "company", "content", "country", "description", "label",
    "location", "maker", "manufacturer", "message", "model", "name", "note", "owner", "place", "summary", "tag", "tags",
    "text", "title", "user", "value",
})  # fmt: skip
"""Last words of names of fields that hold names and free text."""

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[ _./-][A-Za-z0-9]+){0,3}")
_LOWER = re.compile(r"[a-z][a-z0-9]{2,}(?:[_-][a-z0-9]+){0,3}")
_CODE = re.compile(r"[A-Z0-9]{1,3}")
_LONGEST = 32


def enum_of(seen: Mapping[tuple[str, int], int], name: str) -> list[str] | None:
    """The values of an enum, sorted; None for what is none. `seen`: (string, number of its reply) → how often.

    Between 2 and 12 different words under a name such as `status` or `type`: on average five values for each word,
    each word in at least two replies, over at least three replies. Under another name: at most 6 words in lower case,
    ten values for each, each word in at least three replies, over at least five. Ids, names and codes never.
    """
    word = _last_word(name)
    if word in ID_WORDS or word in _OPEN:
        return None
    closed = word in _CLOSED
    most, each, spread, replies = (12, 5, 2, 3) if closed else (6, 10, 3, 5)
    per_word = Counter(value for value, _ in seen)  # in how many replies
    if not 2 <= len(per_word) <= most or min(per_word.values()) < spread:
        return None
    if len({reply for _, reply in seen}) < replies or sum(seen.values()) < each * len(per_word):
        return None
    shape = _TOKEN if closed else _LOWER
    if all(map(_CODE.fullmatch, per_word)):
        return None
    fits = all(len(value) <= _LONGEST and shape.fullmatch(value) for value in per_word)
    return sorted(per_word) if fits else None


def _last_word(name: str) -> str:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return words[-1].lower() if words else ""
