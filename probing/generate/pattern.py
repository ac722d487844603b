"""Texts that match a regular expression from a stranger: bounded in size and time, whatever the expression is."""

from __future__ import annotations

import random
import string
import warnings
from collections.abc import Iterator
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from re import error as re_error
from typing import Any

from protocols.schema import validator

_LONGEST_PATTERN = 500
_LONGEST_TEXT = 300
_STEPS = 5_000
_TRIES = 12

_CLASSES = {
    code.CATEGORY_DIGIT: string.digits,
    code.CATEGORY_NOT_DIGIT: "abcXYZ-",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_SPACE: "aB1",
    code.CATEGORY_WORD: "aB1",
    code.CATEGORY_NOT_WORD: "-. ",
}
_ANY = "aB1-"
_VISIBLE = string.ascii_letters + string.digits + "-_.:/@#+ !$%&*=?,;()[]{}<>|~^'\"\\`"


def matching(pattern: str, *, seed: int = 0, shortest: int = 0) -> Iterator[str]:
    """Different texts that `pattern` (ECMA) matches, `shortest` long where it allows that; none for a hostile one."""
    tree = _parsed(pattern)
    if tree is None:
        return
    try:
        fits = validator({"type": "string", "pattern": pattern})
    except ValueError:
        return
    seen: set[str] = set()
    for attempt in range(_TRIES):
        rng = random.Random(f"{seed} {attempt}")  # noqa: S311 - nothing secret is drawn
        writer = _Writer(rng, extra=attempt % 4 if attempt else shortest, low=attempt < _TRIES // 2)
        try:
            writer.write(tree)
        except (_TooMuch, RecursionError):
            continue
        text = "".join(writer.text)
        if text not in seen and fits.is_valid(text):
            seen.add(text)
            yield text


class _TooMuch(Exception):
    """The text or the work grew beyond the bounds."""


class _Writer:
    """Writes one text by walking the parsed expression once."""

    def __init__(self, rng: random.Random, *, extra: int, low: bool) -> None:
        self.text: list[str] = []
        self._rng, self._extra, self._low = rng, extra, low
        self._steps = self._turn = 0
        self._groups: dict[int, str] = {}

    def write(self, nodes: Any) -> None:
        for kind, argument in nodes:
            self._steps += 1
            if self._steps > _STEPS or len(self.text) > _LONGEST_TEXT:
                raise _TooMuch
            self._node(kind, argument)

    def _node(self, kind: Any, argument: Any) -> None:
        match kind:
            case code.LITERAL:
                self.text.append(chr(argument))
            case code.NOT_LITERAL:
                self.text.append(next(c for c in "aB1" if ord(c) != argument))
            case code.ANY:
                self._turn += 1
                self.text.append(_ANY[self._turn % len(_ANY)])
            case code.IN:
                self.text.append(self._rng.choice(self._likely(_members(argument))))
            case code.BRANCH:
                self.write(self._rng.choice(argument[1]))
            case code.SUBPATTERN:
                before = len(self.text)
                self.write(argument[3])
                self._groups[argument[0] or 0] = "".join(self.text[before:])
            case code.GROUPREF:
                self.text.append(self._groups.get(argument, ""))
            case code.ATOMIC_GROUP:
                self.write(argument)
            case code.MAX_REPEAT | code.MIN_REPEAT | code.POSSESSIVE_REPEAT:
                least, most, part = argument
                for _ in range(min(int(most), int(least) + (self._extra or (1 if least == 0 and most > 1 else 0)))):
                    self.write(part)
            case _:  # anchors and assertions write nothing; whether they hold is tried on the whole
                pass

    def _likely(self, members: str) -> str:
        """Of digits the low ones at first: then hours, months and days are more often such as there are."""
        low = "".join(c for c in members if c in "01")
        return low if self._low and low and members.isdigit() else members or "a"


def _members(parts: Any) -> str:
    """Characters of a class; of the visible ones where it is negated."""
    negated = bool(parts) and parts[0][0] is code.NEGATE
    chosen = ""
    for kind, argument in parts:
        if kind is code.LITERAL:
            chosen += chr(argument)
        elif kind is code.RANGE:
            low, high = argument
            chosen += "".join(map(chr, range(low, min(high, low + 200) + 1)))
        elif kind is code.CATEGORY:
            chosen += _CLASSES.get(argument, "a")
    return "".join(c for c in _VISIBLE if c not in chosen) if negated else chosen


def _parsed(pattern: str) -> Any:
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # a stranger's pattern may be odd; nobody here can mend it
            return parser.parse(pattern)
    except (re_error, RecursionError, OverflowError, ValueError):
        return None
