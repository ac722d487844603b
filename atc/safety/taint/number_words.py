"""Reading of numbers that are written in words, in Chinese numerals or in Roman numerals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

from atc.safety.taint.values import currency

_COUNTED = {  # by language, in order from one
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen",
    "de": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
    " fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "fr": "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
    " seize dix-sept dix-huit dix-neuf",
    "es": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciséis diecisiete dieciocho diecinueve",
}
_TENS = {
    "en": "ten twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "dix vingt trente quarante cinquante soixante septante huitante nonante",
    "es": "diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}
_SMALL = {word: at for words in _COUNTED.values() for at, word in enumerate(words.split(), 1)}
_SMALL |= {word: 10 * at for words in _TENS.values() for at, word in enumerate(words.split(), 1)}
_SMALL |= {"ein": 1, "eine": 1, "a": 1, "dozen": 12, "score": 20}
_HUNDREDS = {
    "hundred": 100,
    "hundert": 100,
    "cent": 100,
    "cents": 100,
    "cien": 100,
    "ciento": 100,
    "cientos": 100,
}
_LARGE = {"thousand": 10**3, "tausend": 10**3, "mille": 10**3, "mil": 10**3, "grand": 10**3}
_LARGE |= {
    "million": 10**6,
    "millionen": 10**6,
    "millions": 10**6,
    "millón": 10**6,
    "millones": 10**6,
}
_LARGE |= {"billion": 10**9, "milliarde": 10**9, "milliarden": 10**9}
_JOINED = {"and", "und", "et", "y"}
_EVERY = sorted({*_SMALL, *_HUNDREDS, *_LARGE, *_JOINED} - {"a"}, key=len, reverse=True)
_RUN = re.compile("(?:" + "|".join(_EVERY) + ")+")
_ONE_OF_RUN = re.compile("|".join(_EVERY))
_TIMES = {"twice": 2, "double": 2, "half": Decimal("0.5"), "triple": 3}
_ROMAN = re.compile(r"(?=[MDCLXVI])M*(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_LONGEST = 1_000
"""Maximum number of characters that are read."""


def numbers_in_words(text: str) -> list[Decimal]:
    """Return the numbers that a text contains in words or in Chinese or Roman numerals.

    Examples are `nine thousand`, `neuntausend`, `九千` and `MMXX`.
    """
    text = text[:_LONGEST]
    found = [Decimal(number) for number in _add_up_words(_words(text.lower()))]
    whole = text.strip().upper()
    romans = [whole] if whole.isalpha() else re.findall(r"[MDCLXVI]+", text)
    found += [_roman(word) for word in romans if _ROMAN.fullmatch(word)]
    return [*found, *_chinese(text)]


def is_spelled_number(text: str) -> bool:
    """Return True if the text is a number in words, with or without a currency: `nine euros`."""
    words = _words(text[:_LONGEST].lower())
    numerals = [word for word in words if word in _SMALL or word in _HUNDREDS or word in _LARGE]
    rest = [word for word in words if word not in numerals and word not in _JOINED]
    return bool(numerals) and all(currency(word) is not None for word in rest)


def _words(text: str) -> list[str]:
    """Return the words of a text. A word such as `neuntausend` is split into its numerals."""
    words = list[str]()
    for word in re.findall(r"[^\W\d_]+", text):
        words += _ONE_OF_RUN.findall(word) if _RUN.fullmatch(word) else [word]
    return words


def _add_up_words(words: list[str]) -> Iterator[int]:
    """Yield the number that each sequence of number words forms.

    Other words end a sequence.
    """
    total = 0
    group = 0
    for word in [*words, ""]:
        if word in _SMALL:
            group += _SMALL[word]
        elif word in _HUNDREDS:
            group = (group or 1) * 100
        elif word in _LARGE:
            total += (group or 1) * _LARGE[word]
            group = 0
        elif word not in _JOINED:
            if total + group:
                yield total + group
            total = group = 0


def _roman(word: str) -> Decimal:
    """Return the value of a Roman numeral."""
    values = [_SIGNS[sign] for sign in word]
    signed = (
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )
    return Decimal(sum(signed))


def _chinese(text: str) -> Iterator[Decimal]:
    """Yield the numbers that a text contains in Chinese and similar numerals.

    An example is `九千` (9 times 1000).
    """
    for run in re.findall(r"[^\W\da-zA-Z_]+", text):
        total = 0
        group = 0
        digit = 0
        for sign in run:
            value = int(unicodedata.numeric(sign, -1))
            if value < 0:
                break
            if value < 10:
                digit = value
            elif value < 10_000:
                group += (digit or 1) * value
                digit = 0
            else:
                total += (group + digit or 1) * value
                group = digit = 0
        else:
            yield Decimal(total + group + digit)
