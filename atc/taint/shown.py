"""A value as a person is shown it: clipped, on one line, with nothing in it that acts or deceives."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata

from protocols.jsontypes import Json

_MOST = 120
"""Characters of a value that are shown: of a longer one its beginning and its end, where a second address would be."""
_LONGEST_TYPED = 200
"""Characters of a value that a command is offered for."""


def shown(value: Json) -> str:
    """The value in quotes, or as JSON. Letters that pass for others within a word of Latin letters are escaped."""
    if not isinstance(value, str):
        return _clipped(plain(value))
    return _clipped(re.sub(r"\S+", lambda match: _honest(match.group()), repr(value)))


def plain(value: Json) -> str:
    """A number or a truth value as JSON writes it; an integer of thousands of digits in hexadecimal ones."""
    try:
        return json.dumps(value)
    except ValueError:
        return hex(value) if isinstance(value, int) else repr(value)


def typed(text: str) -> str | None:
    """The text as an argument of a shell's command, or None where nobody could tell by eye what they type."""
    if len(text) > _LONGEST_TYPED or repr(text)[1:-1].replace("\\'", "'").replace("\\\\", "\\") != text:
        return None
    return shlex.quote(text) if all(_honest(word) == word for word in text.split()) else None


def host_of(url: str) -> str | None:
    """The host that a URL really leads to, where one can be read off."""
    match = re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}([^/\\?#]*)", url, re.IGNORECASE)
    return match[1].rpartition("@")[2] if match and match[1] else None


def _honest(word: str) -> str:
    """The word with letters escaped that are not Latin, where it has Latin ones as well."""
    if word.isascii() or not re.search(r"[A-Za-z]", word):
        return word
    return "".join(c if c.isascii() or _is_latin(c) else c.encode("unicode_escape").decode() for c in word)


def _is_latin(character: str) -> bool:
    """Whether it is a letter from A to Z with an accent."""
    plain = unicodedata.normalize("NFD", character)
    return plain[0].isascii() and plain[0].isalpha() and len(plain) > 1


def _clipped(text: str) -> str:
    left_out = len(text) - _MOST
    return text if left_out <= 0 else f"{text[: _MOST // 2]}…({left_out:,} characters)…{text[-_MOST // 2 :]}"
