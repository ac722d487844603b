"""Whole numbers in what a service sends, within bounds that code can compute with."""

from __future__ import annotations

import re

from protocols.schema import Json

TOO_LARGE = 10**15
"""Whole numbers from this one on are not used: they count nothing that there is."""


def whole_number(value: Json) -> int | None:
    """Return a value as a whole number, also if it is a text of digits; None if it is none."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}", value):
        return int(value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) < TOO_LARGE else None
