"""Comparison of values, and reading of numbers as people write them.

Examples of such numbers are `$1,200.00`, `1.200,00 €` and `1.5 million`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from importlib.resources import files

from protocols.schema import Json

EqualityKey = tuple[str, str | Decimal]
"""A key to compare JSON values: `1` and `1.0` have the same key; `1`, `True` and `"1"` do not."""


def equality_key(value: Json) -> EqualityKey:
    """Return a key that is the same for equal values. The key of a list or object is its `repr`."""
    if isinstance(value, bool):
        return "truth", str(value)
    if isinstance(value, int | float):
        return "number", Decimal(value if isinstance(value, int) else str(value))
    return ("text", value) if isinstance(value, str) else ("json", repr(value))


# --- numbers

CURRENCIES: Mapping[str, tuple[str, ...]] = {
    code: tuple(names)
    for code, names in tomllib.loads(
        files("atc.safety.taint").joinpath("currencies.toml").read_text(encoding="utf-8")
    ).items()
}
"""Currency codes, each with the signs and names that people write instead; see `currencies.toml`.
"""
_NAMED = {name.casefold(): code for code, names in CURRENCIES.items() for name in (code, *names)}
_WORDS = frozenset(
    """ada all bam bob buck cop cup dai dong gel gold lei mad mop pen pound quid rand real ron
    silver sol sos taka tether top try won""".split()  # noqa: SIM905 - a list would be 30 lines
)
"""Codes and names of currencies that are also ordinary words. They mean a currency only in
capitals, or next to a number.
"""
_SIGNS = [
    name
    for names in CURRENCIES.values()
    for name in names
    if not name.isalpha() and " " not in name
]
_SHORT_NAMES = "(?:" + "|".join(
    re.escape(sign) for sign in sorted({*_SIGNS}, key=len, reverse=True)
)
_SHORT_NAMES += r"|kr\.?|zł|kč|ft|rs\.?|rm|usd|eur|gbp|jpy|chf|cad|aud|inr|cny"
_SHORT_NAMES += rf"|(?-i:{'|'.join(sorted(CURRENCIES))}))"


def currency(text: str) -> str | None:
    """Return the code of a currency, such as `EUR`, if the text is its code, sign or name.

    Otherwise return None.
    """
    name = text.strip().casefold()
    code = _NAMED.get(name) or _NAMED.get(name.removesuffix("s"))
    return code if code is not None and (name not in _WORDS or text.isupper()) else None


def has_currency(text: str, code: str) -> bool:
    """Return True if a text contains the code, the sign or a name of the currency `code`."""
    return any(_form(name).search(text) for name in (code, *CURRENCIES.get(code, ())))


@lru_cache(maxsize=256)
def _form(name: str) -> re.Pattern[str]:
    """Return a pattern that finds the name, sign or code of a currency in a text.

    A name that is also an ordinary word is found only next to a number or in capitals.
    """
    if not name[-1].isalpha():
        return re.compile(rf"(?<![^\W\d_]){re.escape(name)}")
    word = rf"(?<![^\W\d_]){re.escape(name)}s?(?![^\W\d_])"
    if len(name) > 2 and name.casefold() not in _WORDS:
        return re.compile(word, re.IGNORECASE)
    beside = rf"(?i:{word}\.?\s?\d|\d\s?{word})"
    return re.compile(f"{beside}|{word}" if name.isupper() and len(name) > 2 else beside)


_NUMBER = re.compile(
    rf"(?P<sign>[-−+])?(?P<currency>{_SHORT_NAMES})?"
    r"(?P<digits>\d[\d.,'’_\u00a0\u202f]*|\.\d+)(?P<power>e[-+]?\d{1,2})?"
    rf"(?:(?P<scale>k|m|mn|bn)|{_SHORT_NAMES}|%|,-)?(?:/[a-z]+)?",
    re.IGNORECASE,
)
_GROUPS = re.compile(
    r"(?<!\S)(?:\+\d+(?: \d{1,7})+|[A-Z]{2}\d{2}(?: [\dA-Z]{1,4}){2,}"
    r"|\(?\d{1,6}\)?(?: \d{1,6}){2,})(?!\w|\.\d)"
)
"""A telephone number, a card number or an account."""
_ENDS = "()[]{}<>\"“”„«»`'‘’*,;:!?…"
_SCALES = {
    scale: 10**power
    for power, scales in (
        (2, "hundred hundert"),
        (3, "k thousand tsd tausend mil mille duizend тыс"),
        (5, "lakh lac lakhs"),
        (6, "mn mio million millions millionen millón millones milhão milhões milioni miljoen млн"),
        (7, "crore crores"),
        (
            9,
            "bn mrd billion billions milliarde milliarden milliard milliards miliardi miljard млрд",
        ),
        (12, "tn trillion trillions"),
    )
    for scale in scales.split()
}
"""Words after a number that multiply it, such as `million`, in English, Indian English, German,
French, Spanish, Portuguese, Italian, Dutch and Russian.
"""
_LONGEST = 60
"""A longer text is not read as a number."""


def number(text: str) -> Decimal | None:
    """Return the number that a text consists of, or None if it is not exactly one number.

    `,` or `.` separates thousands if groups of three digits show this, as in `1,200.50`.
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    scale = (match["scale"] or "").lower() if match is not None else ""
    # `5m` is five metres or minutes.
    if match is None or (scale == "m" and not match["currency"]):
        return None
    digits = _digits(re.sub(r"['’_\u00a0\u202f]", "", match["digits"]))
    try:
        value = Decimal(digits + (match["power"] or ""))
    except InvalidOperation:
        return None
    value *= 10**6 if scale == "m" else _SCALES.get(scale, 1)
    return -value if (match["sign"] or "+") in "-−" else value


