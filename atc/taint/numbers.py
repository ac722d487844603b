"""Values compared, and the numbers that a person wrote: `$1,200.00`, `1.200,00 €`, `1.5 million`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from protocols.jsontypes import Json

Same = tuple[str, str | Decimal]
"""One value for comparing: `1` and `1.0` are the same, `1`, `True` and `"1"` are not."""

_MOST_BITS = 4096
"""Of an integer that is compared as a number; Python gives no decimal digits of much longer ones."""

_CURRENCIES = r"(?:us\$|[$€£¥₹₽₩]|usd|eur|gbp|jpy|chf|cad|aud|inr|cny)"
_NUMBER = re.compile(
    rf"(?P<sign>[-−+])?(?P<currency>{_CURRENCIES})?(?P<inner>[-−+])?"
    r"(?P<digits>\d[\d.,'’_\u00a0\u202f]*|\.\d+)(?P<power>e[-+]?\d{1,2})?"
    rf"(?:(?P<scale>k|m|mn|bn)|{_CURRENCIES}|%|,-)?(?:/[a-z]+)?",
    re.IGNORECASE,
)
_GROUPS = re.compile(
    r"(?<!\S)(?:\+\d+(?: \d{1,7})+|[A-Z]{2}\d{2}(?: [\dA-Z]{1,4}){2,}|\(?\d{1,6}\)?(?: \d{1,6}){2,})(?!\w|\.\d)"
)
_ENDS = "()[]{}<>\"“”„«»`'‘’*,;:!?…"
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "k": 10**3, "mn": 10**6, "bn": 10**9}
_LONGEST = 60
"""Characters of one number; a longer run of digits is no number that anybody means."""


def same(value: Json) -> Same:
    """What equal values have in common. A list or an object compares by its text."""
    if isinstance(value, bool):
        return "truth", str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "json", hex(value)
    if isinstance(value, int | float):
        return "number", Decimal(str(value))
    return ("text", value) if isinstance(value, str) else ("json", repr(value))


def number(text: str) -> Decimal | None:
    """The number that `text` is as a whole, or None. `,` and `.` are read as thousands where groups of three say so."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None or (match["sign"] and match["inner"]):
        return None
    scale = (match["scale"] or "").lower()
    if scale == "m" and not match["currency"]:  # five metres, or minutes
        return None
    digits = _plain(re.sub(r"['’_\u00a0\u202f]", "", match["digits"]))
    try:
        value = Decimal(digits + (match["power"] or ""))
    except InvalidOperation:
        return None
    value *= 10**6 if scale == "m" else _SCALES.get(scale, 1)
    return -value if (match["sign"] or match["inner"] or "+") in "-−" else value


def numbers(text: str) -> frozenset[Decimal]:
    """The numbers of a text. Digits within names, dates, times, addresses and other numbers are none.

    A number before a scale (`1.2 million`) counts multiplied alone. Groups of digits with blanks between them are the
    number of a telephone, a card or an account.
    """
    return frozenset(_numbers(text))


def _numbers(text: str) -> Iterator[Decimal]:
    tokens = [token.strip(_ENDS) for token in re.split(r"[ \t\r\n]+|[—]", _GROUPS.sub(" ", text))]
    tokens = [token[:-1].rstrip(_ENDS) if token.endswith(".") else token for token in tokens]
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if (value := number(token)) is not None:
            yield value * _SCALES.get(following.casefold(), 1)


def _plain(digits: str) -> str:
    """`1,200.50` and `1.200,50` → `1200.50`; `1,5` → `1.5`."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}", digits):
        return digits.replace(".", "").replace(",", ".")
    return digits.replace(",", ".") if re.fullmatch(r"\d+,\d+", digits) else digits
