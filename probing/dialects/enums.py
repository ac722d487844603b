"""Values that a clause lists: those allowed, examples, and the default."""

from __future__ import annotations

import re

from probing.dialects.bounds import read_multiple
from probing.dialects.formats import is_template
from probing.dialects.listing import Listing, read_list
from probing.dialects.type_words import type_named
from probing.hint import Hint
from protocols.jsontypes import Json

_NOUNS = (
    r"(?:(?:the|these|those|following|allowed|valid|permitted|supported|accepted|available|known|listed|possible"
    r"|predefined|enum|values?|options?|choices?|strings?|members?|items?|types?|formats?|constants?|literals?|set"
    r"|list|of)\s+|(?:values?|options?|choices?|strings?|members?|types?|formats?|enum|following"
    r"|constants?)\b){0,6}"
)
_ENUM = re.compile(
    rf"(?<!least )(?<!exactly )(?<!only )(?<!most )(?<!more than )\b(?:(?:one|any) of|oneof|(?:not "
    rf"|be )in(?= [\[({{]| the (?:set|list|enum|following))|either(?= ['\"`])|be either|chosen from"
    rf"|choose (?:from|between|one of|one)|pick (?:from|one of)|selected from|value set|from the (?:list|set"
    rf"|following))"
    rf"(?! (?:the )?(?:formats?"
    rf"|types?) \d)[ :]\s*{_NOUNS}\s*(?:(?:[a-z\-]{{1,20}}\s+){{0,3}}[a-z\-]{{1,20}}\s*:)?\s*[:=]?\s*"
    r"|\b(?:permitted|allowed|valid|supported|accepted|possible|available|acceptable|legal|recogni[sz]ed|known"
    r"|allowable|expected)"
    r"(?: enum)?(?: (?!(?:arguments?|param\w*|fields?|keys?|methods?|headers?|tools?|operations?|properties"
    r"|attributes|columns?|range|lengths?|commands?|formats?"
    r"|types?)\b)[a-z_\-]{1,30}){0,4}(?:\s+(?P<part>include|such as)|\s+(?:are|is|be)"
    r"|\s*[:=])(?: one of)?(?: the following)?\s*[:=]?\s*"
    r"|\b(?:options?|choices|enum|enumeration)(?: values)?(?: are| is)?\s*[:=]\s*"
    r"|\bchoose from\s*:?\s*|∈\s*",
    re.IGNORECASE,
)
_MUST_BE = re.compile(
    (
        r"\b(?:must|should|can|may|has to|have to|needs to) (?:only )?(?:be|equal)(?: equal to| exactly| set to"
        r"| the value)?\s+(?:either\s+)?|\bexpected:?\s+(?:either\s+)?|\b(?:accepts?|takes?|allows?"
        r"|supports?)(?: only)? (?:either )?|\binvalid [\w ]{1,30}:? expected\s+"
    ),
    re.IGNORECASE,
)
_NO_VALUE = frozenset({
    "a", "absent", "absolute", "after", "alphanumeric", "an", "any", "array", "ascending-order", "at", "be",
    "before", "between", "blank", "bool", "boolean", "compatible", "date", "datetime", "defined", "dict", "earlier",
    "either", "email", "empty", "equal", "even", "exactly", "false", "finite", "float", "from", "given", "greater",
    "higher", "in", "int", "integer", "invalid", "is", "json", "larger", "later", "less", "list", "longer", "lower",
    "lowercase", "match", "more", "negative", "no", "non-empty", "none", "not", "null", "number", "numeric",
    "object", "odd", "of", "omitted", "one", "only", "positive", "present", "provided", "relative", "set",
    "shorter", "smaller", "specified", "string", "text", "than", "the", "time", "true", "undefined", "unique",
    "unset", "up", "uppercase", "uri", "url", "uuid", "valid", "within", "zero",
})  # fmt: skip
_OF_FORMATS = frozenset({"date", "datetime", "email", "json", "text", "time", "uri", "url", "uuid"})
"""Words that ask for a format, and beside other words are values: `must be email or sms`."""
_EXAMPLE = re.compile(
    r"(?<!['\"`‘“])\b(?:such as|e\.g\.|eg\.?(?= )|for example|for instance|examples?(?= ?[:'\"])|like(?= ['\"`]))"
    r"\s*[,:]?\s*",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"\b(?:outside(?: of)?|not (?:in|within|under|inside|below)|must be (?:in|within|under|inside|below))\b"
    r"[^'\"`/\n]{0,60}(?:'(/[^'\n]{1,400})'|\"(/[^\"\n]{1,400})\"|`(/[^`\n]{1,400})`|(/[^\s'\"`,;]{1,400}))",
    re.IGNORECASE,
)
"""The folder in which a path must lie, and which is such a path itself."""
_DEFAULT = re.compile(r"\bdefault(?:s| value)?(?:\s+(?:is|to|of|being))*\s*[:=]?\s*(?=['\"\w-])", re.IGNORECASE)