_BESIDE_CURRENCY = rf"(?=\s?(?:{_SHORT_NAMES})(?!\w))"
_MONTH = (
    r"(?:(?i:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|märz|apr(?:il)?|jun[eio]?|jul[yi]o?"
    r"|aug(?:ust)?|sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
    r"|Mar(?:ch|s|zo)?|Ma[iy]|Mayo)\.?"
)
_NO_AMOUNTS = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?)?{_MONTH}"
    r"\s(?:\d{1,2}(?:st|nd|rd|th)?,?\s)?(?:19|20)\d\d\b"
    r"|,\s\d{4,5}(?=\s[A-Z][^\W\d_]+)"  # a postcode before its town
    r"|\b[A-Z]{2}\s\d+\b"  # a flight
    r"|(?i:\b(?:no|nr)\.|#|№)\s\d+\b"
    r"|\(?\b0\d{1,5}\)?[ /-]+\d{3,}\b"  # a telephone number
    r"|(?i:\b(?:at|um))\s\d{4}(?=\s(?i:hours|uhr))"
)
"""Numbers in dates, addresses, telephone numbers and names."""
_CURRENCY_BEHIND = re.compile(
    rf"\s?(?:{_SHORT_NAMES}|(?i:euros?|dollars?|pounds?|francs?|yen))(?!\w)", re.IGNORECASE
)
_THOUSANDS = re.compile(
    rf"(?<![\w.,+-])(?<!\d )[1-9]\d{{0,2}}"
    rf"(?:(?: \d{{3}})+(?:[.,]\d\d)?{_BESIDE_CURRENCY}|(?: \d{{3}})(?:[.,]\d\d)?)"
    r"(?!\d|\s\d|[.,]\d)",
    re.IGNORECASE,
)
"""A number in groups of three digits: `1 900`, `1 900 000 EUR`."""
_EUROS = re.compile(
    r"(?<![\w.,])(\d{1,3})\.(\d{3})(?=\s?(?:€|EUR|Euros?)(?![\w/]))"
    r"|(?<=€)(\d{1,3})\.(\d{3})(?![\w.,]*\d)"
)
"""In an amount of euros, three digits after a point are thousands: `1.200 €` is 1200."""


def _keep_amount(match: re.Match[str]) -> str:
    """Return a matched number unchanged if a currency next to it shows that it is an amount.

    Otherwise return a space.
    """
    starts = match[0].split()[0]
    is_amount = _CURRENCY_BEHIND.match(match.string, match.end()) or currency(starts)
    return match[0] if is_amount else " "


def _write_plain(text: str) -> str:
    """Return a text without the numbers in dates, addresses, telephone numbers and names.

    Groups of digits in the remaining numbers are joined, so that `1 900 EUR` becomes `1900 EUR`.
    """
    text = _THOUSANDS.sub(lambda match: match[0].replace(" ", ""), text)
    text = _NO_AMOUNTS.sub(_keep_amount, _GROUPS.sub(" ", text))
    return _EUROS.sub(lambda match: "".join(filter(None, match.groups())), text)


@lru_cache(maxsize=64)
def numbers(text: str) -> frozenset[Decimal]:
    """Return the numbers in a text, without those in names, dates, times and addresses.

    `1.2 million` gives only the number 1200000, and not also 1.2.
    """
    tokens = [token.strip(_ENDS) for token in re.split(r"[ \t\r\n]+|[—]", _write_plain(text))]
    tokens = [token[:-1].rstrip(_ENDS) if token.endswith(".") else token for token in tokens]
    pairs = zip(map(number, tokens), [*tokens[1:], ""], strict=True)
    return frozenset(
        value * _SCALES.get(behind.casefold(), 1) for value, behind in pairs if value is not None
    )


@lru_cache(maxsize=64)
def shares(text: str) -> frozenset[Decimal]:
    """Return the percentages in a text as fractions: `19%` is 0.19."""
    found = re.findall(r"(?<![\w.,])(\d{1,3}(?:[.,]\d{1,4})?)\s?(?:%|percent\b|per cent\b)", text)
    return frozenset(Decimal(share.replace(",", ".")) / 100 for share in found)


def _digits(digits: str) -> str:
    """Return the digits of a number with a point as the only separator.

    `1,200.50` and `1.200,50` become `1200.50`.
    """
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}", digits):
        return digits.replace(".", "").replace(",", ".")
    return digits.replace(",", ".") if re.fullmatch(r"\d+,\d+", digits) else digits


def parse_url_host(url: str) -> str | None:
    """Return the host of a URL; None if it has no host."""
    match = re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}([^/\\?#]*)", url, re.IGNORECASE)
    return match[1].rpartition("@")[2] if match and match[1] else None
