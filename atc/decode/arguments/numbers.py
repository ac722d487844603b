"""Numbers between bounds, as regular expressions over their digits."""

from __future__ import annotations

from decimal import Decimal

from atc.decode.arguments.spans import Span
from atc.regex.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Repeated,
    Tree,
    alternatives,
    chars,
    literal,
    row,
    single,
)

_DIGIT = chars([(48, 57)])
_NONZERO = chars([(49, 57)])
_SIGN = single("-")
_ZERO = single("0")


def _digits(low: int, high: int) -> Chars:
    return chars([(48 + low, 48 + high)])


def integers(span: Span, digits: int) -> Tree:
    """Integers of at most so many digits (more where the span's ends have more), as they are written."""
    negative, positive = span.negative, span.positive
    found = []
    if not positive.empty:
        low = _ceiling(positive.low or Decimal(0), positive.low_open)
        found.append(_naturals(low, _floor(positive.high, positive.high_open), digits))
    if not negative.empty:
        low = max(1, _ceiling(negative.low or Decimal(0), negative.low_open))
        found.append(row([_SIGN, _naturals(low, _floor(negative.high, negative.high_open), digits)]))
    return alternatives(found)


def _ceiling(number: Decimal, is_open: bool) -> int:
    whole = int(number.to_integral_value("ROUND_CEILING"))
    return whole + 1 if is_open and whole == number else whole


def _floor(number: Decimal | None, is_open: bool) -> int | None:
    if number is None:
        return None
    whole = int(number.to_integral_value("ROUND_FLOOR"))
    return whole - 1 if is_open and whole == number else whole


def _naturals(low: int, high: int | None, digits: int) -> Tree:
    """The naturals from `low` to `high`, without leading zeros."""
    if high is None:
        high = 10 ** max(digits, len(str(low))) - 1
    if low > high:
        return NOTHING
    if low == 0 and high == 10 ** len(str(high)) - 1:
        return alternatives([_ZERO, row([_NONZERO, Repeated(_DIGIT, 0, len(str(high)) - 1)])])
    found: list[Tree] = []
    full: list[int] = []
    for width in range(len(str(low)), len(str(high)) + 1):
        first, last = 10 ** (width - 1) if width > 1 else 0, 10**width - 1
        if width > 1 and low <= first and high >= last:
            full.append(width)
        else:
            found.append(_same_width(str(max(low, first)), str(min(high, last))))
    if full:
        found.append(row([_NONZERO, Repeated(_DIGIT, full[0] - 1, full[-1] - 1)]))
    return alternatives(found)


def _same_width(low: str, high: str) -> Tree:
    """Digits from `low` to `high`, both of one width."""
    if not low:
        return EMPTY
    rest = len(low) - 1
    if low[1:] == "0" * rest and high[1:] == "9" * rest:
        return row([_digits(int(low[0]), int(high[0])), Repeated(_DIGIT, rest, rest)])
    if low[0] == high[0]:
        return row([single(low[0]), _same_width(low[1:], high[1:])])
    found = [row([single(low[0]), _same_width(low[1:], "9" * rest)])]
    if int(low[0]) + 1 <= int(high[0]) - 1:
        found.append(row([_digits(int(low[0]) + 1, int(high[0]) - 1), Repeated(_DIGIT, rest, rest)]))
    found.append(row([single(high[0]), _same_width("0" * rest, high[1:])]))
    return alternatives(found)


def numbers(span: Span, digits: int, places: int) -> Tree:
    """Numbers of at most so many digits before the point and after it (more where the span's ends have more).

    They are written as JSON writes them, with an exponent too where the span bounds no more than the sign.
    """
    if span.signs_only:
        whole = alternatives([_ZERO, row([_NONZERO, Repeated(_DIGIT, 0, digits - 1)])])
        fraction = Repeated(row([single("."), Repeated(_DIGIT, 1, places)]), 0, 1)
        sign = Repeated(_SIGN, 0, 1) if span.low is None else EMPTY
        return row([sign, whole, fraction, Repeated(_EXPONENT, 0, 1)])
    found = []
    if not span.positive.empty:
        found.append(_decimals(span.positive, digits, places))
    if not span.negative.empty:
        found.append(row([_SIGN, _decimals(span.negative, digits, places)]))
    return alternatives(found)


_EXPONENT = row(
    [
        chars([(69, 69), (101, 101)]),
        alternatives(
            [
                row([Repeated(single("+"), 0, 1), Repeated(_DIGIT, 1, 2)]),
                row([_SIGN, Repeated(_DIGIT, 1, 3)]),
            ]
        ),
    ]
)
"""Three digits below 1 only, so that no number becomes infinite by it."""