def read_enum(text: str) -> Hint | None:
    """The values that a clause allows; as examples where there are more."""
    for match in _ENUM.finditer(text):
        listing = read_list(text, match.end(), spaces=True)
        alone = (
            len(listing.values) == 1 and not listing.quoted and not re.search(r"one of|set\b", match[0], re.IGNORECASE)
        )
        if not alone and _is_enum(listing, text):
            return _listed(listing, part=bool(match["part"]))
    for match in _MUST_BE.finditer(text):
        listing = read_list(text, match.end())
        values, rest = listing.values, text[listing.end :].strip(" .!")
        if not values or not _is_enum(listing, text):
            continue
        words = {v.lower() for v in values if isinstance(v, str)}
        plain = len(words) == len(values) and not words & (_NO_VALUE - _OF_FORMATS) and not words <= _OF_FORMATS
        if (listing.quoted and (len(values) > 1 or not rest)) or (plain and len(values) > 1 and not rest):
            return _listed(listing)
        numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
        if numbers and len(values) > 1 and not rest:
            return Hint(kind="enum", values=values)
    return None


def _listed(listing: Listing, *, part: bool = False) -> Hint:
    if {str(value).lower() for value in listing.values} == {"true", "false"}:
        return Hint(kind="type", types=("boolean",))
    return Hint(kind="enum" if listing.whole and not part else "example", values=listing.values)


def _is_enum(listing: Listing, text: str) -> bool:
    values = listing.values
    if not values or any(isinstance(v, str) and (is_template(v) or len(v) > 80) for v in values):
        return False
    if (
        len(values) == 1
        and not listing.quoted
        and (text[listing.end :].strip(" .") or str(values[0]).lower() in _NO_VALUE)
    ):
        return False
    return not all(isinstance(v, str) and type_named(v) for v in values)


def read_quoted(text: str, given: Json) -> list[Hint]:
    """Values that a clause quotes as good, or as the one used where none is given. `given`: the one refused."""
    multiple = read_multiple(text)
    hints = [Hint(kind="example", values=(multiple, 2 * multiple))] if multiple else []
    if (folder := folder_wanted(text)) and folder != given:
        hints.append(Hint(kind="example", values=(folder,)))
    for words, kind in ((_EXAMPLE, "example"), (_DEFAULT, "default")):
        if match := words.search(text):
            listing = read_list(text, match.end())
            first = listing.values[:1] if kind == "default" else listing.values
            values = tuple(v for v in first if v != given and _concrete(v, listing.quoted, kind))
            if values:
                hints.append(Hint(kind="example" if kind == "example" else "default", values=values))
    return hints


def folder_wanted(text: str) -> str:
    """The folder outside of which a clause says that a path lies; empty where it names none."""
    found = [next(group for group in place.groups() if group).rstrip(".") for place in _WITHIN.finditer(text)]
    return found[-1] if found else ""  # `outside …: /etc not in /srv`


def _concrete(value: Json, quoted: bool, kind: str) -> bool:
    """Whether a value may be meant as such, and is no word of the sentence."""
    if not isinstance(value, str):
        return value is not None
    if not value or is_template(value) or (value.lower() in _NO_VALUE and not quoted):
        return False
    return quoted or kind == "default" or bool(re.search(r"[\d_A-Z-]", value)) or len(value) <= 3
