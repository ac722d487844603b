"""Recognises the units of amounts, such as currencies, in the names and values of fields."""

from __future__ import annotations

import re
import unicodedata

from atc.safety.taint.guesses import NAMES, words_of
from atc.safety.taint.values import CURRENCIES, currency

_LONGEST_UNIT = 40
_LABEL = re.compile(r"[^\W_]*[^\w\s]?|[\w/-]+(?: [\w/-]+){0,3}")
_PREFIXED = re.compile(r"[\w-]+[:/](?=[A-Z]{3,4}\Z)")
"""The part before the code in `iso4217:USD`."""


def is_unit_field(name: str) -> bool:
    """Return True if a field of this name gives the unit of an amount.

    Examples are `currency`, `unit` and `decimals`.
    """
    words = words_of(name)
    while len(words) > 1 and words[-1] in NAMES["unit_suffixes"]:
        words = words[:-1]
    if words[-1:] == ("token",):
        return len(words) == 1
    if len(words) > 1 and words[-1] == "in":  # `pay_in`, `denominated_in`
        return True
    return bool({*words} & NAMES["unit_names"] or {*words[-1:]} & NAMES["unit_endings"])


def is_unit(text: str) -> bool:
    """Return True if the text is a currency or another unit of amounts.

    Examples are `kEUR`, `cents` and `thousands`.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > _LONGEST_UNIT:
        return False
    prefixed = _PREFIXED.match(text)
    if prefixed is not None and text[prefixed.end() :] in CURRENCIES:
        return True
    text = text.rstrip(".!").replace(",", "")
    if not _LABEL.fullmatch(text):
        return False
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    is_pair = text.isupper() and all(half in CURRENCIES for half in halves)  # `EURUSD`
    if is_pair or currency(text) is not None:
        return True
    words = words_of(text)
    return bool({*words} & NAMES["units"]) or any(
        len(word) > 2 and currency(word) is not None for word in words
    )


def is_unit_flag(name: str) -> bool:
    """Return True if a flag of this name gives the unit of an amount: `in_cents`, `use_usd`."""
    words = words_of(name)
    is_currency = any(len(word) > 2 and currency(word) is not None for word in words)
    return is_currency or bool({*words} & NAMES["units"])
