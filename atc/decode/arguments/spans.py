"""The numbers between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import inf, nextafter

_DOUBLE = 10**15


def beyond(number: Decimal, *, up: bool) -> tuple[Decimal, bool]:
    """Where the numbers above (below) `number` begin, and whether that end is open.

    Among large numbers the next double is the first that is read as another one.
    """
    if abs(number) < _DOUBLE:
        return number, True
    return Decimal(repr(nextafter(float(number), inf if up else -inf))), False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The numbers from `low` to `high` (`None`: without end), the ends themselves but where they are `open`."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False

    def within(self, other: Span) -> Span:
        """The numbers of both."""
        low, low_open = max((_key(self.low, self.low_open), _key(other.low, other.low_open)))[1:]
        high, high_open = max((_key(_minus(self.high), self.high_open), _key(_minus(other.high), other.high_open)))[1:]
        return Span(low=low, low_open=low_open, high=_minus(high), high_open=high_open)

    @property
    def empty(self) -> bool:
        """Whether no number lies in it."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def __contains__(self, number: Decimal) -> bool:
        return not self.within(Span(low=number, high=number)).empty

    @property
    def negative(self) -> Span:
        """The numbers below zero, their signs left off."""
        below = self.within(Span(high=Decimal(0), high_open=True))
        return Span(low=_minus(below.high), low_open=below.high_open, high=_minus(below.low), high_open=below.low_open)

    @property
    def positive(self) -> Span:
        """The numbers from zero on."""
        return self.within(Span(low=Decimal(0)))

    @property
    def signs_only(self) -> bool:
        """Whether it says no more than which sign numbers have, zero included with either."""
        return self.low in (None, Decimal(0)) and self.high is None and not self.low_open


def _key(low: Decimal | None, is_open: bool) -> tuple[tuple[bool, Decimal, bool], Decimal | None, bool]:
    return (low is not None, low if low is not None else Decimal(0), is_open), low, is_open


def _minus(number: Decimal | None) -> Decimal | None:
    return None if number is None else -number
