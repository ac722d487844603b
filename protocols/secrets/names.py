"""Recognizes names of secrets, such as `password`, and the values that such a name can have."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from protocols.naming import WORDS, singular, split_words
from protocols.schema import Json

Kind = Literal["text", "number", "random"]
"""The kind of value that a secret's name announces. *text*: any text, or a long number. *number*: a
short code, such as a PIN, a one-time password or a card number. *random*: only text that looks
random, since the name has other uses, too (`key`, `tokens`).
"""

# Names are compared by their last words, joined: `api_key`, `apiKey` and `X-Api-Key` all end in
# `apikey`.

_SAID = WORDS["secrets"]
_TOKENS = {f"{word}{ending}" for word in _SAID["tokens"] for ending in ("token", "tokens")}
_TEXT = (
    _SAID["text"]
    | _TOKENS
    | {f"{word}{ending}" for word in _SAID["keys"] for ending in ("key", "keys")}
)
_NUMBER, _RANDOM, _NOTHING_NEW, _QUESTIONS = (
    _SAID[one] for one in ("number", "random", "nothing_new", "questions")
)
_ENDINGS = ("apikey", "passphrase", "passwd", "password", "secret", "secretkey")
"""Endings of names that are written as one word, such as `dbpassword`."""
_LONGEST = 4  # parts of an entry above: `2_fa_code` has four
_OTHERWISE = {word: _SAID[word] for word in ("token", "key", "pass")}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9 \-]{2,40}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SPACE = re.compile(r"\s")
_TIME = re.compile(r"\d{8}T\d{6}")
_NOT_SAID = split_words("basic bearer false n/a none null optional required true unknown")
_LONG_NUMBER = 6  # digits; a shorter number may be a count of tokens
_RANDOM_LENGTH = 16
_RANDOM_RUNS = 4
_RANDOM_PART = re.compile("[A-Za-z0-9]{8,}")
_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)+\.[A-Za-z]\w{1,4}")
HIDDEN = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
)
"""Characters that are not displayed."""
OTHER_SCRIPTS = re.compile(
    r"(?![\x00-\x7f])"  # skips most letters quickly
    rf"(?:{'|'.join(_SAID['other_scripts'])})"
    rf"(?P<is>[ \t]?(?:{'|'.join(_SAID['other_scripts_is'])})(?![^\W\d_a-zA-Z]))?",
    re.IGNORECASE,
)
"""Names of passwords in scripts other than Latin, with the word for "is" after them."""
_ACCENTS = re.compile("[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "Ł": "L", "Ø": "O", "Đ": "D"}
)
_CHORD = re.compile(
    r"(?:(?:ctrl|control|alt|altgr|shift|cmd|command|option|opt|meta|super|win|fn|strg|umschalt"
    r"|⌘|⌥|⇧)[ +-]{1,3})+\S{1,9}",
    re.IGNORECASE,
)
"""Keys of a keyboard that are pressed together, such as `Ctrl+C`."""
_SYMBOL = re.compile(r"[A-Z]{2,6}(?:-\d{1,4})?")
_RUNS = re.compile(r"^[A-Z][a-z]+|[A-Z]+|[a-z]+|\d+")


def fold_name(text: str) -> str:
    """Return a text without accents and hidden characters, so that names can be compared.

    Words for "password" in other scripts are replaced by `password`.
    """
    if text.isascii():
        return text
    seen = unicodedata.normalize("NFKC", HIDDEN.sub("", text))
    translated = OTHER_SCRIPTS.sub(" password ", seen)
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", translated)).translate(_LETTERS)


@lru_cache(maxsize=4096)
def secret_kind(name: str) -> Kind | None:
    """Return the kind of secret (`text`, `number` or `random`) that a field of this name contains.

    Return None if it contains no secret.
    """
    parts = [part.lower() for part in _PARTS.findall(fold_name(name[:100]))]
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _NOTHING_NEW):
        parts.pop()
    if not parts or parts[0] in _QUESTIONS or "public" in parts:
        return None
    before = parts[-2] if len(parts) > 1 else ""
    if before in _OTHERWISE.get(singular(parts[-1]), ()):
        return None
    return _kind_of_endings(parts)


def _kind_of_endings(parts: list[str]) -> Kind | None:
    """Return the kind of secret that a name which ends with these words has, or None."""
    endings = {"".join(parts[-size:]) for size in range(1, min(_LONGEST, len(parts)) + 1)}
    if endings & _TEXT or parts[-1].endswith(_ENDINGS):
        return "text"
    if endings & _NUMBER:
        return "number"
    return "random" if endings & _RANDOM else None


def is_secret(name: str, value: Json) -> bool:
    """Return True if a value of a field with this name is a secret.

    A flag, a count or a word such as `required` is no secret, whatever the name is.
    """
    if (
        (kind := secret_kind(name)) is None
        or isinstance(value, bool)
        or not isinstance(value, str | int | float)
    ):
        return False
    text = str(value).strip()
    if not isinstance(value, str):
        return kind == "number" or (kind == "text" and sum(map(str.isdigit, text)) >= _LONG_NUMBER)
    if not text or text.lower() in _NOT_SAID or is_chord_or_symbol(name, text):
        return False
    if kind == "number":
        return _CODE.fullmatch(text) is not None
    return kind == "text" or looks_random(text)


def is_chord_or_symbol(name: str, value: str) -> bool:
    """Return True if the value of a field named `token` or `key` is not a secret, but a symbol.

    It is a symbol such as `USDC` or `AES-256`, or keys of a keyboard such as `Ctrl+C`.
    """
    if not name.lower().endswith(("token", "key", "keys")):
        return False
    return _CHORD.fullmatch(value) is not None or _SYMBOL.fullmatch(value) is not None


def looks_random(text: str) -> bool:
    """Return True if letters and digits alternate in a text, as in an API key.

    Slugs, UUIDs, times and file names do not look random.
    """
    if (
        len(text) < _RANDOM_LENGTH
        or _SPACE.search(text)
        or _UUID.fullmatch(text)
        or _TIME.search(text)
    ):
        return False
    if "/" in text and _FILE.fullmatch(text):
        return False
    return any(len(_RUNS.findall(part)) >= _RANDOM_RUNS for part in _RANDOM_PART.findall(text))
