"""Formatting of numbers, percentages, durations and amounts on HTML pages."""

from __future__ import annotations

MISSING = "–"


def percent(share: float | None) -> str:
    """Return a fraction as text in percent: `62.5%` for 0.625; a dash for None."""
    return MISSING if share is None else f"{100 * share:.1f}%"


def interval(low_high: tuple[float, float] | None) -> str:
    """Return an interval of fractions as percentages: `55–69%`; a dash for None."""
    if low_high is None:
        return MISSING
    return f"{100 * low_high[0]:.0f}–{100 * low_high[1]:.0f}%"


def points(difference: float) -> str:
    """Return the difference of two fractions as percentage points: `+4.2` for 0.042."""
    text = f"{100 * difference:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def whole(value: float | None) -> str:
    """Return a count as text: `1,234`, or a dash if it is None."""
    return MISSING if value is None else f"{value:,.0f}"


def mean(value: float | None) -> str:
    """Return a mean value as text with about three digits: `1,234`, `12.3`, `0.25`."""
    if value is None:
        return MISSING
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def short(value: float) -> str:
    """Return a number as a short label for the axis of a chart: `0`, `0.5`, `20`, `1.5k`, `2M`."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}"


def seconds(value: float | None) -> str:
    """Return a number of seconds as text: `8 ms`, `4.1 s`, `3 min 20 s`, `2 h 05 min`."""
    if value is None:
        return MISSING
    if value < 0.9995:
        return f"{1000 * value:.0f} ms" if value > 0 else "0 s"
    if value < 99.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def dollars(value: float | None, *, digits: int = 3) -> str:
    """Return an amount of dollars as text: `$0.0042`, `$1.30`.

    An amount below one dollar is rounded to `digits` significant digits, any other to cents.
    """
    if value is None:
        return MISSING
    if value == 0:
        return "$0"
    if value >= 1:
        return f"${value:,.2f}"
    rounded = float(f"{value:.{digits}g}")
    return f"${rounded:.8f}".rstrip("0").rstrip(".")


def size(characters: int) -> str:
    """Return a number of characters as text: `1,234 characters`."""
    return f"{characters:,} character" + ("" if characters == 1 else "s")
