"""The mark of a probing run: a random text by which the records that it created are recognised."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Mapping
from posixpath import dirname, splitext
from typing import Any

from probing.infer import conforms
from probing.samples import Log
from protocols.schema import Json, JsonObject, resolve

_NOTE = "mark"
"""Key of the note in the log that contains the mark."""
_LETTERS = 8
_TEMPLATES = {
    "email": "{}@example.com",
    "hostname": "{}.example.com",
    "uri": "https://example.com/{}",
}
"""How the mark is written in a string, keyed by the string's JSON Schema format."""
_UNMARKABLE = frozenset({"byte", "date", "date-time", "duration", "ipv4", "ipv6", "time"})
"""String formats that cannot contain the mark."""


class ProbeMarker:
    """The mark of one probing run: a random text that is put into every record that it creates.

    It is stored in the log, so a resumed run has the same mark. In a value that must be a number or
    a UUID, a number or UUID that is derived from the text is used instead.
    """

    def __init__(self, log: Log) -> None:
        if _NOTE not in log.notes:
            letters = random.SystemRandom()
            token = "".join(letters.choice("bcdfghjkmnpqrstvwxz") for _ in range(_LETTERS))
            log.note(_NOTE, token)
        self.token = str(log.notes[_NOTE])
        seeded = random.Random(self.token)  # noqa: S311 - the token itself is drawn by the system
        self._number = seeded.randrange(10**8, 10**9)
        self._uuid = str(uuid.UUID(int=seeded.getrandbits(128), version=4))
        # The token comes first, so that a service that cuts texts off keeps it.
        self.text = f"{self.token}-atc-probe"

    def is_in(self, value: Json) -> bool:
        """Return True if a value contains the mark, or is the number or UUID derived from it."""
        if isinstance(value, str):
            return (
                self.token in value.lower()
                or value.lower() == self._uuid
                or value == str(self._number)
            )
        return value == self._number and not isinstance(value, bool)

    def insert_into(
        self, value: Json, schema: Json, root: JsonObject, *, key: bool = False
    ) -> Json:
        """Return a copy of `value` in which strings are replaced by strings that contain the mark.

        A string stays as it is if its schema does not allow the mark, or if it contains the mark
        already.

        Args:
            value: any JSON value.
            schema: the JSON Schema of `value`.
            root: the document in which the references of `schema` are resolved.
            key: True if `value` identifies a record. Then integers are replaced as well.
        """
        clauses: Mapping[str, Any] = resolve(schema, root) if isinstance(schema, Mapping) else {}
        match value:
            case list():
                items = clauses.get("items", {})
                return [self.insert_into(part, items, root, key=key) for part in value]
            case Mapping():
                properties = clauses.get("properties", {})
                return {
                    name: self.insert_into(part, properties.get(name, {}), root)
                    for name, part in value.items()
                }
            case str():
                for text in self._marked_texts(value, clauses):
                    if _is_valid(clauses, root, text):
                        return text
                return value
            case int() if key and not isinstance(value, bool):
                return self._number if _is_valid(clauses, root, self._number) else value
            case _:
                return value

    def _marked_texts(self, value: str, clauses: Mapping[str, Any]) -> list[str]:
        """Return strings that contain the mark and may replace `value` in a call, best first.

        Return an empty list if `value` is a number, a date or a time, if the schema lists the
        allowed values, or if `value` contains the mark already.
        """
        if self.is_in(value) or is_number_or_time(value):
            return []
        form = _format_of(value, clauses)
        if form in _UNMARKABLE or "enum" in clauses or "const" in clauses:
            return []
        if form == "uuid":
            return [self._uuid]
        if form in _TEMPLATES:
            return [_TEMPLATES[form].format(self.text)]
        if "/" in value.strip("/."):
            return [f"{dirname(value)}/{self.text}{splitext(value)[1]}"]
        same_length = self.text + value[len(self.text) :]
        return [
            self.text,
            self.token,
            self.token.upper(),
            self.token.title(),
            self._uuid,
            same_length,
        ]


def is_number_or_time(text: str) -> bool:
    """Return True if a text is a number, date or time: `2024-01-15T00:00:00Z`, `12:00`."""
    return any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) <= 2


def _format_of(value: str, clauses: Mapping[str, Any]) -> str:
    """Return the format of a string: the declared one, or `email` or `uri` if it looks like one.

    Return "" if neither is known.
    """
    declared = str(clauses.get("format", ""))
    if declared in _TEMPLATES or declared in _UNMARKABLE or declared == "uuid":
        return declared
    if re.fullmatch(r"[^@\s]+@[^@\s]+", value):
        return "email"
    if "://" in value:
        return "uri"
    return declared


def _is_valid(clauses: Mapping[str, Any], root: JsonObject, value: Json) -> bool:
    definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return conforms({**definitions, **clauses}, value, otherwise=True)
