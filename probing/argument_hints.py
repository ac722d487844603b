"""Hints: facts about one argument of a tool that an error reply states.

For example, "limit must be at most 50" states the largest value of the argument `limit`. The
functions of this module read a single clause, that is, one statement of a reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from probing.name_distance import FORMAT_PHRASES, REPLY_PATTERNS, TYPE_WORDS
from protocols.schema import Json

HintKind = Literal[
    "missing", "any_of", "unknown", "type", "enum", "range", "length", "pattern", "format",
    "not_found", "refused",
]  # fmt: skip
"""Kinds of hints.

- `missing`: the argument is required.
- `any_of`: this argument, or another one that the reply names, is required.
- `unknown`: there is no such argument.
- `type`, `enum`, `range`, `length`, `pattern`, `format`: a restriction of its value.
- `not_found`: its value is well-formed, but no record with this value exists.
- `refused`: the reply names the argument, and nothing more can be read from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentHint:
    """One fact that an error reply states about one argument."""

    kind: HintKind
    argument: str = ""
    """The argument's name in the tool's source, such as its OpenAPI document."""
    types: tuple[str, ...] = ()
    values: tuple[Json, ...] = ()
    """The allowed values of an `enum`."""
    minimum: float | None = None
    maximum: float | None = None
    """`minimum` and `maximum` are inclusive limits. If `kind` is `range`, they limit the value; if
    it is `length`, the number of characters or elements. None: no limit."""
    pattern: str = ""
    format: str = ""
    text: str = ""
    """The clause of the reply that states the fact, at most 200 characters."""


_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
_LISTED = re.compile(
    r"(?:one of|among|(?:allowed|available|valid|known|supported|possible|permitted) \w+\b(?: are"
    r"| include)?"
    r"|choose from|should be|expected)\W{0,4}"
    r"((?:['\"`\[]?[\w./:+-]+['\"`\]]?(?:, (?:or |and )?| or | and |\|))+['\"`\[]?[\w./:+-]+)",
    re.IGNORECASE,
)
_PART = r"(?:%[YmdHMS]|(?i:YYYY|MM|DD|HH|SS)(?![A-SU-Za-su-z]))"
_MASK = re.compile(rf"(?<![\w%]){_PART}(?:[-/.:, T]{{1,2}}{_PART})+")
_BETWEEN = re.compile(
    rf"(?:from|between|range|in) \W?{_NUMBER}(?: to | and |-|\.\.|, ?|–){_NUMBER}"
    rf"|{_NUMBER} to {_NUMBER} (?:character|letter|item|element)"
)
_ABOVE = "(?:greater|more|larger|longer) than"
_BELOW = "(?:less|fewer|smaller|lower|shorter) than"
_NOT = "(?:not be|not have|no) "
_SIMPLY = "(?<!not be )(?<!not have )(?<!no )"
_LEAST = re.compile(
    rf"(?:at least|minimum(?: is| of|:)?|{_NOT}{_BELOW}|{_SIMPLY}{_ABOVE}(?: or equal to)?"
    rf"|>=?) ?{_NUMBER}"
)
_MOST_OF = re.compile(
    rf"(?:at most|maximum(?: is| of|:)?|exceeds?|up to|<=?|{_NOT}{_ABOVE}|{_SIMPLY}{_BELOW}(?: or"
    rf" equal to)?) "
    rf"?{_NUMBER}"
)


def read_requirement(words: str) -> list[ArgumentHint]:
    """Return hints on what a clause of a reply requires of a value.

    The field `argument` of each hint is empty: the caller finds out which argument is meant.
    """
    words = re.sub(
        r",? (?:but )?(?:got|found|was|received):? .*|, (?:but )?not .*", "", words[:8_000]
    )
    low = words[:600].lower()
    if REPLY_PATTERNS["unknown"].search(low):
        return [ArgumentHint(kind="unknown")]
    if "at least one of" in low:
        return [ArgumentHint(kind="any_of")]
    found = [ArgumentHint(kind="missing")] if REPLY_PATTERNS["missing"].search(low) else []
    if values := _listed_values(words):
        return [*found, ArgumentHint(kind="enum", values=values)]
    found += _read_bounds(low)
    if pattern := _pattern_in(words, low):
        found.append(ArgumentHint(kind="pattern", pattern=pattern))
    found += _read_type(low, found)
    if not found and REPLY_PATTERNS["lost"].search(low):
        return [ArgumentHint(kind="not_found")]
    return found


def _listed_values(words: str) -> tuple[str, ...]:
    """Return the allowed values that a clause lists, or an empty tuple."""
    match = _LISTED.search(words[:4_000])
    if not match:
        return ()
    parts = [part.strip(" '\"`[]().") for part in re.split(r",|\bor\b|\band\b|\|", match[1])]
    values = tuple(part for part in parts if part and " " not in part)
    names_types = any(value.lower() in TYPE_WORDS for value in values)
    return values if len(values) > 1 and not names_types else ()


def _pattern_in(words: str, low: str) -> str:
    """Return the regular expression that a value must match, or "" if the clause requires none.

    `words` is the clause, and `low` is the same text in lower case.
    """
    if matched := REPLY_PATTERNS["matched"].search(words[:4_000]):
        return matched[1] or matched[2]
    if "isoformat" in low:  # Python's own word, for dates and times alike
        return r"^\d{4}-\d{2}-\d{2}"
    mask = _MASK.search(words[:600])
    if not mask or mask[0].upper() in ("YYYY-MM-DD", "%Y-%M-%D"):
        return ""
    text = mask[0].replace(".", r"\.")
    form = re.sub(_PART, lambda part: r"\d{4}" if "y" in part[0].lower() else r"\d{1,2}", text)
    return f"^{form}$"


def _read_type(low: str, found: list[ArgumentHint]) -> list[ArgumentHint]:
    """Return a hint on the type or format that a lower-case clause requires, or an empty list.

    `found` has the hints that were read from this clause before. The clause is searched for a
    format only if `found` is empty.
    """
    typed = REPLY_PATTERNS["typed"].search(low)
    if typed and not any(hint.kind == "length" for hint in found):
        return [ArgumentHint(kind="type", types=(TYPE_WORDS[typed[1]],))]
    if "true or false" in low:
        return [ArgumentHint(kind="type", types=("boolean",))]
    if found or not re.search(r"valid|format|must be|should be|expected|parse|convert|is not", low):
        return []
    for pattern, form in FORMAT_PHRASES.items():
        if re.search(pattern, low):
            return [ArgumentHint(kind="format", format=form)]
    return []


def _read_bounds(low: str) -> list[ArgumentHint]:
    """Return a hint on the range or length that a lower-case clause requires, or an empty list.

    "Less than 10" is read as "at most 10", because replies often confuse the two.
    """
    is_length = re.search(r"character|letter|\blong\b|length|short|items?\b|elements?\b", low)
    least = _LEAST.search(low)
    most = _MOST_OF.search(low)
    minimum = least[1] if least else None
    maximum = most[1] if most else None
    if both := _BETWEEN.search(low):
        minimum = both[1] or both[3]
        maximum = both[2] or both[4]
    elif "positive integer" in low:
        minimum = "1"
    if not minimum and not maximum:
        return []
    return [
        ArgumentHint(
            kind="length" if is_length else "range",
            minimum=_number(minimum) if minimum else None,
            maximum=_number(maximum) if maximum else None,
        )
    ]


def _number(value: str) -> float:
    number = float(value.replace(",", ""))
    return int(number) if number.is_integer() and "." not in value else number
