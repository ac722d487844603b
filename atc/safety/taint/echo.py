"""Check of whether a tool could have built a value in its response from the call's arguments.

A text may be composed of parts of the arguments, and a number may be calculated from them. Such a
value may come from the program, so it is not clean even if the user trusts the tool.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from math import factorial

from atc.core.json_paths import walk
from atc.core.quoting import format_number
from atc.safety.taint.encodings import decode_numbers, find_decodings
from atc.safety.taint.number_words import numbers_in_words
from atc.safety.taint.values import equality_key, number
from protocols.schema import Json, JsonObject

_SHORTEST_PART = 3
"""Minimum number of consecutive letters and digits that can count as copied from an argument."""
_LONGEST_ADDED = 3
"""Up to this many letters and digits of a value may come from elsewhere than the arguments. So few
carry no information.
"""
_MOST_COMPARED = 2_000
"""Maximum number of letters and digits of a value. A longer value counts as built from arguments.
"""
_MOST_COMBINED = 4
"""Up to this many numbers are combined in every way. If there are more, only pairs are combined."""
_MOST_NUMBERS = 40
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST_CIPHER = 6
_LONGEST_CIPHER = 400
"""Maximum length of a text that is deciphered. A longer text contains too many words by chance."""
_SMALL_NUMBER = 1_000
_TENS_OF = (10, 100, 1000, Decimal("0.1"), Decimal("0.01"), Decimal("0.001"))
_TIMES = (12, 24, 60, 1024, 1440, 3600, 7, 52, 365)
"""Factors of common conversions, such as hours to days, years to days, or kB to bytes."""
_ONE = Decimal(1)
_CENT = Decimal("0.01")
_BASES = re.compile(r"(?:0[bo])?([0-7]{1,64})", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"^(?:mailto|tel|sms|https?|ftp|urn):(?://)?", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[\da-f]{1,16}", re.IGNORECASE | re.ASCII)
_EXACT = Context(prec=60, traps=[])
_OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


class ArgumentTexts:
    """The texts and numbers in the arguments of one call, as written and decoded."""

    def __init__(self, arguments: JsonObject) -> None:
        values = [value for _, value in walk(arguments) if value is not None]
        keys = [key for value in values if isinstance(value, Mapping) for key in value]
        lists = [value for value in values if isinstance(value, list)]
        leaves = [value for value in values if not isinstance(value, list | Mapping)]
        texts = [leaf if isinstance(leaf, str) else format_number(leaf) for leaf in leaves]
        self._forms = _find_forms([*texts, *keys, "".join(texts)], lists)
        short = [text for text in texts if len(text) <= _LONGEST_CIPHER]
        self._ciphers = _find_ciphers(short, self._forms)
        self._counts = {Decimal(len(text.split())) for text in short}
        self._counts |= {Decimal(len(value)) for value in [*lists, *short]}
        self._words = _find_words([*short, *keys])
        numbers = [number for leaf in leaves for number in _numbers_of(leaf)]
        self._numbers = numbers[:_MOST_NUMBERS]

    def can_build(self, value: Json) -> bool:
        """Return True if a tool can build the value from the texts and numbers in the arguments."""
        if isinstance(value, bool) or value is None:
            return bool(self._forms)
        meant = number(value) if isinstance(value, str) else Decimal(equality_key(value)[1])
        if meant is not None and self._can_calculate(meant):
            return True
        text = value if isinstance(value, str) else format_number(value)
        return self._has_letters(_letters(_SCHEME.sub("", text)))

    def _can_calculate(self, number: Decimal) -> bool:
        """Return True if the number can be calculated from numbers in the arguments.

        The length of a text or list, and the number of words in a text, count, too.
        """
        if number in self._counts:
            return True
        wanted = abs(number)
        if wanted in {abs(one * scale) for one in self._numbers for scale in (1, *_TENS_OF)}:
            return True
        # With this context, an impossible calculation gives NaN, which equals nothing.
        with localcontext(_EXACT):
            if wanted >= _SMALL_NUMBER:
                results = _combine_numbers(self._numbers)
            else:
                # Most small numbers can be made of small ones, or of many. Only pairs of large ones
                # count.
                results = _pairs([one for one in self._numbers if abs(one) >= wanted])
            return any(wanted == abs(result) for result in results)

    def _has_letters(self, letters: str) -> bool:
        """Return True if a value's letters and digits are composed of parts of the arguments.

        A few letters may come from elsewhere, see `_LONGEST_ADDED`.
        """
        if not letters or len(letters) > _MOST_COMPARED:
            return bool(self._forms)
        if len(letters) >= _SHORTEST_CIPHER and any(letters in one for one in self._ciphers):
            return True
        # By position: the fewest letters from there on that do not come from the arguments.
        left = [0] * (len(letters) + 1)
        for start in reversed(range(len(letters))):
            longest = self._longest_from(letters, start)
            ends = [start + length for length in range(_SHORTEST_PART, longest + 1)]
            ends += [start + len(word) for word in self._words if letters.startswith(word, start)]
            left[start] = min([left[start + 1] + 1, *(left[end] for end in ends)])
        return left[0] <= min(_LONGEST_ADDED, len(letters) // 4)

    def _longest_from(self, letters: str, start: int) -> int:
        """Return how many characters of `letters`, from the index `start` on, an argument contains.

        The characters must be next to each other in the argument.
        """
        longest = 0
        for form in self._forms:
            end = start + max(longest + 1, _SHORTEST_PART)
            while end <= len(letters) and letters[start:end] in form:
                longest = end - start
                end += 1
        return longest


def _find_forms(texts: list[str], lists: list[list[Json]]) -> list[str]:
    """Return the letters and digits of all texts, as written and decoded, forwards and backwards.

    Lists of bytes or code points in `lists` are read as texts, too.
    """
    spelled = list[str]()
    for items in lists:
        spelled += decode_numbers([item for item in items if type(item) is int])
    forms = [_letters(form) for text in [*texts, *spelled] for form in find_decodings(text)]
    forms = [form for form in forms if form]
    return list(dict.fromkeys([*forms, *(form[::-1] for form in forms)]))


def _find_ciphers(texts: list[str], forms: list[str]) -> list[str]:
    """Return the texts that result from deciphering the arguments of a call in simple ways.

    For example, every second letter of each of `texts` is read. The Caesar cipher is applied to
    `forms`, which are the decoded texts.
    """
    found = list[str]()
    for text in texts:
        for step in (2, 3, 4):
            found += [_letters(text[start::step]) for start in range(step)]
    for form in forms:
        if len(form) <= _LONGEST_CIPHER:
            found += _decipher(form)
    found += [_letters(text.replace(sign, "")) for text in texts for sign in {*text}]
    initials = (re.findall(r"\b[A-Z](?=[a-z-])", text) for text in texts)
    return found + ["".join(one).lower() for one in initials]


def _find_words(texts: list[str]) -> set[str]:
    """Return the words of all texts, and each text as one word."""
    words = {_letters(text) for text in texts}
    for text in texts:
        words |= {_letters(word) for word in re.split(r"[\W_]+", text)}
    return {word for word in words if len(word) > 1}


def _decipher(letters: str) -> Iterator[str]:
    """Yield `letters` deciphered with the Caesar cipher, once for each shift, and with Atbash.

    Atbash is the cipher that reverses the alphabet.
    """
    for moved in range(1, 26):
        alphabet = _ALPHABET[moved:] + _ALPHABET[:moved]
        yield letters.translate(str.maketrans(_ALPHABET, alphabet))
    yield letters.translate(str.maketrans(_ALPHABET, _ALPHABET[::-1]))


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents.

    Unicode variants of a letter are replaced by the letter.
    """
    with suppress(UnicodeError):
        text = text.encode("ascii").decode("idna") if "xn--" in text.lower() else text
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in folded if c.isalnum())


