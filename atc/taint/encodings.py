"""Spellings of one text: what looks alike folded together, and what a text holds in an encoding."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

LONGEST_TEXT = 200_000
"""Characters of one text that are looked at."""

_DEPTH = 3
"""Encodings within one another that are undone."""

_WORD = re.compile(r"[^\W_]+")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_NO_WORD = re.compile(r"\d|[^\W_][A-Z]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_LOOKALIKES = str.maketrans(
    "аеорсухікјѕԁɡһвмнтАВЕКМНОРСТХІЈЅαορνικεηυΑΒΕΖΗΙΚΜΝΟΡΤΥΧıⅼ",
    "aeopcyxikjsdghbmhtabekmhopctxijsaopvikenuabezhikmnoptyxil",
)
"""Letters of other alphabets that look like these."""


def folded(text: str) -> str:
    """One spelling for what looks alike: compatibility forms, case, accents, invisible characters, other alphabets."""
    if text.isascii():
        return text.lower()
    seen = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc"))
    plain = unicodedata.normalize("NFKD", seen.translate(_LOOKALIKES)).casefold()
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_LOOKALIKES)


def words(text: str) -> list[str]:
    """The runs of letters and digits of a (folded) text."""
    return _WORD.findall(text)


def squashed(text: str) -> str:
    """A (folded) text without anything between its words."""
    return "".join(_WORD.findall(text))


def rot13(text: str) -> str:
    """The text by ROT13, its own inverse."""
    return codecs.decode(text, "rot13")


def decoded(text: str) -> Iterator[str]:
    """The text, and what it holds in base64, in hexadecimal digits, percent-encoded, as entities or as escapes."""
    waiting = [(text[:LONGEST_TEXT], 0)]
    seen: set[str] = set()
    while waiting:
        current, depth = waiting.pop()
        if current not in seen:
            seen.add(current)
            yield current
            if depth < _DEPTH:
                waiting += [(inner, depth + 1) for inner in _inner(current)]


def _inner(text: str) -> Iterator[str]:
    for plain in (unquote(text), html.unescape(text), _unescaped(text)):
        if plain != text:
            yield plain
    for token in filter(_NO_WORD.search, _ENCODED.findall(text)):  # what is encoded has digits or capitals within it
        for turned in (token, token[::-1], rot13(token)):
            yield from _of_token(turned)


def _of_token(token: str) -> Iterator[str]:
    """What a token spells in base64 or in hexadecimal digits, where that is a text."""
    bare = token.strip("=")
    found: list[bytes] = []
    if len(bare) % 4 != 1:
        with suppress(binascii.Error, ValueError):
            found.append(base64.b64decode(bare.translate({45: 43, 95: 47}) + "=" * (-len(bare) % 4)))
    if len(bare) % 2 == 0 and re.fullmatch(r"[0-9a-fA-F]+", bare):
        found.append(bytes.fromhex(bare))
    for raw in found:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text.isprintable():
            yield text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
