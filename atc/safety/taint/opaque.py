"""Recognition of opaque texts, whose content a person cannot see, as that of encoded data.

Such a text consists neither of words and numbers nor of ids of usual length.
"""

from __future__ import annotations

import re
import unicodedata

_LONGEST_ID = 64
"""Maximum number of letters and digits in an id. More of them, without words, are encoded data."""
_LONGEST_PIECE = 12
"""A part of a text that is not a word, but not longer than this, may be a code or a part of a UUID.
It is too short to carry a message.
"""
_SHORTEST_TOKEN = 16

_ESCAPES = re.compile(
    r"(?:(?:\\u\{?|\\x|\\|%|=)[\da-fA-F]{2,6}\}?|&#x?[\da-fA-F]+;?|\\[0-3][0-7]{2}){4,}"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"]{1,400}", re.IGNORECASE)
_PIECE = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[A-Za-z\d+/=_-]{65,}", re.ASCII)
_HEX = re.compile(r"[\da-f]+|[\dA-F]+")
_TURN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")
"""A change from lower case to upper case, or between letters and digits."""
_LETTERS_A_TURN = 5
"""Minimum average number of letters between such changes in a name such as `totalPriceInEuros`."""
_SIGNS = re.compile(r"[^\w\s]", re.ASCII)
_MOST_SIGNS = 8
"""A word with this many different signs is encoded, as in base85."""


def is_opaque(text: str) -> bool:
    """Return True if a person cannot see what a text contains.

    It has control characters, a series of escapes, or encoded data.
    """
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co") and c not in "\t\n\r" for c in text):
        return True
    if _ESCAPES.search(text):
        return True
    bare = _URL.sub(" ", text)
    pieces = _PIECE.findall(bare)
    strange = [piece for piece in pieces if not _is_readable(piece)]
    length = sum(map(len, strange))
    if any(map(_is_encoded, _RUN.findall(bare))):
        return True
    if length > _LONGEST_ID or any(map(_is_random_letters, bare.split())):
        return True
    mostly = length * 2 >= sum(map(len, pieces))
    return length >= _SHORTEST_TOKEN and mostly and not all(map(_HEX.fullmatch, strange))


def may_be_id(text: str) -> bool:
    """Return True if an opaque text has the length and the characters of an id or a token."""
    return len(text) <= _LONGEST_ID and re.fullmatch(r"[\w.:~+/=-]+", text, re.ASCII) is not None


def _is_readable(piece: str) -> bool:
    """Return True if a person can read a part of a text.

    It is a word, words joined as in `totalPrice`, a number, or short.
    """
    if len(piece) <= _LONGEST_PIECE or not piece.isascii():
        return True
    if piece.isdigit():
        return len(piece) <= 2 * _LONGEST_PIECE
    return len(_TURN.findall(piece)) * _LETTERS_A_TURN <= len(piece) <= _LONGEST_ID


def _is_encoded(run: str) -> bool:
    """Return True if a long series of base64 characters is probably encoded data.

    This is so if most of it does not look like words.
    """
    pieces = [
        piece for piece in _PIECE.findall(run) if len(piece) > 2 and not _HEX.fullmatch(piece)
    ]
    strange = [
        piece for piece in pieces if len(_TURN.findall(piece)) * _LETTERS_A_TURN > len(piece)
    ]
    return sum(map(len, strange)) * 2 > len(run)


def _is_random_letters(word: str) -> bool:
    return len(word) > 48 and len({*_SIGNS.findall(word)}) >= _MOST_SIGNS
