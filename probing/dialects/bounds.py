"""Numbers in sentences: the least and the greatest value, length or count that a reply tells of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from probing.hint import Hint
from protocols.jsontypes import Json

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12,
}  # fmt: skip
_N = (
    rf"(?<![\w.])([-+]?\d{{1,3}}(?:,\d{{3}}){{1,4}}(?![\d,])"
    rf"|[-+]?\d{{1,18}}(?:\.\d{{1,18}})?(?:[eE][-+]?\d{{1,3}})?|(?:{'|'.join(_WORDS)})(?! of\b))(?!\w|:\d|[-/.]\d)"
)
_FIRST = _N.removesuffix(r"(?!\w|:\d|[-/.]\d)") + r"(?!\w|:\d)"
_SECOND = _N.removeprefix(r"(?<![\w.])")
_FILL = (
    r"(?:\s+(?:a|an|the|value|values|length|size|number|count|allowed|permitted|supported|accepted|page|limit"
    r"|total|results?|items?|characters?|per|for|is|are|be|to|of|it|this)){0,5}"
)
_BE = r"\s*[:=]?\s*"


Side = Literal["minimum", "maximum"]


def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_BETWEEN = _compiled(
    rf"\b(?:between|from|in|range|ranges|within|interval|be|inclusive|of|has|have|are)\b(?:\s+(?:the|inclusive"
    rf"|range|interval|of|is|values?|from|between|length)){{0,4}}{_BE}([\[(]?)\s*{_FIRST}"
    rf"\s*(and|to|through|until|till|\.{{2,3}}|,|-|–|—|inclusive and)\s*{_SECOND}\s*([\])]?)"
)
_CHAINED = _compiled(rf"{_N}\s*(<=|≤|<)\s*[A-Za-z_]\w{{0,40}}\s*(<=|≤|<)\s*{_N}")
_LEAST = _compiled(
    rf"(?:\bat least|\bno (?:less|fewer|smaller|lower|shorter|earlier) than"
    rf"|\bnot\s+(?:be |have )?(?:less|smaller|lower|fewer|shorter|below) than|\bnot (?:be )?below"
    rf"|\b(?:greater|more|larger|longer|bigger|higher) than or equals?(?: to)?|\bgreater or equal(?: to| than)?|>=|≥|=>"
    rf"|\bmin(?:imum)?\b{_FILL}|\bminimum(?:\s+[a-z_\-]{{1,20}}){{1,3}}\s+(?:is|of)){_BE}{_N}"
)
_MOST = _compiled(
    rf"(?:\bat most|\blimited to|\bcapped at|\bno (?:more|greater|larger|longer|bigger|higher|later) than"
    rf"|\bup to(?: a maximum of)?"
    rf"|\bnot\s+(?:be |have )?(?:more|greater|larger|longer|bigger|higher|above) than|\bnot (?:be )?above"
    rf"|\b(?:less|smaller|lower|fewer|shorter) than or equals?(?: to)?|\bless or equal(?: to| than)?|<=|≤|=<"
    rf"|\bmax(?:imum)?\b{_FILL}|\bmaximum(?:\s+[a-z_\-]{{1,20}}){{1,3}}\s+(?:is|of)"
    rf"|\bexceed(?:s|ed|ing)?(?: the| its)?(?: maximum| max| allowed| upper)?(?: limit"
    rf"| length| value| size)?(?: of)?){_BE}{_N}"
)
_ABOVE = _compiled(
    rf"(?<!no )(?:\b(?:greater|more|larger|longer|bigger|higher) than|\babove|\bover|(?<![<=])>(?!=)){_BE}{_N}"
)
_BELOW = _compiled(rf"(?<!no )(?:\b(?:less|smaller|lower|fewer|shorter) than|\bbelow|\bunder|<(?![=a-z/])){_BE}{_N}")
_OR_MORE = _compiled(rf"{_N}(?:\s+\w{{1,20}})?\s+or (?:more|greater|higher|above|longer|larger)\b")
_OR_LESS = _compiled(rf"{_N}(?:\s+\w{{1,20}})?\s+or (?:less|fewer|lower|below|shorter|smaller|under)\b")
_EXACT = _compiled(
    rf"(?:\bexactly|\bprecisely|\bof length|\blength (?:must be|should be|of|is)|\bmust be|\bshould be|\bof"
    rf"|\ban?|\bmust have|\bshould have|\bhas to be|^|\(){_BE}{_N}[\s-]*(?:(?:hexadecimal|hex|alphanumeric"
    rf"|ascii|upper-?case|lower-?case|decimal|numeric)\s+)?"
    r"(characters?|chars?|letters?|digits?|items?|elements?)\b"
)
_OBLIGED = _compiled(
    r"\b(?:must|should|shall|ha(?:s|ve) to|needs? to|ensure|expected|required?|requires|be|can|cannot|can't"
    r"|may|only|want|allowed|too (?:small|big|short|long))\b"
)
_CHARACTERS = _compiled(r"\s*(?:unicode |ascii |alphanumeric )?(?:characters?|chars?|letters?|symbols?)\b|\s*long\b")
_DIGITS = _compiled(r"[\s-]*(?:decimal )?digits?\b")
_ITEMS = _compiled(r"\s*(?:\w{1,20} )?(?:items?|elements?|entries|members)\b")
_UNIT = _compiled(r"\s*(%|percent\b|[a-z]{2,}\b)")
_NO_UNITS = frozenset({
    "and", "are", "as", "but", "by", "characters", "exclusive", "for", "got", "if", "in", "inclusive", "is", "not",
    "on", "or", "received", "the", "to", "was", "when", "with",
})  # fmt: skip
_LENGTH = _compiled(r"\blength\b|\bsize must\b|\blonger\b|\bshorter\b|\btoo (?:long|short)\b")


def read_multiple(text: str) -> float | None:
    """The number of which a clause asks for a multiple."""
    match = re.search(r"\b(?:multiple of|divisible by)\s+(\d{1,9}(?:\.\d{1,9})?)(?![\w.]*\w)", text, re.IGNORECASE)
    number = _number(match[1]) if match else 0
    return number if number > 0 else None


def read_bounds(text: str, *, given: Json = None) -> list[Hint]:
    """Ranges and lengths that a clause asks for. `given`: the value that it refuses, which tells what a unit counts."""
    found = _two_sided(text, given) or [*_one_sided(text, given)]
    if not found and (exact := _EXACT.search(text)):
        number = _number(exact[1])
        if exact[2].lower().startswith("digit"):
            return [*found, Hint(kind="pattern", pattern=f"^[0-9]{{{number:.0f}}}$")] if 0 < number < 100 else found
        return [Hint(kind="length", minimum=number, maximum=number)]
    if not found:
        found = _signs(text)
    return found


def _two_sided(text: str, given: Json) -> list[Hint]:
    if match := _BETWEEN.search(text):
        opened, low, word, high, closed = match.groups()
        # `in [1, 5]` may be a list of two values; `range` says that it is none.
        vague = word == "," and not re.search(r"range|between|interval|from", match[0], re.IGNORECASE)
        dash_of = word in "-–—" and re.match(r"(?:of|has|have|are)\s*[:=]?\s*\d", match[0], re.IGNORECASE)
        least, most = _number(low), _number(high)
        if not vague and least <= most and not (dash_of and not _unit(text, match.end(), given)):
            strict = text[match.end() :].lstrip(" (,").lower().startswith("exclusive")
            return _as(
                Hint(
                    kind="range",
                    minimum=least,
                    maximum=most,
                    exclusive_minimum=strict or (opened == "(" and closed == "]"),
                    exclusive_maximum=strict or (opened == "[" and closed == ")"),
                ),
                text, match.end(), given,
            )  # fmt: skip
    if match := _CHAINED.search(text):
        low, first, second, high = match.groups()
        return _as(
            Hint(
                kind="range",
                minimum=_number(low),
                maximum=_number(high),
                exclusive_minimum=first == "<",
                exclusive_maximum=second == "<",
            ),
            text, match.end(), given,
        )  # fmt: skip
    return []


def _one_sided(text: str, given: Json) -> list[Hint]:
    hints: list[Hint] = []
    sides: tuple[Side, Side] = ("minimum", "maximum")
    for side, exact, suffix in zip(sides, (_LEAST, _MOST), (_OR_MORE, _OR_LESS), strict=True):
        match = exact.search(text) or suffix.search(text)
        if match is not None and not (side == "maximum" and re.search(r"must\s+exceed", text, re.IGNORECASE)):
            hints += _as(_bound(side, _number(match[1])), text, match.end(1), given)
    for side, words in zip(sides, (_ABOVE, _BELOW), strict=True):
        if match := words.search(text):
            strict = _strict(text, match, side)
            if not any(_side(strict) == _side(hint) for hint in hints):
                hints += _as(strict, text, match.end(), given)
    return _merged(sorted(hints, key=lambda hint: hint.minimum is None))


def _strict(text: str, match: re.Match[str], side: Side) -> Hint:
    """A bound that is not reached. `must be less than 5` asks for it; `is less than 5` complains of it."""
    before = text[: match.start()]
    negated = re.search(r"\b(?:not|cannot|can't|isn't)\s+(?:be\s+|have\s+)?$", before, re.IGNORECASE) is not None
    asked = _OBLIGED.search(before) is not None
    number = _number(match[1])
    if asked != negated:  # `must be greater than` or `is not greater than`
        return _bound(side, number, strict=True)
    return _bound("maximum" if side == "minimum" else "minimum", number)


def _side(hint: Hint) -> tuple[bool, bool]:
    return hint.minimum is not None, hint.maximum is not None


def _bound(side: Side, number: float, *, strict: bool = False) -> Hint:
    if side == "minimum":
        return Hint(kind="range", minimum=number, exclusive_minimum=strict)
    return Hint(kind="range", maximum=number, exclusive_maximum=strict)


def _as(hint: Hint, text: str, end: int, given: Json) -> list[Hint]:
    """The bound of what it counts: the value itself, or its characters or items."""
    unit = _unit(text, end, given)
    if unit == "other":
        return []
    if unit == "digits":
        low, high = hint.minimum, hint.maximum
        if low is None or high is None or not 0 <= low <= high < 100:
            return []
        return [Hint(kind="pattern", pattern=f"^[0-9]{{{low:.0f},{high:.0f}}}$")]
    if unit == "length" or (not unit and (isinstance(given, list) or _LENGTH.search(text[:end]))):
        low, high = hint.minimum, hint.maximum
        if hint.exclusive_minimum and low is not None:
            low += 1
        if hint.exclusive_maximum and high is not None:
            high -= 1
        return [Hint(kind="length", minimum=low, maximum=high)]
    return [hint]


def _unit(text: str, end: int, given: Json) -> Literal["", "length", "digits", "other"]:
    rest = text[end : end + 60].lstrip(")]")
    if _DIGITS.match(rest):
        return "digits"
    if _CHARACTERS.match(rest):
        return "length"
    numeric = isinstance(given, int | float) or (isinstance(given, str) and given.lstrip("-").isdigit())
    if _ITEMS.match(rest):
        return "" if numeric else "length"
    word = _UNIT.match(rest)
    if word and word[1].lower() not in _NO_UNITS and isinstance(given, str) and not numeric:
        return "other"
    return ""


def _signs(text: str) -> list[Hint]:
    if re.search(
        (
            r"\bnon-?negative\b|\b(?:not|can't|never) be negative\b|\bpositive (?:integer |number )?or zero\b"
            r"|\bcan(?:not|can't|never) be negative\b"
        ),
        text,
        re.IGNORECASE,
    ):
        return [Hint(kind="range", minimum=0)]
    if match := re.search(
        r"\b(?:be|a|an|expected|not) (?:strictly |valid )?positive\b(?!ly)(?:\s+(integer|whole|int\b))?",
        text,
        re.IGNORECASE,
    ):
        return [Hint(kind="range", minimum=1) if match[1] else Hint(kind="range", minimum=0, exclusive_minimum=True)]
    return []


def _merged(hints: list[Hint]) -> list[Hint]:
    """A least and a greatest value of the same kind as one hint."""
    if len(hints) == 2 and hints[0].kind == hints[1].kind != "pattern":
        low, high = hints
        if low.minimum is not None and high.maximum is not None and low.maximum is None and high.minimum is None:
            if low.minimum > high.maximum:
                return []
            return [replace(low, maximum=high.maximum, exclusive_maximum=high.exclusive_maximum)]
    return hints


def _number(text: str) -> float:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    value = float(text.replace(",", ""))
    return int(value) if value == int(value) else value