def _decimals(span: Span, digits: int, places: int) -> Tree:
    """Numbers from zero on, between bounds, without an exponent.

    Reading rounds, and never past an end that is itself a double. Beside an open end, which it may round to, there are
    no more digits than a double tells apart.
    """
    low, high = span.low or Decimal(0), span.high
    below = int(low)
    if high is None:
        most = 10 ** max(digits, len(str(below + 1))) - 1
        rest = row([_naturals(below + 1, most, digits), _any_fraction(places)])
        return alternatives([_from(low, span.low_open, places), rest])
    above = int(high)
    beside = max(1, 15 - len(str(above)), _places(low), _places(high))
    close = span.high_open and not _fraction(high)
    if below == above:
        fraction = _between(_fraction(low), span.low_open, _fraction(high), span.high_open, min(places, beside))
        return row([literal(str(below)), fraction])
    found = [_from(low, span.low_open, min(places, beside) if close and below + 1 == above else places)]
    found.append(row([_naturals(below + 1, above - 1 - close, digits), _any_fraction(places)]))
    if close and below + 1 < above:
        found.append(row([literal(str(above - 1)), _any_fraction(beside)]))
    found.append(row([literal(str(above)), _at_most(_fraction(high), span.high_open, min(places, beside))]))
    return alternatives(found)


def _from(low: Decimal, is_open: bool, places: int) -> Tree:
    """Numbers from `low` on that have its digits before the point."""
    below = str(int(low))
    if is_open:
        places = min(places, 15 - len(below))
    return row([literal(below), _at_least(_fraction(low), is_open, max(places, _places(low), 1))])


def _places(number: Decimal) -> int:
    return len(_fraction(number))


def _fraction(number: Decimal) -> str:
    """The digits after the point, without zeros at their end."""
    return format(number, "f").partition(".")[2].rstrip("0")


def _any_fraction(places: int) -> Tree:
    return Repeated(row([single("."), Repeated(_DIGIT, 1, places)]), 0, 1)


def _pointed(tree: Tree, *, bare: bool) -> Tree:
    """A fraction with its point; `bare`: none at all is one too."""
    fraction = row([single("."), tree])
    return Repeated(fraction, 0, 1) if bare else fraction


def _at_least(low: str, is_open: bool, places: int) -> Tree:
    return _pointed(_more(low, is_open, places, first=True), bare=not low and not is_open)


def _more(low: str, is_open: bool, places: int, *, first: bool = False) -> Tree:
    """Digits whose fraction is at least `low`, or more than it."""
    if not low:
        if not is_open:
            return Repeated(_DIGIT, 1 if first else 0, places)
        if places < 1:
            return NOTHING  # a further digit need not be one that a double tells apart
        half = (places - 1) // 2
        later = row([Repeated(_ZERO, 1, half), _NONZERO, Repeated(_DIGIT, 0, places - 1 - half)])
        return alternatives([row([_NONZERO, Repeated(_DIGIT, 0, places - 1)]), *([later] if half else [])])
    head = int(low[0])
    found = [row([single(low[0]), _more(low[1:], is_open, max(places - 1, len(low) - 1))])]
    if head < 9:
        found.append(row([_digits(head + 1, 9), Repeated(_DIGIT, 0, max(0, places - 1))]))
    return alternatives(found)


def _at_most(high: str, is_open: bool, places: int) -> Tree:
    if not high and is_open:
        return NOTHING
    return _pointed(_less(high, is_open, places, first=True), bare=True)


def _less(high: str, is_open: bool, places: int, *, first: bool = False) -> Tree:
    """Digits whose fraction is at most `high`, or less than it."""
    if not high:
        return NOTHING if is_open else Repeated(_ZERO, 1 if first else 0, places)
    head = int(high[0])
    found = [row([single(high[0]), _less(high[1:], is_open, max(places - 1, len(high) - 1))])]
    if head:
        found.append(row([_digits(0, head - 1), Repeated(_DIGIT, 0, max(0, places - 1))]))
    if not first:
        found.append(EMPTY)
    return alternatives(found)


def _between(low: str, low_open: bool, high: str, high_open: bool, places: int) -> Tree:
    """Fractions from `low` to `high`, the digits before the point being the same."""
    bare = not low and not low_open
    if bare and not high:
        return _pointed(Repeated(_ZERO, 1, places), bare=True) if not high_open else NOTHING
    return _pointed(_amid(low, low_open, high, high_open, places, first=True), bare=bare)


def _amid(low: str, low_open: bool, high: str, high_open: bool, places: int, *, first: bool = False) -> Tree:
    if not low and not low_open:
        return _less(high, high_open, places, first=first)
    head, last = int(low[:1] or 0), int(high[:1] or 0)
    rest = max(places - 1, len(low) - 1, len(high) - 1, 1)
    if head == last:
        if not low and not high:
            return NOTHING
        return row([single(str(head)), _amid(low[1:], low_open, high[1:], high_open, rest)])
    found = [row([single(str(head)), _more(low[1:], low_open, rest)])]
    if head + 1 < last:
        found.append(row([_digits(head + 1, last - 1), Repeated(_DIGIT, 0, rest)]))
    found.append(row([single(str(last)), _less(high[1:], high_open, rest)]))
    return alternatives(found)
