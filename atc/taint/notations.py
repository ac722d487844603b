"""Names of fields in the notations that services read beside JSON: forms, queries, XML, YAML, CSV, mail heads, options.

Which notation a text is in is not decided. A name counts wherever one of them would have a field's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"[^\W\d][\w.-]{0,79}(?:\[[\w\"'.-]{0,40}\]){0,4}"
_WAY = rf"[/$#.]{{0,3}}(?:[\w.~$#-]{{1,40}}/){{0,6}}{_NAME}"
_START = r"(?<!\w)(?<!\w[.-])"
_CLOSING = r"[\"'`”’\])}*_>\\]{0,4}"
_ANYWHERE = [  # also in prose
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}=(?![=~])",  # a form, a query, a setting, an attribute
    rf"<[/?!]?\s{{0,4}}(?:[\w.-]{{1,40}}:)?(?P<name>{_NAME})(?=[\s/>])",  # an element
    rf"=\s{{0,4}}[\"']?(?P<name>{_NAME})[\"']?(?=[\s;&,>/\])]|\Z)",  # the name as the value of an attribute or a field
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
    rf"{_START}(?P<name>{_NAME}){_CLOSING}\s{{0,4}}(?:=>|->|:=|\||::?(?!//))",  # a field
    rf"(?<=[\"'`(\[|,;\t/:])(?P<name>{_NAME})(?=[\"'`)\]|,;\t\n]|\Z)",  # a value that stands apart: it may be a name
    rf"(?m)^\W{{0,6}}(?P<name>{_NAME})\W{{0,3}}$(?=\s*\S)",  # a line of its own, with more behind it
    rf"(?m)^\s{{0,20}}(?P<name>{_NAME})\s?[,;\t](?=\S)",  # the first of a line's cells
    rf"(?m)[:=]\s{{0,9}}(?:[&!][\w:/.!-]{{0,40}}\s)?(?P<name>{_NAME})[ \t]*$(?=\s*\S)",  # a value with more behind it
    rf"\((?P<name>{_NAME})\s+(?=[^)\s])",  # the head of a list
    rf"(?<!\S)-(?P<name>{_NAME})(?=\s|\Z)",  # an option
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


def fields(text: str, *, prose: bool) -> Iterator[Field]:
    """Yield every name of a field. `prose`: people read the text, so colons and commas are signs of sentences."""
    if prose:
        text = _QUERY.sub(lambda match: " " * len(match[0]), text)
        text = _MARKUP.sub(lambda match: f"<{match[1]}p".ljust(len(match[0])), text)
    for pattern in [*_ANYWHERE, *(_IN_PROSE if prose else _IN_DATA)]:
        for match in re.finditer(pattern, text):
            start, end = match.span("name")
            behind = _ESCAPED.split("".join(text[end : end + 40].split()))[0]
            yield Field(match["name"], start, behind[:8])
    for match in _LENGTH.finditer(text) if not prose else ():
        name = text[match.end() : match.end() + int(match[1])]
        yield Field(name, match.end(), text[match.end() + len(name) :][:8])
    for cell in _head_of_table(text):
        yield Field(cell, -1, "")


def _head_of_table(text: str) -> list[str]:
    """Return the cells of the first line, where every line has as many as it."""
    lines = [line for line in text.splitlines() if line.strip()]
    counts = {tuple(_CELLS.findall(line)) for line in lines}
    if len(lines) < 2 or len(counts) > 1 or not counts.pop():
        return []
    return [cell.strip(" \"'") for cell in _CELLS.split(lines[0]) if len(cell) <= 80]
