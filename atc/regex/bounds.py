"""How long a regular expression lets a string get."""

from __future__ import annotations

from collections.abc import Iterable

from atc.regex.tree import Alternatives, Chars, Repeated, Row, Tree


def widths(tree: Tree) -> tuple[int, int | None]:
    """The least length of matching strings and the greatest, None where there is none, if anything matches at all."""
    match tree:
        case Chars():
            return 1, 1
        case Row(parts):
            each = [widths(part) for part in parts]
            return sum(low for low, _ in each), _together(high for _, high in each)
        case Alternatives(parts) if parts:
            each = [widths(part) for part in parts]
            highs = [high for _, high in each if high is not None]
            return min(low for low, _ in each), max(highs) if len(highs) == len(each) else None
        case Repeated(part, least, most):
            low, high = widths(part)
            if most is None:
                return low * least, 0 if high == 0 else None
            return low * least, None if high is None else high * most
    return 0, 0


def _together(highs: Iterable[int | None]) -> int | None:
    found = 0
    for high in highs:
        if high is None:
            return None
        found += high
    return found


def lengths(tree: Tree, most: int) -> int:
    """The lengths that matching strings have, up to `most`, as bits: bit n is set where one has n characters."""
    mask = (1 << (most + 1)) - 1
    match tree:
        case Chars(ranges):
            return 2 & mask if ranges else 0
        case Row(parts):
            found = 1
            for part in parts:
                found = _sums(found, lengths(part, most), mask)
            return found
        case Alternatives(parts):
            found = 0
            for part in parts:
                found |= lengths(part, most)
            return found
        case Repeated(part, least, count):
            return _repeated(lengths(part, most), least, count, most)
    return 1


def _sums(one: int, two: int, mask: int) -> int:
    """Every sum of a length of `one` and a length of `two`."""
    if one.bit_count() > two.bit_count():
        one, two = two, one
    found = 0
    while one:
        low = one & -one
        found |= two * low
        one ^= low
    return found & mask


def _repeated(part: int, least: int, count: int | None, most: int) -> int:
    mask = (1 << (most + 1)) - 1
    if part == 2:  # one character, the common case
        top = most if count is None else min(count, most)
        return (((1 << (top + 1)) - 1) >> least << least) if top >= least else 0
    exact = 1
    for _ in range(least):
        exact = _sums(exact, part, mask)
        if not exact:
            return 0
    found = exact
    for _ in range(most if count is None else count - least):
        wider = found | _sums(found, part, mask)
        if wider == found:
            break
        found = wider
    return found
