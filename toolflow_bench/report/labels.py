"""Where the names of points stand so that no two things cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LETTER_WIDTH = 7.3
"""Of the labels' type in the drawing's units: the widest sans-serif that a machine is likely to have."""
LINE_HEIGHT = 14.0

_GAP = 4.0


class Box(NamedTuple):
    """A rectangle in the drawing's units."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they share any area."""
        apart = (
            self.right <= other.left or other.right <= self.left or self.bottom <= other.top or other.bottom <= self.top
        )
        return not apart

    def within(self, other: Box) -> bool:
        """Whether no part of it is outside `other`."""
        inside_x = self.left >= other.left and self.right <= other.right
        return inside_x and self.top >= other.top and self.bottom <= other.bottom


def around(x: float, y: float, radius: float) -> Box:
    """The box of a marker."""
    return Box(x - radius, y - radius, x + radius, y + radius)


def place(
    points: Sequence[tuple[float, float]], names: Sequence[str], *, radius: float, frame: Box, taken: Sequence[Box] = ()
) -> list[Box | None]:
    """A box for each point's name: the nearest free one around it, or None where all are covered.

    `taken` and every marker are kept free. The order of the points decides who chooses first.
    """
    occupied = [*taken, *(around(x, y, radius) for x, y in points)]
    placed: list[Box | None] = []
    for (x, y), name in zip(points, names, strict=True):
        free = (
            box
            for box in _candidates(x, y, len(name) * LETTER_WIDTH, radius)
            if box.within(frame) and not any(box.meets(other) for other in occupied)
        )
        box = next(free, None)
        placed.append(box)
        if box is not None:
            occupied.append(box)
    return placed


def _candidates(x: float, y: float, width: float, radius: float) -> list[Box]:
    """Right, left, then ever further above and below."""
    half = LINE_HEIGHT / 2
    lefts = (x + radius + _GAP, x - radius - _GAP - width, x - width / 2)
    boxes = [Box(left, y - half, left + width, y + half) for left in lefts[:2]]
    for step in range(1, 7):
        for sign in (-1, 1):
            middle = y + sign * (radius + half * (2 * step - 1) - 2)
            boxes += [Box(left, middle - half, left + width, middle + half) for left in lefts]
    return boxes
