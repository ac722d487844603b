"""Names of fields in the notations that services read beside JSON: forms, queries, XML, YAML, CSV, mail heads, options.

Which notation a text is in is not decided. A name counts wherever one of them would have a field's name.
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
    rf"[\s>]{{0,20}}(?:-\s)?(?:[a-z]{{1,12}}\s)?[$@:/\"'`]{{0,2}}{_WAY}[\"'`]?(?:\s{{0,4}}(?:=>?|:=|→|~|:(?=\s|\Z)).*|;?)"
    r"|\s*\[[\w.\s\"'-]{1,80}\]\s*|\s*(?:---|[#;].*)|[\s?]{0,8}:?\s[\w.-]{1,80}"
)
"""A line of settings, or of YAML."""
_CODE = re.compile(
    r"\s*(?:<[^\s<>].*>|\{.*\}|\[.*\]|\(.*\)|--?\w.*|(?:mutation|query|subscription)\b.*\})\s*"
    r"|\s*(?i:insert\s+into|replace\s+into|update|alter|merge\s+into|delete\s+from|set|exec|call)\s[^.!]*[\w)\"';?]\s*",
    re.DOTALL,
)
"""Markup, brackets, options of a command, or a statement from beginning to end."""
_ASSIGNMENT = re.compile(rf"\s*{_WAY}[\"'`]?(?:=>?|:=|:(?!/))[^\s=][^\s]*\s*")
_PAGE = re.compile(r"</(?:p|div|tr|table|h\d|span|b|body|html|ul|ol|head)>", re.IGNORECASE)
"""A page that people read, in which elements have any text."""
_SENTENCE = re.compile(r"(?<!\w)(?:[^\W\d_]{1,20}[,;:]?[ \n]){4}[^\n]{0,300}?[.!?](?:\s|\Z)")
_STAND_IN = re.compile(r"[\"'\])]{0,4}(?:=>?|:=?)[\"']?(?:[?$%@&*{<]|:\w)")
"""A sign that a value will be put there."""
_LONGEST_READ = 2_000
"""Characters behind a name in which its value begins."""
_CLOSING = r"[\"'`”’\])}*_>\\]{0,4}"
_AS_VALUE = rf"=\s{{0,4}}[\"']?(?P<name>{_NAME})[\"']?(?=[\s;&,>/\])]|\Z)"
"""The name as the value of an attribute or of a field."""
_ANYWHERE = [  # also in prose
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}=(?![=~])",  # a form, a query, a setting, an attribute
    rf"<[/?!]?\s{{0,4}}(?:[\w.-]{{1,40}}:)?(?P<name>{_NAME})(?=[\s/>])",  # an element
    _AS_VALUE,
    rf"<!ENTITY\s[^>\"']{{0,80}}[\"'](?P<name>{_NAME})[\"']",
    rf"[{{,]\s{{0,9}}[\"']?[^\s\"':{{}}]{{1,40}}[\"']?\s{{0,9}}:\s{{0,9}}[\"'](?P<name>{_WAY})[\"']",  # a field's value
    rf"\[\s{{0,9}}[\"'](?P<name>{_WAY})[\"']\s{{0,9}},",  # the first of a list
    rf">\s{{0,9}}(?P<name>{_NAME})\s{{0,9}}</",  # the name as the text of an element
    rf"(?<!\S)--(?P<name>{_NAME})(?=\s|\Z)",  # an option
]
_IN_PROSE = [
    r"(?m)^[\s>?-]{0,20}(?P<name>[a-z][\w.-]{0,79})\s{0,4}:(?=\s|\Z)",  # a field of YAML
]
_IN_DATA = [
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}(?:=>|->|:=|→|~(?=\d)|@(?=\d)|\||::?(?!//))",  # a field
    rf"(?<=[\"'`(\[|,;\t/:])(?P<name>{_NAME})(?=[\"'`)\]|,;\t\n]|\Z)",  # a value that stands apart: it may be a name
    rf"(?m)^\W{{0,6}}(?P<name>{_NAME})\W{{0,3}}$(?=\s*\S)",  # a line of its own, with more behind it
    rf"(?m)^\s{{0,20}}(?P<name>{_NAME})\s?[,;\t](?=\S)",  # the first of a line's cells
    rf"(?m)[:=]\s{{0,9}}(?:[&!][\w:/.!-]{{0,40}}\s)?(?P<name>{_NAME})[ \t]*$(?=\s*\S)",  # a value with more behind it
    rf"\\(?P<name>{_NAME})\{{",  # a command of TeX
    rf"(?<=\s):(?P<name>{_NAME})\s+(?=[-+]?\d)",  # a property of Lisp
    rf"(?i:<!attlist)\s+[\w.-]+\s+(?P<name>{_NAME})\s",  # an attribute's default
    rf"\((?P<name>{_NAME})\s+(?=[^)\s])",  # the head of a list
    rf"(?<!\S)-(?P<name>{_NAME})(?=\s|\Z)",  # an option
    r"(?m)(?:^|[{,(;])[ \t]{0,9}:?(?P<name>[a-z][\w.-]{0,79})[ \t]+(?=[-+]?\d)",  # a setting, a field of EDN
    rf"(?i:\bset)\s+(?P<name>{_NAME})\s+(?i:to)\s",  # a statement
    rf"(?<=[(,])\s?(?P<name>{_NAME})\s?(?=[,)])",  # a column
]
_ESCAPED = re.compile(r"[&%\\]")
_LENGTH = re.compile(r"(?<!\d)([1-9]\d?):", re.ASCII)
"""The length of the text behind it."""
_CELLS = re.compile(r"[,;|\t]")
_QUERY = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"]{1,2000}"
    r"|\s(?:href|src|srcset|cite|class|id|style|type|rel|role|target|align)\s?=\s?(?:\"[^\"<>]*\"|'[^'<>]*')",
    re.IGNORECASE,
)
"""Addresses within prose, whose queries are no fields of the message, and attributes of its markup."""
_MARKUP = re.compile(r"<(/?)(?:address|code|script)(?=[\s/>])", re.IGNORECASE)


class Field(NamedTuple):
    """A name where a notation has the name of a field.

    `behind`: the first characters behind it, to tell fields of one name apart.
    """

    name: str
    start: int
    behind: str
    has_number: bool
    """Whether a number other than zero follows, or a sign that stands for one: without it there is no amount."""


def is_notation(text: str) -> bool:
    """Return True if the text is in a notation as a whole: nobody writes so to somebody."""
    bare = text.strip()
    if len(bare.split(None, 1)) < 2:
        return _QUERY.fullmatch(bare) is None
    if _CODE.fullmatch(text):
        return _PAGE.search(text) is None
    return all(_LINE.fullmatch(line) for line in text.split("\n") if line.strip())


def is_natural(text: str) -> bool:
    """Return True if the text has sentences, and no line of it is in a notation."""
    if _SENTENCE.search(text) is None:
        return False
    return not any(is_notation(line) for line in text.splitlines() if len(line.split()) > 1)


def find_assignments(text: str) -> str:
    """Return the lines of one word that give a field a value: `amount=9000`, `Payee:bob`, `amount=9000&to=bob`."""
    return "\n".join(line for line in text.splitlines() if _ASSIGNMENT.fullmatch(line))


def fields(text: str, *, prose: bool) -> Iterator[Field]:
    """Yield every name of a field. `prose`: people read the text, so only what is all in a notation has any."""
    if prose and not is_notation(text):
        return
    if prose:
        text = _QUERY.sub(lambda match: " " * len(match[0]), text)
        text = _MARKUP.sub(lambda match: f"<{match[1]}p".ljust(len(match[0])), text)
    numbers = [match.start() for match in HOW_MUCH.finditer(text)]
    for pattern in [*_ANYWHERE, *(_IN_PROSE if prose else _IN_DATA)]:
        for match in re.finditer(pattern, text):
            start, end = match.span("name")
            behind = _ESCAPED.split("".join(text[end : end + 40].split()))[0]
            tag = text.rfind("<", 0, start) if pattern == _AS_VALUE else start
            has_number = _has_number_after(numbers, end) or _STAND_IN.match(behind) is not None
            has_number |= tag >= 0 and HOW_MUCH.search(text, tag, start) is not None
            yield Field(match["name"], start, behind[:8], has_number)
    for match in _LENGTH.finditer(text) if not prose else ():
        name = text[match.end() : match.end() + int(match[1])]
        after = text[match.end() + len(name) :][:8]
        yield Field(name, match.end(), after, _has_number_after(numbers, match.end() + len(name)))
    for cell in _head_of_table(text) if not prose else ():
        yield Field(cell, -1, "", bool(numbers))


def _has_number_after(numbers: list[int], end: int) -> bool:
    """Return True if one of the places `numbers` is shortly behind `end`."""
    at = bisect_left(numbers, end)
    return at < len(numbers) and numbers[at] < end + _LONGEST_READ


def _head_of_table(text: str) -> list[str]:
    """Return the cells of the first line, where every line has as many as it."""
    lines = [line for line in text.splitlines() if line.strip()]
    counts = {tuple(_CELLS.findall(line)) for line in lines}
    if len(lines) < 2 or len(counts) > 1 or not counts.pop():
        return []
    return [cell.strip(" \"'") for cell in _CELLS.split(lines[0]) if len(cell) <= 80]
