"""Kinds of argument values that a program may choose freely, without being told by a tool.

These are small numbers, plain words and measures.
"""

from __future__ import annotations

import re

_SMALL = 100
"""Numbers below this may be hours, counts or limits; this and larger ones are probably ids."""
_LONG_NUMBER = re.compile(r"\d{6,}")
_MEASURES = re.compile(
    r"(^|_)(km|m|mi|miles|ft|feet|kt|kts|knots|mph|kg|lb|lbs|ms|seconds|minutes|hours|days|nights|"
    r"years|usd|eur|percent|radius|distance|limit|count|amount|size|length|width|height|weight|"
    r"population|price|duration)$",
    re.IGNORECASE,
)
"""Names of arguments that are measures, such as `max_price` or `distance`."""


def is_common(value: str | int) -> bool:
    """Return True if a value in a program is so common that it does not count as invented.

    That is a small integer, or a text that is neither a code made of letters and digits nor a long
    number, as `00000091`.
    """
    if isinstance(value, int):
        return abs(value) < _SMALL
    if _LONG_NUMBER.fullmatch(value):
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not (mixed and re.fullmatch(r"[\w-]+", value))


def is_measure(argument: str) -> bool:
    """Return True if the name of an argument is that of a measure, such as `radius`."""
    return _MEASURES.search(argument) is not None
