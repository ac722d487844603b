"""The numbers that a person wrote: `$1,200.00`, `1.200,00 €`, `1.5 million`, `two hundred and fifty`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

_CURRENCIES = r"(?:us\$|[$€£¥₹₽₩]|usd|eur|gbp|jpy|chf|cad|aud|inr|cny)"
_NUMBER = re.compile(
    rf"(?P<sign>[-−+])?(?P<currency>{_CURRENCIES})?(?P<inner>[-−+])?"
    r"(?P<digits>\d[\d.,'’_\u00a0\u202f]*|\.\d+)(?P<power>e[-+]?\d{1,2})?"
    rf"(?:(?P<scale>k|m|mn|bn)|{_CURRENCIES}|%|,-)?(?:/[a-z]+)?",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"({_CURRENCIES}?[\d.,]+)[-–]({_CURRENCIES}?[\d.,]+)", re.IGNORECASE)
_GROUPS = re.compile(
    r"(?<!\S)(?:\+\d+(?: \d{1,7})+|[A-Z]{2}\d{2}(?: [\dA-Z]{1,4}){2,}|\(?\d{1,6}\)?(?: \d{1,6}){2,})(?!\w|\.\d)"
)
_ENDS = "()[]{}<>\"“”„«»`'‘’*,;:!?…"
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9, "mn": 10**6}
_SHORT = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9}
_LONGEST = 60
"""Characters of one number; a longer run of digits is no number that anybody means."""


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
    value *= _SHORT.get(scale, 1)
    return -value if (match["sign"] or match["inner"] or "+") in "-−" else value


def numbers(text: str) -> frozenset[Decimal]:
    """The numbers of a text. Digits within names, dates, times, addresses and other numbers are none.

    A number before a scale (`1.2 million`) counts multiplied alone. Groups of digits with blanks between them are the
    number of a telephone, a card or an account.
    """
    tokens = [_trimmed(token) for token in re.split(r"[ \t\r\n]+|[—]", _GROUPS.sub(" ", text))]
    found: set[Decimal] = set()
    for index, token in enumerate(tokens):
        following = tokens[index + 1].casefold() if index + 1 < len(tokens) else ""
        for part in _parts(token):
            if (value := number(part)) is not None:
                found.add(value * _SCALES.get(following, 1))
    return frozenset(found | set(_spelled(tokens)))


def _parts(token: str) -> Sequence[str]:
    """Both ends of a range (`5-10`); a date or a telephone number is none."""
    span = _RANGE.fullmatch(token)
    low, high = (number(end) for end in span.groups()) if span else (None, None)
    if span is None or low is None or high is None or low >= high or re.search(r"(?<!\d)0\d", token):
        return (token,)
    return span.groups()


def _trimmed(token: str) -> str:
    token = token.strip(_ENDS)
    return token[:-1].rstrip(_ENDS) if token.endswith(".") else token


def _plain(digits: str) -> str:
    """`1,200.50` and `1.200,50` → `1200.50`; `1,5` → `1.5`."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}", digits):
        return digits.replace(".", "").replace(",", ".")
    return digits.replace(",", ".") if re.fullmatch(r"\d+,\d+", digits) else digits


def _spelled(tokens: Sequence[str]) -> Iterator[Decimal]:
    """Numbers in English words; each run of them is one number."""
    words = [word for token in tokens for word in re.split(r"[-–]", token.casefold())]
    run: list[str] = []
    for index, word in enumerate([*words, ""]):
        following = words[index + 1] if index + 1 < len(words) else ""
        joins = word == "and" and run and run[-1] in _SCALES and (following in _SMALL)
        if word in _SMALL or (word in _SCALES and run) or joins:
            run.append(word)
        elif run:
            if run != ["one"]:  # a pronoun as often as a number
                yield Decimal(_value(run))
            run = []
        if word in ("a", "an") and (following in _SCALES or following == "dozen"):
            run = ["one"]


def _value(run: Sequence[str]) -> int:
    whole, part = 0, 0
    for word in run:
        if word in _SMALL and word != "dozen":
            part += _SMALL[word]
        elif word == "dozen":
            part = max(part, 1) * 12
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            whole, part = whole + max(part, 1) * _SCALES[word], 0
    return whole + part
