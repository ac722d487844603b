"""The random mark that a probing puts into all that it creates, so that it is known again as its own."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Mapping
from posixpath import dirname, splitext
from typing import Any

from probing.log import Log
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, validator

_NOTE = "mark"
_LETTERS = 8
_LONG = 64
_PLACED = {
    "email": "{}@example.com",
    "hostname": "{}.example.com",
    "idn-email": "{}@example.com",
    "iri": "https://example.com/{}",
    "uri": "https://example.com/{}",
    "url": "https://example.com/{}",
}
"""Where the mark stands in a text of some format."""
_FIXED = frozenset({"byte", "date", "date-time", "duration", "ipv4", "ipv6", "time"})
"""Formats in which it can stand nowhere."""


class Mark:
    """The mark of one probing. The same folder has the same mark, however often the command is run."""

    def __init__(self, log: Log) -> None:
        if _NOTE not in log.notes:
            letters = random.SystemRandom()
            log.note(_NOTE, "".join(letters.choice("bcdfghjkmnpqrstvwxz") for _ in range(_LETTERS)))
        self.token = str(log.notes[_NOTE])
        seeded = random.Random(self.token)  # noqa: S311 - the token itself is drawn by the system
        self._number = seeded.randrange(10**8, 10**9)
        self._uuid = str(uuid.UUID(int=seeded.getrandbits(128), version=4))
        self.text = f"{self.token}-atc-probe"  # what is cut off behind is not what tells it apart

    def on(self, value: Json) -> bool:
        """Whether a text or a number carries the mark."""
        if isinstance(value, str):
            return self.token in value.lower() or value.lower() == self._uuid or value == str(self._number)
        return value == self._number and not isinstance(value, bool)

    def put(self, value: Json, schema: Json, root: JsonObject, *, key: bool = False) -> Json:
        """`value` with the mark in each text, as far as its schema allows; in a `key`, numbers are replaced too."""
        clauses: Mapping[str, Any] = resolve(schema, root) if isinstance(schema, Mapping) else {}
        match value:
            case list():
                return [self.put(part, clauses.get("items", {}), root, key=key) for part in value]
            case Mapping():
                inner = clauses.get("properties", {})
                return {name: self.put(part, inner.get(name, {}), root) for name, part in value.items()}
            case str():
                return next((text for text in self._texts(value, clauses) if _allows(clauses, root, text)), value)
            case int() if key and not isinstance(value, bool) and _allows(clauses, root, self._number):
                return self._number
            case _:
                return value

    def _texts(self, value: str, clauses: Mapping[str, Any]) -> list[str]:
        """What may stand for a text, best first; nothing where it is one of few, or a time."""
        form = str(clauses.get("format", ""))
        if self.on(value) or "enum" in clauses or "const" in clauses or form in _FIXED or is_measure(value):
            return []
        if form == "uuid":
            return [self._uuid]
        if form not in _PLACED and re.fullmatch(r"[^@\s]+@[^@\s]+", value):
            form = "email"
        elif form not in _PLACED and "://" in value:
            form = "uri"
        if form in _PLACED:
            return [_PLACED[form].format(self.text)]
        if len(value) >= _LONG:
            return [self.text + value[len(self.text) :]]
        if "/" in value.strip("/."):
            return [f"{dirname(value)}/{self.text}{splitext(value)[1]}"]
        if not re.fullmatch(r"[\w .,!?*/-]*", value):
            return [f"{self.text}-{value}"]
        return [self.text, self.token, self.token.upper(), self.token.title(), self._uuid]


def is_measure(text: str) -> bool:
    """Whether a text is a number, a date or a time rather than a word: `2024-01-15T00:00:00Z`, `12:00`."""
    return any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) <= 2


def _allows(clauses: Mapping[str, Any], root: JsonObject, value: Json) -> bool:
    beside = {key: root[key] for key in ("$defs", "definitions") if key in root}
    try:
        return validator({**beside, **clauses}).is_valid(value)
    except (ValueError, RecursionError):
        return True
