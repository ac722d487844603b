"""Search for field names in texts that are not JSON: forms, queries, XML, YAML, CSV, mail headers.

The notation of a text is not determined. A name counts if it is the name of a field in any of the
notations.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from atc.safety.taint.guesses import HOW_MUCH

_NAME = r"[^\W\d][\w.-]{0,79}(?:\[[\w\"'.-]{0,40}\]){0,4}"
_WAY = rf"[/$#.]{{0,3}}(?:[\w.~$#-]{{1,40}}/){{0,6}}{_NAME}"
_START = r"(?<!\w)(?<!\w[.-])"
_LINE = re.compile(
    rf"[\s>]{{0,20}}(?:-\s)?(?:[a-z]{{1,12}}\s)?[$@:/\"'`]{{0,2}}{_WAY}[\"'`]?"
    r"(?:\s{0,4}(?:=>?|:=|→|~|:(?=\s|\Z)).*|;?)"
    r"|\s*\[[\w.\s\"'-]{1,80}\]\s*|\s*(?:---|[#;].*)|[\s?]{0,8}:?\s[\w.-]{1,80}"
)
"""A line of settings, or of YAML."""
_CODE = re.compile(
    r"\s*(?:<[^\s<>].*>|\{.*\}|\[.*\]|\(.*\)|--?\w.*|(?:mutation|query|subscription)\b.*\})\s*"
    r"|\s*(?i:insert\s+into|replace\s+into|update|alter|merge\s+into|delete\s+from|set|exec|call)"
    r"\s[^.!]*[\w)\"';?]\s*",
    re.DOTALL,
)
"""Markup, brackets, options of a command, or a complete statement."""
_ASSIGNMENT = re.compile(rf"\s*{_WAY}[\"'`]?(?:=>?|:=|:(?!/))[^\s=][^\s]*\s*")
_PAGE = re.compile(r"</(?:p|div|tr|table|h\d|span|b|body|html|ul|ol|head)>", re.IGNORECASE)
"""A web page for people, whose elements may contain any text."""
_SENTENCE = re.compile(r"(?<!\w)(?:[^\W\d_]{1,20}[,;:]?[ \n]){4}[^\n]{0,300}?[.!?](?:\s|\Z)")
_STAND_IN = re.compile(r"[\"'\])]{0,4}(?:=>?|:=?)[\"']?(?:[?$%@&*{<]|:\w)")
"""A placeholder for a value that is inserted later."""
_LONGEST_READ = 2_000
"""A value begins within this many characters after its name."""
_CLOSING = r"[\"'`”’\])}*_>\\]{0,4}"
_AS_VALUE = rf"=\s{{0,4}}[\"']?(?P<name>{_NAME})[\"']?(?=[\s;&,>/\])]|\Z)"
"""A field name that is itself the value of an attribute or a field, as in `name="amount"`."""
_QUOTED_KEY = r"[{,]\s{0,9}[\"']?[^\s\"':{}]{1,40}[\"']?\s{0,9}:"
_ANYWHERE = [  # in prose, too
    # a form, a query, a setting, an attribute
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}=(?![=~])",
    # an element
    rf"<[/?!]?\s{{0,4}}(?:[\w.-]{{1,40}}:)?(?P<name>{_NAME})(?=[\s/>])",
    _AS_VALUE,
    rf"<!ENTITY\s[^>\"']{{0,80}}[\"'](?P<name>{_NAME})[\"']",
    # the value of a field
    rf"{_QUOTED_KEY}\s{{0,9}}[\"'](?P<name>{_WAY})[\"']",
    # the first item of a list
    rf"\[\s{{0,9}}[\"'](?P<name>{_WAY})[\"']\s{{0,9}},",
    # the text of an element
    rf">\s{{0,9}}(?P<name>{_NAME})\s{{0,9}}</",
    # an option
    rf"(?<!\S)--(?P<name>{_NAME})(?=\s|\Z)",
]
_IN_PROSE = [
    r"(?m)^[\s>?-]{0,20}(?P<name>[a-z][\w.-]{0,79})\s{0,4}:(?=\s|\Z)",  # a field of YAML
]
_IN_DATA = [
    # a field
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}(?:=>|->|:=|→|~(?=\d)|@(?=\d)|\||::?(?!//))",
    # a separate value, which may be a name
    rf"(?<=[\"'`(\[|,;\t/:])(?P<name>{_NAME})(?=[\"'`)\]|,;\t\n]|\Z)",
    # a line by itself, before other lines
    rf"(?m)^\W{{0,6}}(?P<name>{_NAME})\W{{0,3}}$(?=\s*\S)",
    # the first cell of a line
    rf"(?m)^\s{{0,20}}(?P<name>{_NAME})\s?[,;\t](?=\S)",
    # a value at the end of a line, before other lines
    rf"(?m)[:=]\s{{0,9}}(?:[&!][\w:/.!-]{{0,40}}\s)?(?P<name>{_NAME})[ \t]*$(?=\s*\S)",
    # a command of TeX
    rf"\\(?P<name>{_NAME})\{{",
    # a property in Lisp
    rf"(?<=\s):(?P<name>{_NAME})\s+(?=[-+]?\d)",
    # the default of an attribute
    rf"(?i:<!attlist)\s+[\w.-]+\s+(?P<name>{_NAME})\s",
    # the first item of a Lisp list
    rf"\((?P<name>{_NAME})\s+(?=[^)\s])",
    # an option
    rf"(?<!\S)-(?P<name>{_NAME})(?=\s|\Z)",
    # a setting, a field of EDN
    r"(?m)(?:^|[{,(;])[ \t]{0,9}:?(?P<name>[a-z][\w.-]{0,79})[ \t]+(?=[-+]?\d)",
    # a statement
    rf"(?i:\bset)\s+(?P<name>{_NAME})\s+(?i:to)\s",
    # a column
    rf"(?<=[(,])\s?(?P<name>{_NAME})\s?(?=[,)])",
]
_ESCAPED = re.compile(r"[&%\\]")
_LENGTH = re.compile(r"(?<!\d)([1-9]\d?):", re.ASCII)
"""The length of the text that follows."""
_CELLS = re.compile(r"[,;|\t]")
_QUERY = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"]{1,2000}"
    r"|\s(?:href|src|srcset|cite|class|id|style|type|rel|role|target|align)\s?=\s?"
    r"(?:\"[^\"<>]*\"|'[^'<>]*')",
    re.IGNORECASE,
)
"""URLs and HTML attributes in prose. Fields within them are not fields of the message."""
_MARKUP = re.compile(r"<(/?)(?:address|code|script)(?=[\s/>])", re.IGNORECASE)


class Field(NamedTuple):
    """The name of a field that a text contains in some notation, such as XML or YAML.

    `start` is its position in the text. `behind` are the first characters after the name, which
    distinguish fields with the same name.
    """

    name: str
    start: int
    behind: str
    has_number: bool
    """True if a number other than zero, or a placeholder for a value, follows the name. Otherwise
    the field cannot be an amount.
    """


def is_notation(text: str) -> bool:
    """Return True if the whole text is data or code, such as XML, YAML or SQL.

    Then it is not a message to a person.
    """
    bare = text.strip()
    if len(bare.split(None, 1)) < 2:
        return _QUERY.fullmatch(bare) is None
    if _CODE.fullmatch(text):
        return _PAGE.search(text) is None
    return all(_LINE.fullmatch(line) for line in text.split("\n") if line.strip())


def is_natural(text: str) -> bool:
    """Return True if the text is a message to people.

    It has sentences, and no line of it is data or code.
    """
    if _SENTENCE.search(text) is None:
        return False
    return not any(is_notation(line) for line in text.splitlines() if len(line.split()) > 1)


def find_assignments(text: str) -> str:
    """Return the lines of a text that only assign values.

    Examples are `amount=9000`, `Payee:bob` and `a=9000&to=bob`.
    """
    return "\n".join(line for line in text.splitlines() if _ASSIGNMENT.fullmatch(line))


def find_fields(text: str, *, prose: bool) -> Iterator[Field]:
    """Yield every field name that a text contains in any notation.

    If `prose` is True, the text is meant for people. Then it has fields only if the whole text is
    data or code, see `is_notation`.
    """
    if not prose:
        numbers = _nonzero_positions(text)
        yield from _match_fields(text, [*_ANYWHERE, *_IN_DATA], numbers)
        yield from _find_netstrings(text, numbers)
        for cell in _head_of_table(text):
            yield Field(cell, -1, "", bool(numbers))
    elif is_notation(text):
        text = _QUERY.sub(lambda match: " " * len(match[0]), text)
        text = _MARKUP.sub(lambda match: f"<{match[1]}p".ljust(len(match[0])), text)
        yield from _match_fields(text, [*_ANYWHERE, *_IN_PROSE], _nonzero_positions(text))


def _nonzero_positions(text: str) -> list[int]:
    """Return the positions of all digits other than zero in a text."""
    return [match.start() for match in HOW_MUCH.finditer(text)]


def _match_fields(text: str, patterns: list[str], numbers: list[int]) -> Iterator[Field]:
    """Yield the field names in a text that these regular expressions match.

    `numbers` are the positions of nonzero digits in the text, to tell whether one follows a name.
    """
    for pattern in patterns:
        for match in re.finditer(pattern, text):
            start, end = match.span("name")
            behind = _ESCAPED.split("".join(text[end : end + 40].split()))[0]
            tag = text.rfind("<", 0, start) if pattern == _AS_VALUE else start
            has_number = _has_number_after(numbers, end) or _STAND_IN.match(behind) is not None
            has_number |= tag >= 0 and HOW_MUCH.search(text, tag, start) is not None
            yield Field(match["name"], start, behind[:8], has_number)


def _find_netstrings(text: str, numbers: list[int]) -> Iterator[Field]:
    """Yield the fields in a text whose name has its length before it, as in `6:amount`.

    `numbers` are the positions of nonzero digits in the text.
    """
    for match in _LENGTH.finditer(text):
        start = match.end()
        name = text[start : start + int(match[1])]
        end = start + len(name)
        yield Field(name, start, text[end : end + 8], _has_number_after(numbers, end))


def _has_number_after(numbers: list[int], end: int) -> bool:
    """Return True if a number begins shortly after the position `end` of a text.

    It is at most `_LONGEST_READ` characters away. `numbers` are the sorted positions of the
    numbers.
    """
    at = bisect_left(numbers, end)
    return at < len(numbers) and numbers[at] < end + _LONGEST_READ


def _head_of_table(text: str) -> list[str]:
    """Return the cells of the first line of a table such as CSV.

    A text is a table if all its lines have the same separators. For any other text, the result is
    empty.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    counts = {tuple(_CELLS.findall(line)) for line in lines}
    if len(lines) < 2 or len(counts) > 1 or not counts.pop():
        return []
    return [cell.strip(" \"'") for cell in _CELLS.split(lines[0]) if len(cell) <= 80]
