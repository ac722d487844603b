"""What stands in a person's words: a value as a whole, never as a part of something longer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property

from atc.taint.marks import Sensitivity
from atc.taint.values import number, numbers, plain, same
from protocols.jsontypes import Json

_OPENS = ' \t\r\n\u00a0\u202f([{<"“„«‹`—–|'
_CLOSES = ' \t\r\n\u00a0\u202f)]}>"”“»›`—–|'
_LABEL = re.compile(r"(?:^|[\s(\[{\"'])[^\W\d]+[:=]$")
_SENTENCE_END = re.compile(r"[.!?:…]+(?=$|[\s)\]}>\"'”’»])")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_DIGITS_AFTER = re.compile(r"\d[ \u00a0\u202f]\d")
_DIGITS_BEFORE = re.compile(r"\d[ \u00a0\u202f]\d$")

_POINTS_AT_NOBODY = frozenset({
    "a", "about", "after", "all", "an", "and", "any", "anyone", "as", "at", "be", "before", "both", "but", "by", "do",
    "each", "either", "every", "everybody", "everyone", "everything", "for", "from", "get", "go", "has", "have", "he",
    "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "last", "list", "make", "me",
    "mine", "more", "most", "my", "new", "next", "no", "nobody", "none", "not", "of", "off", "on", "once", "one",
    "only", "or", "other", "our", "out", "over", "own", "please", "same", "send", "she", "so", "some", "someone",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under",
    "up", "us", "use", "we", "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "yes",
    "you", "your",
})  # fmt: skip
"""Words that a task may hold by chance. A recipient, an address or a command that is one of them was not named."""


class Words:
    """The text of a person, asked whether a value stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def hold(self, value: Json, kind: Sensitivity) -> bool:
        """Whether `value` stands in the text as a whole.

        A text must be there character by character, with a boundary of words on both sides. A number must be written
        there as a number. A command that is part of a quoted one is not there.
        """
        if isinstance(value, bool):
            return self._has("true" if value else "false", self.text.lower())
        if isinstance(value, int | float):
            if kind == "amount":
                return same(value)[1] in self._numbers
            return isinstance(value, int) and self._has(plain(value), self.text)
        if not isinstance(value, str) or not value.strip():
            return False
        if kind == "amount":
            return self._has(value, self.text) or (_is_plain(value) and number(value) in self._numbers)
        if value.casefold() in _POINTS_AT_NOBODY:
            return False
        if kind == "command":
            return self._commanded(value)
        return self._has(value, self.text) or self._has(value, self._one_line)

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        return numbers(self.text)

    @cached_property
    def _one_line(self) -> str:
        """A line break within a name is a blank to whoever reads it."""
        return " ".join(self.text.split())

    @staticmethod
    def _has(value: str, text: str) -> bool:
        return any(_whole(text, start, start + len(value)) for start in _occurrences(value, text))

    def _commanded(self, value: str) -> bool:
        quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(self.text)]
        if any(value == span.strip() for span in quoted):
            return True
        return self._has(value, _QUOTED.sub(lambda match: "\0" * len(match.group()), self.text))


def _is_plain(text: str) -> bool:
    """Whether a number is written so that nobody can read another one: `1.200` is 1200 to half of the world."""
    return re.fullmatch(r"-?\d+(?:\.\d+)?", text) is not None and re.fullmatch(r"-?\d{1,3}\.\d{3}", text) is None


def _occurrences(value: str, text: str) -> Iterator[int]:
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + 1)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no part of anything longer; groups of digits with blanks between are one number."""
    more = _DIGITS_AFTER.match(text, end - 1) or _DIGITS_BEFORE.search(text[max(0, start - 2) : start + 1])
    return more is None and _begins(text, start) and _ends(text, end)


def _begins(text: str, start: int) -> bool:
    """Whether a word may begin there."""
    if start == 0:
        return True
    before, earlier = text[start - 1], text[start - 2 : start - 1]
    if before in _OPENS:
        return True
    if before in "'‘’@#":  # an apostrophe within a word opens nothing; `@ann` and `#general` are Ann and General
        return not earlier.isalnum() and (before not in "@#" or text[start].isalpha())
    if before in ",;":
        return not earlier.isdigit() or not text[start].isdigit()
    return before in ":=" and text[start] != "/" and _LABEL.search(text[max(0, start - 40) : start]) is not None


def _ends(text: str, end: int) -> bool:
    """Whether a word may end there."""
    if end >= len(text):
        return True
    after, later = text[end], text[end + 1 : end + 2]
    if after in _CLOSES:
        return True
    if after in "'’":
        return not later.isalnum() or re.match(r"s\b", text[end + 1 : end + 3]) is not None
    if after in ",;":
        return not later.isdigit() or not text[end - 1].isdigit()
    return _SENTENCE_END.match(text, end) is not None
