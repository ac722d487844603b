"""Recognises from an argument's schema if a model can know or choose values for the argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from atc.core.value_kinds import is_measure
from protocols.schema import types
from protocols.validate import validator

SMALL = 100
"""Integers below this are seldom ids."""
_DATES = (
    "2013-07-04",
    "2013-07",
    "2013-07-04T08:30:00Z",
    "2013-07-04T08:30:00",
    "2013-07-04 08:30:00",
    "07/04/2013",
)
_NO_DATES = ("BOS", "a", "x1", "12", "abcde", "1234567890", "a-b")
_DATE_FORMATS = ("date", "date-time", "time", "duration")
_DATE_NAMES = re.compile(r"(^|_)(date|datetime|day|month|time|since|until)$", re.IGNORECASE)
_OPAQUE = re.compile(r"\[(?=[^\]]*[a-z]-[a-z])(?=[^\]]*\d)[^\]]*\]\{\d+\}")
"""Matches a pattern with a fixed number of characters, each a lower-case letter or a digit."""
_LETTERS = re.compile(r"\[[^\]]*[A-Za-z]-[A-Za-z][^\]]*\]|\{[^}]*\}")
"""Matches character classes with letters, and repetition counts, in a pattern."""


def is_free(argument: str, schema: Mapping[str, Any]) -> bool:
    """Return True if the caller may choose the value freely, as for a date, a flag or a radius."""
    kinds = set(types(schema))
    if kinds and kinds <= {"boolean", "null", "object"}:
        return True
    if kinds and kinds <= {"integer", "number", "null"}:
        most = schema.get("maximum")
        return is_measure(argument) or (isinstance(most, int) and most < SMALL)
    if schema.get("format") in _DATE_FORMATS:
        return True
    matches = _matcher(schema.get("pattern"))
    return matches is not None and any(map(matches, _DATES)) and not any(map(matches, _NO_DATES))


def is_text_of_date(argument: str, schema: Mapping[str, Any]) -> bool:
    """Return True if the argument is an unrestricted string whose name says that it is a date."""
    plain = schema.get("type") == "string" and not schema.keys() & {
        "pattern",
        "enum",
        "const",
        "maxLength",
    }
    return plain and _DATE_NAMES.search(argument) is not None


def has_id_pattern(schema: Mapping[str, Any]) -> bool:
    """Return True if the schema's pattern matches only opaque ids, as `^st_[a-z2-7]{5}$` does."""
    return _OPAQUE.search(str(schema.get("pattern", ""))) is not None


def allows_known_code(schema: Mapping[str, Any]) -> bool:
    """Return True if the schema's pattern allows a code without digits, such as `BOS` for Boston.

    A model may know such codes.
    """
    pattern = schema.get("pattern")
    if not isinstance(pattern, str) or "enum" in schema or has_id_pattern(schema):
        return False
    return re.search(r"\\d|\d", _LETTERS.sub("", pattern)) is None


def _matcher(pattern: Any) -> Any:
    try:
        return validator({"pattern": pattern}).is_valid if isinstance(pattern, str) else None
    except ValueError:
        return None
