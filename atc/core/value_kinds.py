"""Kinds of argument values that a program may choose itself: small numbers, plain words,
measures.
"""

from __future__ import annotations

import re

_SMALL = 100
"""Numbers below it may be hours, counts or limits; those from it on are likely ids."""

_MEASURES = re.compile(
    r"(^|_)(km|m|mi|miles|ft|feet|kt|kts|knots|mph|kg|lb|lbs|ms|seconds|minutes|hours|days|nights|years|usd|eur|percent|"
    r"radius|distance|limit|count|amount|size|length|width|height|weight|population|price|duration)$",
    re.IGNORECASE,
)
"""Names of arguments that are measures."""


def is_common(value: str | int) -> bool:
    """Return True if a value is too common to count as invented: a small integer, or a text that is
    no code.
    """
    if isinstance(value, int):
        return abs(value) < _SMALL
    telling = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not (telling and re.fullmatch(r"[\w-]+", value))


def is_measure(argument: str) -> bool:
    """Return True if an argument of this name is a measure, such as a radius, whose number a
    program may choose.
    """
    return _MEASURES.search(argument) is not None
