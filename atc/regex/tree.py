"""What a regular expression is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

LAST = 0x10FFFF
Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these ranges of code points, sorted and apart from one another. None at all matches nothing."""

    ranges: tuple[Range, ...]

    def __contains__(self, char: str) -> bool:
        return any(low <= ord(char) <= high for low, high in self.ranges)


@dataclass(frozen=True, slots=True)
class Row:
    """One part after another; the empty row matches the empty string."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the parts."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part at least `least` times, at most `most` times or without end (`None`)."""

    part: Tree
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The beginning (`^`) or the end (`$`) of the string."""

    at: Literal["^", "$"]


Tree: TypeAlias = Chars | Row | Alternatives | Repeated | Anchor

EMPTY = Row(())
NOTHING = Alternatives(())


def chars(ranges: Iterable[Range]) -> Chars:
    """`ranges` in any order, overlapping or not, as `Chars`."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return Chars(tuple(merged))


def others(these: Chars) -> Chars:
    """Every character that is not among `these`."""
    found, start = [], 0
    for low, high in these.ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        found.append((start, LAST))
    return Chars(tuple(found))


def common(one: Chars, two: Chars) -> Chars:
    """The characters of both."""
    return others(chars([*others(one).ranges, *others(two).ranges]))


def single(char: str) -> Chars:
    """The class of one character."""
    return Chars(((ord(char), ord(char)),))


def literal(text: str) -> Row:
    """These very characters."""
    return Row(tuple(map(single, text)))


def row(parts: Iterable[Tree]) -> Tree:
    """One part after another, flat; nothing where a part matches nothing."""
    flat: list[Tree] = []
    for part in parts:
        if part in (NOTHING, Chars(())):
            return NOTHING
        flat.extend(part.parts if isinstance(part, Row) else (part,))
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def alternatives(parts: Iterable[Tree]) -> Tree:
    """One of the parts, flat and without repetition."""
    flat: dict[Tree, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, Alternatives) else (part,)))
    flat.pop(Chars(()), None)
    return next(iter(flat)) if len(flat) == 1 else Alternatives(tuple(flat))


ANY = Chars(((0, LAST),))
"""Any character."""
