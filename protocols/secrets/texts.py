"""Secrets in plain texts: headers, settings, logs, tables, markup, command lines, addresses and sentences.

A name that says so (`protocols.secrets.names`) stands near each of them; what may stand between the two is written down
here for all names alike. What the value must look like depends on how plain the connection is: after `password=` any
word is a secret, in a sentence only what is no word. `secret_formats` and `secret_places` find those that need no name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache

from protocols.naming import split_words
from protocols.secrets import formats as secret_formats
from protocols.secrets import places as secret_places
from protocols.secrets import tables as secret_tables
from protocols.secrets.bonds import (
    ASSIGNED,
    CALLED,
    DRAWN,
    FLAG,
    IN_WORDS,
    ITEM,
    LISTED,
    MARKUP,
    NEXT_LINE,
    PART,
    PHRASE,
    SECOND,
    VALUE_BELOW,
)
from protocols.secrets.names import Kind, fold_name, is_chord_or_symbol, looks_random, secret_kind
from protocols.secrets.values import (
    SHORTEST,
    SIGNED,
    TAIL,
    WORD,
    Bond,
    is_label,
    is_not_word,
    is_random,
    iter_if_secret,
    iter_url_forms,
    kind_behind_name,
)
from protocols.secrets.view import ReadableText

_BEFORE = 2
_WINDOW = 400
_LONGEST_VALUE = 1_000
"""Characters before a name that are read, those behind it in which its value begins, and those of the value."""
_MOST_WINDOWS = 4_000
"""Windows of a text whose values are remembered, since many texts repeat their lines."""
_MOST_NAMES = 8_000
"""Names of one text that are looked at, so that none that repeats them takes long."""
_RUN = re.compile(r"[^\s\"'<>;,]{16}")
"""What every value has somewhere that looks drawn at random."""
_LONG_WORD = re.compile(r"[\w+~-]{20}")
"""What every text has that `DRAWN` finds."""
_TOKEN = re.compile(r"[^\W\d][\w.$-]{1,100}")
_STEMS = split_words(
    "adgangskode answer antwort api auth bearer card chave chiav clave cle code"
    " connectionstring contrase cookie cred cvc cvn cvv geheimzahl haslo heslo jelszo jeton jwt"
    " kennwort key khau kodeord losenord lozink mnemonic motde nyckel otp parola pass phrase pin"
    " prive psk pswd pw pwd salasana sandi schlu secret security segret senha sess sifre sig"
    " sleutel ssn token wachtwoord zugang"
)
"""Some of these stands in every name of a secret: most words are passed over without a closer look."""
_ATTRIBUTES = frozenset({"domain", "expires", "max-age", "path", "priority", "samesite"})
_LONGEST_NAME = 60
_NAME_ENDS = ".$-"
"""Signs behind a name that are none of its own."""
_COOKIES = frozenset({"cookie", "set-cookie"})
_PHRASES = ("phrase", "mnemonic")
_NEAR = 160
"""Characters behind a name in which a text that looks drawn at random is its value, whatever stands between."""


def find_text_secrets(text: str) -> Iterator[str]:
    """Yield the secrets that stand in a text, some of them more than once."""
    if len(text) < SHORTEST:
        return
    yield from _find_in_view(text)
    view = ReadableText(text)
    for piece in view.pieces():
        for value in _find_in_view(piece):
            yield from view.iter_source_forms(value)


def _find_in_view(text: str) -> Iterator[str]:
    """Yield the secrets of a text or of its view."""
    yield from secret_formats.find_known_formats(text)
    yield from secret_places.find_placed_secrets(text)
    rest = secret_formats.without_keys(text)
    if _has_stem(rest):
        yield from _find_behind_names(rest)


def _has_stem(text: str) -> bool:
    """Return True if a name of a secret may stand in a text."""
    if _holds_stem(text.lower()):
        return True
    return not text.isascii() and _holds_stem(fold_name(text).lower())


def _holds_stem(lower: str) -> bool:
    """Return True if a text in small letters has one of the stems."""
    return any(stem in lower for stem in _STEMS)


@lru_cache(maxsize=65_536)
def _is_name(token: str) -> bool:
    """Return True if a token may be the name of a secret. Most tokens stand in a text many times."""
    name = token.rstrip(_NAME_ENDS)
    return len(name) <= _LONGEST_NAME and _has_stem(name)


class _Places:
    """Where a pattern stands in a text. Places are asked for in order, so that each is looked at once."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._next = -1
        self._end = -1

    def find(self, start: int, stop: int) -> int:
        """Return where the pattern stands first between two places; -1 if it does not."""
        if self._next < start:
            found = self._pattern.search(self._text, start)
            self._next, self._end = (
                found.span() if found is not None else (sys.maxsize, sys.maxsize)
            )
        return self._next if self._end <= stop else -1


