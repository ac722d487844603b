"""Kinds of argument values that programs may choose freely: small numbers, plain words, measures."""

from __future__ import annotations

import re

_SMALL = 100
"""Below it a number may be an hour, a count or a limit; from it on it is likely an id."""

_MEASURES = re.compile(
    r"(^|_)(km|m|mi|miles|ft|feet|kt|kts|knots|mph|kg|lb|lbs|ms|seconds|minutes|hours|days|nights|years|usd|eur|percent|"
    r"radius|distance|limit|count|amount|size|length|width|height|weight|population|price|duration)$",
    re.IGNORECASE,
)
"""Names of arguments whose numbers are measures: a program may choose how wide it looks, as a person would."""


def is_common(value: str | int) -> bool:
    """Return True if a value is too common to count as invented.

    Small integers are, and texts that are no code of letters and digits.
    """
    if isinstance(value, int):
        return abs(value) < _SMALL
    telling = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not (telling and re.fullmatch(r"[\w-]+", value))


def is_measure(argument: str) -> bool:
    """Return True if an argument of this name is a measure, whose number a program may choose."""
    return _MEASURES.search(argument) is not None
