"""A check whether a tool could have built a value from its arguments: a text from parts, a number by arithmetic."""

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
"""Letters and digits in a row that count as taken from a longer text."""
_LONGEST_ADDED = 3
"""Letters and digits that a tool may add by itself without telling anything new."""
_MOST_COMPARED = 2_000
"""Letters and digits of a value that is looked at; none that matters is longer."""
_MOST_COMBINED = 4
"""Numbers of which every sum, difference, product and quotient is tried; of more, two at a time."""
_MOST_NUMBERS = 40
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST_CIPHER = 6
_LONGEST_CIPHER = 400
"""Letters of a text that may be a cipher; longer ones hold too many words by chance."""
_SMALL_NUMBER = 1_000
_TENS_OF = (10, 100, 1000, Decimal("0.1"), Decimal("0.01"), Decimal("0.001"))
_TIMES = (12, 24, 60, 1024, 1440, 3600, 7, 52, 365)
"""What hours, days, dozens and bytes are counted in."""
_ONE = Decimal(1)
_CENT = Decimal("0.01")
_BASES = re.compile(r"(?:0[bo])?([0-7]{1,64})", re.IGNORECASE | re.ASCII)
_SCHEME = re.compile(r"^(?:mailto|tel|sms|https?|ftp|urn):(?://)?", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[\da-f]{1,16}", re.IGNORECASE | re.ASCII)
_EXACT = Context(prec=60, traps=[])
_OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


class ArgumentTexts:
    """The texts and numbers of one call's arguments, in every spelling and decoding."""

    def __init__(self, arguments: JsonObject) -> None:
        values = [value for _, value in walk(arguments) if value is not None]
        keys = [key for value in values if isinstance(value, Mapping) for key in value]
        lists = [value for value in values if isinstance(value, list)]
        leaves = [value for value in values if not isinstance(value, list | Mapping)]
        texts = [leaf if isinstance(leaf, str) else format_number(leaf) for leaf in leaves]
        spelled = [
            text for one in lists for text in decode_numbers([n for n in one if type(n) is int])
        ]
        every = [*texts, *keys, "".join(texts), *spelled]
        forms = [
            letters
            for text in every
            for form in find_decodings(text)
            if (letters := _letters(form))
        ]
        self._forms = list(dict.fromkeys([*forms, *(form[::-1] for form in forms)]))
        texts = [text for text in texts if len(text) <= _LONGEST_CIPHER]
        self._ciphers = [
            _letters(text[start::step])
            for text in texts
            for step in (2, 3, 4)
            for start in range(step)
        ]
        self._ciphers += [
            one for form in self._forms if len(form) <= _LONGEST_CIPHER for one in _decipher(form)
        ]
        self._ciphers += [_letters(text.replace(sign, "")) for text in texts for sign in {*text}]
        self._ciphers += ["".join(re.findall(r"\b[A-Z](?=[a-z-])", text)).lower() for text in texts]
        self._counts = {Decimal(len(text.split())) for text in texts}
        self._counts |= {Decimal(len(value)) for value in [*lists, *texts]}
        words = {
            _letters(word)
            for text in [*texts, *keys]
            for word in [text, *re.split(r"[\W_]+", text)]
        }
        self._wholes = {word for word in words if len(word) > 1}
        self._numbers = [number for inner in leaves for number in _numbers_of(inner)][
            :_MOST_NUMBERS
        ]

    def can_build(self, value: Json) -> bool:
        """Return True if the value can be built from what was given."""
        if isinstance(value, bool) or value is None:
            return bool(self._forms)
        meant = number(value) if isinstance(value, str) else Decimal(equality_key(value)[1])
        if meant is not None and self._can_calculate(meant):
            return True
        return self._has_letters(
            _letters(_SCHEME.sub("", value if isinstance(value, str) else format_number(value)))
        )

    def _can_calculate(self, number: Decimal) -> bool:
        """Return True if the number can be calculated from what was given, or is how much was given."""
        if number in self._counts:
            return True
        wanted = abs(number)
        if wanted in {abs(one * scale) for one in self._numbers for scale in (1, *_TENS_OF)}:
            return True
        with localcontext(_EXACT):  # what cannot be calculated is no number, and equals nothing
            if wanted >= _SMALL_NUMBER:
                return any(wanted == abs(made) for made in _combine_numbers(self._numbers))
            # Most small numbers can be made of small ones, and of many: only two large ones tell something.
            return any(
                wanted == abs(made)
                for made in _pairs([one for one in self._numbers if abs(one) >= wanted])
            )

    def _has_letters(self, letters: str) -> bool:
        """Return True if all letters and digits but a few stand in what was given, in parts of any order."""
        if not letters or len(letters) > _MOST_COMPARED:
            return bool(self._forms)
        if len(letters) >= _SHORTEST_CIPHER and any(letters in one for one in self._ciphers):
            return True
        left = [0] * (len(letters) + 1)  # the fewest letters from each place on that were not given
        for start in reversed(range(len(letters))):
            longest = self._longest_from(letters, start)
            ends = [start + length for length in range(_SHORTEST_PART, longest + 1)]
            ends += [start + len(word) for word in self._wholes if letters.startswith(word, start)]
            left[start] = min([left[start + 1] + 1, *(left[end] for end in ends)])
        return left[0] <= min(_LONGEST_ADDED, len(letters) // 4)

    def _longest_from(self, letters: str, start: int) -> int:
        """Return how many of the letters from there on stand together in what was given."""
        longest = 0
        for form in self._forms:
            end = start + max(longest + 1, _SHORTEST_PART)
            while end <= len(letters) and letters[start:end] in form:
                longest = end - start
                end += 1
        return longest


def _decipher(letters: str) -> Iterator[str]:
    """Yield what simple ciphers make of letters: each moved on in the alphabet, or counted from its other end."""
    for moved in range(1, 26):
        alphabet = _ALPHABET[moved:] + _ALPHABET[:moved]
        yield letters.translate(str.maketrans(_ALPHABET, alphabet))
    yield letters.translate(str.maketrans(_ALPHABET, _ALPHABET[::-1]))


def _letters(text: str) -> str:
    """Return the letters and digits, in one spelling for compatibility forms, accents and letter case."""
    with suppress(UnicodeError):
        text = text.encode("ascii").decode("idna") if "xn--" in text.lower() else text
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in folded if c.isalnum())


def _numbers_of(value: Json) -> list[Decimal]:
    """Return the number, or the numbers that a text has, also within an expression such as `4500*2`."""
    if isinstance(value, str):
        found = [number(token) for token in re.findall(r"\d[\d.,]*\d|\d", value[:1_000])]
        whole = [Decimal(int(value, 16))] if _HEX.fullmatch(value) else []
        if digits := _BASES.fullmatch(value.strip()):
            bases = (2, 8) if {*digits[1]} <= {*"01"} else (8,)
            whole += [Decimal(int(digits[1], base)) for base in bases]
        whole += _calculate_powers(value[:1_000])
        return [*(one for one in found if one is not None), *whole, *numbers_in_words(value)]
    kind, held = equality_key(value)
    return [Decimal(held)] if kind == "number" else []


def _calculate_powers(text: str) -> list[Decimal]:
    """Return the powers, shifts and factorials of a text: `3**8`, `1<<13`, `7!`."""
    made = list[Decimal]()
    for base, sign, exponent in re.findall(r"(\d{1,9})\s?(\*\*|\^|<<)\s?(\d{1,2})(?!\d)", text):
        factor = 2 if sign == "<<" else int(base)
        made.append(Decimal((int(base) if sign == "<<" else 1) * factor ** int(exponent)))
    return made + [Decimal(factorial(int(one))) for one in re.findall(r"(?<!\d)(\d{1,2})!", text)]


def _combine_numbers(numbers: list[Decimal]) -> Iterator[Decimal]:
    """Yield the numbers that simple arithmetic makes of these, also a thousandth or a hundredfold of them."""
    some = (
        list(_reduce_numbers(numbers))
        if len(numbers) <= _MOST_COMBINED
        else [*numbers, *_pairs(numbers)]
    )
    if numbers:
        some += [
            sum(numbers, Decimal()),
            sum(numbers, Decimal()) / len(numbers),
            Decimal(len(numbers)),
        ]
    for made in some:
        yield from (made, made.quantize(_CENT), made.quantize(_ONE))
        yield from (made * scale for scale in _TENS_OF)
    for one in numbers:
        yield from (made for scale in _TIMES for made in (one * scale, one / scale))
        yield from (one * 2, one / 2, one * one)
        yield from (one.to_integral_value(ROUND_CEILING), one.to_integral_value(ROUND_FLOOR))
        yield from (one + one * share / 100 for other in numbers for share in (other, -other))


def _pairs(numbers: list[Decimal]) -> Iterator[Decimal]:
    for at, one in enumerate(numbers):
        for other in numbers[at + 1 :]:
            yield from _combine_two(one, other)


def _combine_two(one: Decimal, other: Decimal) -> Iterator[Decimal]:
    for operation in _OPERATIONS:
        for first, second in ((one, other), (other, one)):
            yield operation(first, second)


def _reduce_numbers(numbers: list[Decimal]) -> Iterator[Decimal]:
    """Yield what two of the numbers make, then with a third, and so on, in every order."""
    yield from numbers
    for at, one in enumerate(numbers):
        for beside, other in enumerate(numbers[at + 1 :], at + 1):
            rest = [n for place, n in enumerate(numbers) if place not in (at, beside)]
            for made in _combine_two(one, other):
                yield made
                if rest:
                    yield from _reduce_numbers([made, *rest])