def _find_behind_names(text: str) -> Iterator[str]:
    """Yield the values that stand behind, below or between the names of secrets."""
    runs = _Places(_RUN, text)
    long_words = _Places(_LONG_WORD, text)
    values_behind = lru_cache(maxsize=_MOST_WINDOWS)(_values_behind)
    last = None
    lines_done = 0
    names = 0
    for found in _TOKEN.finditer(text):
        before = last
        last = found
        if not _is_name(found[0]):
            continue
        name = found[0].rstrip(_NAME_ENDS)
        start = found.start()
        end = start + len(name)
        kind = kind_behind_name(_with_word_before(text, before, name, start))
        if kind is None or (text[end : end + 1] == ":" and text[max(0, start - 1) : start] == ":"):
            continue
        names += 1
        if names > _MOST_NAMES:
            return
        if kind != "random" or name.lower() in SIGNED or runs.find(end, end + _WINDOW) >= 0:
            long_word = long_words.find(end, end + _NEAR) if kind == "text" else -1
            first = max(0, start - _BEFORE)
            window = text[first : end + _WINDOW + _LONGEST_VALUE]
            yield from values_behind(
                window, start - first, end - first, kind, max(-1, long_word - first)
            )
        if start >= lines_done:
            values, lines_done = secret_tables.find_table_secrets(text, start, lines_done)
            yield from values


def _with_word_before(text: str, before: re.Match[str] | None, name: str, start: int) -> str:
    """Return a name with the word before it, if the two may be one name: `api key`."""
    if before is None:
        return name
    word = before[0].rstrip(_NAME_ENDS)
    ended = before.start() + len(word)
    return f"{word} {name}" if start == ended + 1 and text[ended] in " -_" else name


def _values_behind(window: str, start: int, end: int, kind: Kind, long_word: int) -> list[str]:
    """Return the values of a name in a window. `long_word`: where what may be drawn at random begins; -1: nowhere."""
    name = window[start:end]
    found = list(_find_behind_name(window, start, end, kind, name.lower()))
    if long_word >= 0 and name.lower() not in _COOKIES:
        drawn = (one[0] for one in DRAWN.finditer(window, long_word, end + _NEAR))
        found += filter(is_random, drawn)
    return [value for value in found if not is_chord_or_symbol(name, value)]


def _find_behind_name(text: str, start: int, end: int, kind: Kind, name: str) -> Iterator[str]:
    """Yield what the value of a name is, by each way in which it may be connected to it."""
    if name in _COOKIES:
        yield from _find_cookies(text, end)
        return
    if (found := ASSIGNED.match(text, end)) is not None:
        yield from _find_assigned_value(text, found, kind, name)
    for pattern in (MARKUP, VALUE_BELOW, PART, CALLED, SECOND):
        if (found := pattern.match(text, end)) is not None:
            listed = pattern is SECOND and text[max(0, start - 2) : start - 1] != "("
            yield from iter_if_secret(
                _matched_value(found), kind, "near" if listed else "said", quoted=True
            )
    if (found := FLAG.match(text, end)) is not None:
        quoted = found["v"] is None
        if text[max(0, start - 2) : start].endswith("-"):
            yield from iter_if_secret(
                _matched_value(found).rstrip("]>)"),
                kind,
                "said" if quoted else "shown",
                quoted=False,
            )
        elif quoted:
            yield from iter_if_secret(_matched_value(found), kind, "near", quoted=True)
    for pattern in (IN_WORDS, NEXT_LINE):
        if (found := pattern.match(text, end)) is not None:
            yield from iter_if_secret(found["v"].rstrip(TAIL), kind, "near", quoted=False)
    if kind != "random":
        yield from _find_around_name(text, end, kind)


