"""Numbers that are a multiple of a step, as regular expressions."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache, reduce
from math import ceil, floor, lcm

from atc.decode.arguments.impossible import Impossible
from atc.decode.arguments.numbers import integers, numbers
from atc.decode.arguments.spans import Span
from atc.decode.grammar import Pattern
from atc.regex import as_rust, found
from atc.regex.tree import EMPTY, NOTHING, Repeated, Tree, alternatives, chars, literal, row, single


@lru_cache(maxsize=1024)
def number_pattern(kind: str, span: Span, steps: tuple[Decimal, ...], digits: int, places: int) -> Pattern:
    """A terminal of the numbers in `span` that every one of `steps` divides.

    `kind`: `integer`, `number`, or `fraction`, a number that is no integer. At most `digits` stand before the point,
    and `places` after it.

    Raises:
        Impossible: there is no such number.
    """
    if span.empty:
        raise Impossible(f"the minimum {span.low} leaves nothing below the maximum {span.high}", word="minimum")
    within: Tree | None = None
    if kind == "fraction":
        tree, within = _FRACTIONS, None if span == Span() else numbers(span, digits, places)
        if steps:
            raise Impossible("a fraction that is a multiple cannot be told from an integer", unsaid=True)
    elif steps:
        tree, within = multiples(reduce(common_step, steps), span, min(digits, _EXACT), whole=kind == "integer")
    else:
        tree = integers(span, digits) if kind == "integer" else numbers(span, digits, places)
    if tree == NOTHING or (within is not None and found([tree, within]) is None):
        word = "multipleOf" if steps else "minimum" if span.low is not None else "maximum"
        raise Impossible(
            f"no {kind} lies between the bounds" if not steps else f"no {kind} between the bounds is a multiple",
            word=word,
        )
    return Pattern(as_rust(tree), () if within is None else (as_rust(within),))


_DIGIT = chars([(48, 57)])
_FRACTIONS = row(
    [
        Repeated(single("-"), 0, 1),
        alternatives([single("0"), row([chars([(49, 57)]), Repeated(_DIGIT, 0, 4)])]),
        single("."),
        Repeated(_DIGIT, 0, 8),
        chars([(49, 57)]),
    ]
)
"""So few digits that no fraction is an integer once it is read."""

MOST_LISTED = 200
"""Where a step divides no power of ten, so many multiples are listed: those nearest to zero, or to the bound."""
_MOST_ENDINGS = 3
_EXACT = 15
"""Digits up to which a validator that divides doubles finds the multiples of a step."""


def common_step(one: Decimal, two: Decimal) -> Decimal:
    """What divides exactly the numbers that both divide."""
    places = max(-min(int(step.normalize().as_tuple().exponent), 0) for step in (one, two))
    scale = int(10**places)
    common: int = lcm(int(one * scale), int(two * scale))
    return Decimal(common) / Decimal(scale)


def multiples(step: Decimal, span: Span, digits: int, *, whole: bool) -> tuple[Tree, Tree | None]:
    """The multiples of `step` in `span`, integers only where `whole`, and what they must match besides, if anything.

    All of them up to `digits` digits where the step divides a power of ten up to a thousand or 1; else `MOST_LISTED`.
    """
    if whole:
        step = common_step(step, Decimal(1))
    few = _listed(step, span)
    if few is not None:
        return alternatives(literal(text) for text in few), None
    ending = next((n for n in range(_MOST_ENDINGS + 1) if Decimal(10**n) % step == 0), None)
    if ending is None or not _sorts(step):
        return alternatives(literal(text) for text in _nearest(step, span)), None
    if step >= 1:
        every = _by_ending(int(step), ending, digits)
        held = integers(span, digits)
        return every, None if held == integers(Span(), digits) else held
    fractions = sorted({_decimals(step * n) for n in range(int(1 / step))})
    exact = 14 - max(map(len, fractions))  # what a double still tells apart
    every = row([integers(Span(), min(digits, exact)), alternatives(literal(f) for f in fractions)])
    return every, None if span == Span() else numbers(span, digits, _EXACT)


def _sorts(step: Decimal) -> bool:
    return (step >= 1 and step == step.to_integral_value()) or (step < 1 and (1 / step) % 1 == 0)


def _decimals(number: Decimal) -> str:
    digits = format(number % 1, "f").partition(".")[2].rstrip("0")
    return "." + digits if digits else ""


def _by_ending(step: int, width: int, digits: int) -> Tree:
    """Integers by their last `width` digits, which decide whether `step` divides them."""
    digit, nonzero = chars([(48, 57)]), chars([(49, 57)])
    short = [str(n) for n in range(0, 10**width, step)] if width else []
    long = [f"{n:0{width}d}" for n in range(0, 10**width, step)] if width else [""]
    head = row([nonzero, Repeated(digit, 0, max(0, digits - width - 1))])
    sign = Repeated(single("-"), 0, 1)
    zero = EMPTY if width else single("0")
    found = [row([head, alternatives(map(literal, long))]), *map(literal, short)]
    return row([sign, alternatives([*found, *([zero] if not width else [])])])


def _listed(step: Decimal, span: Span) -> list[str] | None:
    """Every multiple, where the span has an end on either side and they are few; else `None`."""
    if span.low is None or span.high is None or (span.high - span.low) / step > MOST_LISTED:
        return None
    return [_text(step * n) for n in range(_first(step, span), _last(step, span) + 1)]


def _nearest(step: Decimal, span: Span) -> list[str]:
    """Multiples from the one nearest to zero on, towards both sides."""
    low = _first(step, span) if span.low is not None else None
    high = _last(step, span) if span.high is not None else None
    middle = max(low or 0, 0) if low is not None else min(high or 0, 0)
    first = max(middle - MOST_LISTED // 2, low) if low is not None else middle - MOST_LISTED // 2
    last = min(first + MOST_LISTED, high) if high is not None else first + MOST_LISTED
    return [_text(step * n) for n in range(first, last + 1)]


def _first(step: Decimal, span: Span) -> int:
    low = span.low or Decimal(0)
    factor = ceil(low / step)
    return factor + 1 if span.low_open and step * factor == low else factor


def _last(step: Decimal, span: Span) -> int:
    high = span.high or Decimal(0)
    factor = floor(high / step)
    return factor - 1 if span.high_open and step * factor == high else factor


def _text(number: Decimal) -> str:
    return format(number.normalize() if number else Decimal(0), "f")
