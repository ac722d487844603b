"""Questions about the regular expressions of schemas: what can match, what both match."""

from __future__ import annotations

import re
from functools import lru_cache

from protocols.text_arguments import is_number_text
from protocols.validate import validator

_LONGEST = 1_000
"""Maximum length, in characters, of a string that is matched against a pattern."""
NUMBER_TEXTS = [digit * length for digit in "15" for length in range(1, 21)] + [
    f"{'1' * whole}.{'1' * part}" for whole in range(1, 14) for part in range(1, 10)
]
"""Numbers as texts of different lengths, with which a pattern is tried."""


@lru_cache(maxsize=1024)
def can_match(pattern: str, text: str) -> bool:
    """Return True if a string matches the pattern of a schema, or if this cannot be decided."""
    try:
        return len(text) > _LONGEST or validator({"pattern": pattern}).is_valid(text)
    except ValueError:
        return True


@lru_cache(maxsize=1024)
def can_be_number(pattern: str) -> bool:
    """Return True if a text that matches the pattern of a schema can be a number.

    The pattern is tried with numbers of different lengths, after its literal prefix, if it has one.
    """
    try:
        matches = validator({"pattern": pattern}).is_valid
    except ValueError:
        return True
    texts = (prefix + text for prefix in ("", *_beginnings(pattern)) for text in NUMBER_TEXTS)
    return any(is_number_text(text) and matches(text) for text in texts)


_BEGINNING = re.compile(r"\^(?:\(([\w|-]+)\))?([\w-]*)(?=[\[(\\.$])")


def are_disjoint(one: str, other: str) -> bool:
    """Return True if it is certain that no string matches both regular expressions.

    This is known if they start with different literal prefixes, as patterns of ids do.
    """
    first = _beginnings(one)
    second = _beginnings(other)
    return bool(first and second) and not any(
        a.startswith(b) or b.startswith(a) for a in first for b in second
    )


def _beginnings(pattern: str) -> list[str]:
    """Return the literal prefixes of a regular expression.

    They are `ci_` and `af_` for `^(ci|af)_[a-z2-7]{5}$`. Empty if the expression is of another
    form, so that its prefixes cannot be determined.
    """
    found = _BEGINNING.match(pattern)
    if found is None or "|" in pattern[found.end() :]:
        return []
    return [name + found[2] for name in (found[1] or "").split("|")]