def _find_around_name(text: str, end: int, kind: Kind) -> Iterator[str]:
    """Yield lists below a name, and phrases behind it."""
    if (found := LISTED.match(text, end)) is not None:
        items = ITEM.findall(found["items"])
        if all(is_not_word(item) and not re.search("[,;|/]", item) for item in items):
            yield from items
    if (
        kind == "text"
        and (found := PHRASE.match(text, end)) is not None
        and not is_label(found["v"])
    ):
        yield found["v"]


def _find_assigned_value(text: str, found: re.Match[str], kind: Kind, name: str) -> Iterator[str]:
    """Yield the value that is assigned to a name."""
    quoted = found["v"] is None
    if name in SIGNED and not quoted and found[0] == f"={found['v']}" and "(" not in found["v"]:
        yield from iter_url_forms(found["v"])  # a signed address: whoever has it may use it
    bond: Bond = "said" if quoted or found["by"] not in ":|" or found["scheme"] else "shown"
    if quoted:
        yield from iter_if_secret(_matched_value(found).strip(), kind, bond, quoted=True)
    else:
        yield from _find_unquoted_value(text, found, kind, bond, name)


def _find_unquoted_value(
    text: str, found: re.Match[str], kind: Kind, bond: Bond, name: str
) -> Iterator[str]:
    """Yield an unquoted value: one word, or all the words of a phrase."""
    value = found["v"]
    line = text[found.start("v") : text.find("\n", found.start("v")) % (len(text) + 1)].strip()
    if re.fullmatch(r"[a-z]+(?: [a-z]+){3,30}", line) and (
        name.endswith(_PHRASES) or not is_label(line)
    ):
        yield line
        return
    if bond == "said" and value[0] == "{" and value[-1] == "}" and is_not_word(value[1:-1]):
        yield value[1:-1]  # as ODBC writes it
    alone = line == value
    if text[found.end("v") : found.end("v") + 1] in ",)" and re.fullmatch(
        r"[A-Za-z_]+[,)]*", value
    ):
        return  # a variable
    if value[-1] == ":" or (bond == "shown" and is_label(value)):
        return  # the next name, or a label as in a file of translations
    if " " in text[found.start("by") - 1 : found.start("by")] and re.fullmatch(
        r"[A-Za-z]+(?:_[A-Za-z]+)+", value
    ):
        return  # a variable, as in `token = read_token`
    if not alone and WORD.fullmatch(value.rstrip(TAIL)):
        return  # the first word of a sentence
    if bond == "shown" and not alone and not is_not_word(value.rstrip(TAIL)):
        return
    for one in iter_url_forms(value):
        yield from iter_if_secret(one, kind, bond, quoted=False)
    if value[-1] in TAIL:
        yield from iter_if_secret(value.rstrip(TAIL), kind, bond, quoted=False)


def _find_cookies(text: str, end: int) -> Iterator[str]:
    """Yield the values of a header with cookies that are named as secrets, or look drawn at random."""
    line = text[end : end + 1_000].split("\n", 1)[0]
    for name, value in re.findall(
        r"(?:^[\"']?\s*[:=]\s*[\"']?|[;,]\s*)([^=;,\s\"']+)=([^;,\s\"']{6,})", line
    ):
        if name.lower() in _ATTRIBUTES:
            continue
        if looks_random(value) or (secret_kind(name) is not None and is_not_word(value)):
            yield from iter_url_forms(value)


def _matched_value(found: re.Match[str]) -> str:
    """The value that a pattern of `secret_bonds` has found."""
    groups = found.groupdict()
    return next((groups[name] for name in _GROUPS if groups.get(name)), "")


_GROUPS = ("v", "q1", "q2", "q3", "r1", "r2", "r3")