def _numbers_of(value: Json) -> list[Decimal]:
    """Return the numbers in an argument value: a number itself, or all numbers in a text.

    The text may be an expression such as `4500*2`.
    """
    if isinstance(value, str):
        found = [number(token) for token in re.findall(r"\d[\d.,]*\d|\d", value[:1_000])]
        whole = [Decimal(int(value, 16))] if _HEX.fullmatch(value) else []
        if digits := _BASES.fullmatch(value.strip()):
            bases = (2, 8) if {*digits[1]} <= {*"01"} else (8,)
            whole += [Decimal(int(digits[1], base)) for base in bases]
        whole += _calculate_powers(value[:1_000])
        return [*(one for one in found if one is not None), *whole, *numbers_in_words(value)]
    kind, key = equality_key(value)
    return [Decimal(key)] if kind == "number" else []


def _calculate_powers(text: str) -> list[Decimal]:
    """Return the results of the powers, shifts and factorials that a text contains.

    Examples are `3**8`, `1<<13` and `7!`.
    """
    results = list[Decimal]()
    for base, sign, exponent in re.findall(r"(\d{1,9})\s?(\*\*|\^|<<)\s?(\d{1,2})(?!\d)", text):
        factor = 2 if sign == "<<" else int(base)
        results.append(Decimal((int(base) if sign == "<<" else 1) * factor ** int(exponent)))
    return results + [
        Decimal(factorial(int(one))) for one in re.findall(r"(?<!\d)(\d{1,2})!", text)
    ]


def _combine_numbers(numbers: list[Decimal]) -> Iterator[Decimal]:
    """Yield the results of simple arithmetic with these numbers.

    Each result is also yielded rounded, and multiplied by powers of ten.
    """
    is_small = len(numbers) <= _MOST_COMBINED
    results = [*numbers, *(_reduce_numbers(numbers) if is_small else _pairs(numbers))]
    if numbers:
        total = sum(numbers, Decimal())
        results += [total, total / len(numbers), Decimal(len(numbers))]
    for result in results:
        yield from (result, result.quantize(_CENT), result.quantize(_ONE))
        yield from (result * scale for scale in _TENS_OF)
    for one in numbers:
        yield from (result for scale in _TIMES for result in (one * scale, one / scale))
        yield from (one * 2, one / 2, one * one)
        yield from (one.to_integral_value(ROUND_CEILING), one.to_integral_value(ROUND_FLOOR))
        yield from (one + one * share / 100 for other in numbers for share in (other, -other))


def _pairs(numbers: list[Decimal]) -> Iterator[Decimal]:
    """Yield the results of one operation with any two of the numbers."""
    for at, one in enumerate(numbers):
        for other in numbers[at + 1 :]:
            yield from _combine_two(one, other)


def _combine_two(one: Decimal, other: Decimal) -> Iterator[Decimal]:
    """Yield the results of adding, subtracting, multiplying and dividing two numbers.

    Both orders of the numbers are tried.
    """
    for operation in _OPERATIONS:
        for first, second in ((one, other), (other, one)):
            yield operation(first, second)


def _reduce_numbers(numbers: list[Decimal]) -> Iterator[Decimal]:
    """Yield the results of combining two numbers, then a third, and so on, in every order."""
    yield from numbers
    for at, one in enumerate(numbers):
        for beside, other in enumerate(numbers[at + 1 :], at + 1):
            rest = [n for place, n in enumerate(numbers) if place not in (at, beside)]
            for result in _combine_two(one, other):
                yield result
                if rest:
                    yield from _reduce_numbers([result, *rest])
