"""Axes: where a value stands and which ticks are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_DECADES = 30.0
"""From this ratio of the largest to the smallest value on, equal distances mean equal ratios."""
_ZERO_SLOT = 0.08
"""Share of a logarithmic axis that is kept for zeros, which have no logarithm."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `start` to `end` in the drawing's units.

    `floor` is 0 on a linear one; `zeros` says whether a logarithmic one has a place for 0.
    """

    start: float
    end: float
    floor: float
    ceiling: float
    logarithmic: bool = False
    zeros: bool = False

    def __call__(self, value: float) -> float:
        """Where `value` stands."""
        if not self.logarithmic:
            share = (value - self.floor) / (self.ceiling - self.floor)
            return self.start + share * (self.end - self.start)
        begin = self.start + (_ZERO_SLOT * (self.end - self.start) if self.zeros else 0.0)
        if value <= 0:
            return self.start
        share = math.log(value / self.floor) / math.log(self.ceiling / self.floor)
        return begin + share * (self.end - begin)

    def ticks(self) -> list[float]:
        """Round values to label, from the smallest on."""
        if self.logarithmic:
            first, last = round(math.log10(self.floor)), round(math.log10(self.ceiling))
            return [*([0.0] if self.zeros else []), *(10.0**power for power in range(first, last + 1))]
        step = _step(self.ceiling - self.floor)
        count = math.floor((self.ceiling - self.floor) / step + 1e-9)  # never beyond the end
        return [self.floor + step * index for index in range(count + 1)]


def fit(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale that holds `values`, none of them negative: from zero, or logarithmic where they differ too much."""
    positive = [value for value in values if value > 0]
    if not positive:
        return Scale(start, end, 0.0, 1.0)
    least, most = min(positive), max(positive)
    if most / least >= _DECADES:
        floor, ceiling = 10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most))
        return Scale(start, end, floor, ceiling, logarithmic=True, zeros=len(positive) < len(values))
    step = _step(most * 1.02)
    return Scale(start, end, 0.0, step * math.ceil(most * 1.02 / step))


def _step(span: float) -> float:
    """The round distance of four to eight ticks over `span`."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough * 0.999)
