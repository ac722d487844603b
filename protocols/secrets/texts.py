"""Finds secrets in plain text, such as settings, logs, tables, markup, URLs and sentences.

Most secrets have a name nearby (see `protocols.secrets.names`). `protocols.secrets.value_patterns`
describes what may be between the name and the value. After `password=`, any word is a secret. In a
sentence, only a text that is not a word is one. `protocols.secrets.formats` and
`protocols.secrets.nameless` find secrets that need no name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache

from protocols.naming import split_words
from protocols.secrets import formats as secret_formats
from protocols.secrets import nameless as nameless_secrets
from protocols.secrets import tables as secret_tables
from protocols.secrets.names import Kind, fold_name, is_chord_or_symbol, looks_random, secret_kind
from protocols.secrets.value_patterns import (
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
from protocols.secrets.values import (
    SHORTEST,
    SIGNED,
    TAIL,
    WORD,
    Connection,
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
"""How many characters are read around a name: `_BEFORE` before it, `_WINDOW` after it, within which
the value must begin, and `_LONGEST_VALUE` more, since the value may end later.
"""
_MOST_WINDOWS = 4_000
"""Number of windows (texts around names) whose values are cached, since many texts repeat lines."""
_MOST_NAMES = 8_000
"""Maximum number of names in one text that are examined, so that repeated names cannot make it
slow.
"""
_RUN = re.compile(r"[^\s\"'<>;,]{16}")
"""A series of 16 characters that every value which looks random contains (a quick first test)."""
_LONG_WORD = re.compile(r"[\w+~-]{20}")
"""A word of 20 characters that every match of `DRAWN` contains (a quick first test)."""
_TOKEN = re.compile(r"[^\W\d][\w.$-]{1,100}")
_STEMS = split_words(
    "adgangskode answer antwort api auth bearer card chave chiav clave cle code"
    " connectionstring contrase cookie cred cvc cvn cvv geheimzahl haslo heslo jelszo jeton jwt"
    " kennwort key khau kodeord losenord lozink mdp mnemonic motde nyckel otp parola pass phrase"
    " pin prive psk pswd pw pwd salasana sandi schlu secret security segret senha sess sifre"
    " sig sleutel ssn token wachtwoord zugang"
)
"""Every name of a secret contains one of these stems, so words without a stem are not examined."""
_OTHER_NAME = re.compile(r"[#\[\w.\]-]{2,60}=")
_FINGERPRINT = re.compile(
    r"(?:sha\d{0,3}|hash|digest|commit|checksum|etag|rev|revision|_id|kid)"
    r"[\"']?[ \t]?[:=][ \t]?[\"']?\Z",
    re.IGNORECASE,
)
"""A name such as `commit:`, whose value looks random but is no secret."""
_ATTRIBUTES = frozenset({"domain", "expires", "max-age", "path", "priority", "samesite"})
_LONGEST_NAME = 60
_NAME_ENDS = ".$-"
"""Characters at the end of a name that are not part of it."""
_COOKIES = frozenset({"cookie", "set-cookie"})
_PHRASES = ("phrase", "mnemonic")
_NEAR = 160
"""A text that looks random counts as the value of a name if it is within this many characters after
the name.
"""


def find_text_secrets(text: str) -> Iterator[str]:
    """Yield the secrets in a text. The same secret may be yielded more than once."""
    if len(text) < SHORTEST:
        return
    yield from _find_in_view(text)
    view = ReadableText(text)
    for piece in view.pieces():
        for value in _find_in_view(piece):
            yield from view.iter_source_forms(value)


def _find_in_view(text: str) -> Iterator[str]:
    """Yield the secrets in a text exactly as it is written, without decoding anything."""
    yield from secret_formats.find_known_formats(text)
    yield from nameless_secrets.find_nameless_secrets(text)
    rest = secret_formats.without_keys(text)
    if _has_stem(rest):
        yield from _find_behind_names(rest)


def _has_stem(text: str) -> bool:
    """Return True if a text may contain the name of a secret, since it contains a part of one.

    An example of such a part is `passw`.
    """
    if _holds_stem(text.lower()):
        return True
    return not text.isascii() and _holds_stem(fold_name(text).lower())


def _holds_stem(lower: str) -> bool:
    """Return True if a lower-case text contains a part of a name of secrets, such as `passw`."""
    return any(stem in lower for stem in _STEMS)


@lru_cache(maxsize=65_536)
def _is_name(token: str) -> bool:
    """Return True if a word may be the name of a secret. Results are cached, since words repeat."""
    name = token.rstrip(_NAME_ENDS)
    return len(name) <= _LONGEST_NAME and _has_stem(name)


class _Places:
    """Finds the positions at which a pattern matches in a text, and searches the text only once.

    For this, the arguments `start` of the calls of `find` must be in ascending order.
    """

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._next = -1
        self._end = -1

    def find(self, start: int, stop: int) -> int:
        """Return the start of the next match that lies between `start` and `stop`, or -1."""
        if self._next < start:
            found = self._pattern.search(self._text, start)
            self._next, self._end = (
                found.span() if found is not None else (sys.maxsize, sys.maxsize)
            )
        return self._next if self._end <= stop else -1


def _find_behind_names(text: str) -> Iterator[str]:
    """Yield the values in a text that have the name of a secret, such as `password`.

    A value may follow its name, be below it, or be in the table column that has the name.
    """
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
    """Return a name together with the word before it in the text, if both may be one name.

    For example `api key` for the name `key`. `before` matches the word before.
    """
    if before is None:
        return name
    word = before[0].rstrip(_NAME_ENDS)
    ended = before.start() + len(word)
    return f"{word} {name}" if start == ended + 1 and text[ended] in " -_" else name


def _values_behind(window: str, start: int, end: int, kind: Kind, long_word: int) -> list[str]:
    """Return the secrets whose name is `window[start:end]`, a part of the text `window`.

    `long_word` is the position of a long word that may be a random value, or -1.
    """
    name = window[start:end]
    found = list(_find_behind_name(window, start, end, kind, name.lower()))
    if long_word >= 0 and name.lower() not in _COOKIES:
        drawn = DRAWN.finditer(window, long_word, end + _NEAR)
        found += [
            one[0]
            for one in drawn
            if is_random(one[0]) and not _FINGERPRINT.search(window, end, one.start())
        ]
    return [value for value in found if not is_chord_or_symbol(name, value)]


def _find_behind_name(text: str, start: int, end: int, kind: Kind, name: str) -> Iterator[str]:
    """Yield the secrets that follow the name at `text[start:end]`.

    Every known way to write a value after a name is tried, such as `=` or markup.
    """
    if name in _COOKIES:
        yield from _find_cookies(text, end)
        return
    if (found := ASSIGNED.match(text, end)) is not None:
        yield from _find_assigned_value(text, found, kind, name)
    for pattern in (MARKUP, VALUE_BELOW, PART, CALLED, SECOND):
        if (found := pattern.match(text, end)) is not None:
            value = _matched_value(found)
            is_listed = pattern is SECOND and text[max(0, start - 2) : start - 1] != "("
            connection: Connection = "near" if is_listed else "assigned"
            yield from iter_if_secret(value, kind, connection, quoted=True)
    if (found := FLAG.match(text, end)) is not None:
        is_option = text[max(0, start - 2) : start].endswith("-")
        yield from _find_next_argument(found, kind, is_option=is_option)
    if (found := IN_WORDS.match(text, end)) is not None:
        yield from iter_if_secret(found["v"].rstrip(TAIL), kind, "near", quoted=False)
    if (found := NEXT_LINE.match(text, end)) is not None and _is_line_of_name(text, end, found):
        yield from iter_if_secret(found["v"].rstrip(TAIL), kind, "near", quoted=False)
    if kind != "random":
        yield from _find_around_name(text, end, kind)


def _is_secret_item(item: str) -> bool:
    """Return True if an item of a list can be a secret, such as a recovery code.

    The list is below the name of a secret in a text.
    """
    is_value = _OTHER_NAME.match(item) is None and re.search("[,;|/]", item) is None
    return is_value and is_not_word(item)


def _is_line_of_name(text: str, end: int, found: re.Match[str]) -> bool:
    """Return True if the line below the name of a secret can be the value of this name.

    It cannot if it assigns a value to another name, or if the name is part of a path. `end` is the
    end of the name in `text`, and `found` matches the line.
    """
    return _OTHER_NAME.match(found["v"]) is None and text[end : end + 1] != "/"


def _find_next_argument(found: re.Match[str], kind: Kind, *, is_option: bool) -> Iterator[str]:
    """Yield the value that follows the name of a secret after a space, as in a command line.

    After an option such as `--password`, it may be any argument; otherwise it must be in quotes.
    """
    value = _matched_value(found)
    quoted = found["v"] is None
    if is_option:
        connection: Connection = "assigned" if quoted else "marked"
        yield from iter_if_secret(value.rstrip("]>)"), kind, connection, quoted=False)
    elif quoted:
        yield from iter_if_secret(value, kind, "near", quoted=True)


def _find_around_name(text: str, end: int, kind: Kind) -> Iterator[str]:
    """Yield secrets that are written in one of two ways after the name of a secret.

    They are the items of a list in the lines below the name, or a passphrase in quotes after it.
    """
    if (found := LISTED.match(text, end)) is not None:
        items = ITEM.findall(found["items"])
        if all(map(_is_secret_item, items)):
            yield from items
    if (
        kind == "text"
        and (found := PHRASE.match(text, end)) is not None
        and not is_label(found["v"])
    ):
        yield found["v"]


def _find_assigned_value(text: str, found: re.Match[str], kind: Kind, name: str) -> Iterator[str]:
    """Yield the value that a text assigns to the name of a secret, as in `password = …`.

    `found` matches the text from the end of the name on.
    """
    quoted = found["v"] is None
    if name in SIGNED and not quoted and found[0] == f"={found['v']}" and "(" not in found["v"]:
        yield from iter_url_forms(found["v"])  # a signed URL works for everyone who has it
    is_assigned = quoted or found["by"] not in ":|" or found["scheme"]
    connection: Connection = "assigned" if is_assigned else "marked"
    if quoted:
        yield from iter_if_secret(_matched_value(found).strip(), kind, connection, quoted=True)
    else:
        yield from _find_unquoted_value(text, found, kind, connection, name)


def _find_unquoted_value(
    text: str, found: re.Match[str], kind: Kind, connection: Connection, name: str
) -> Iterator[str]:
    """Yield the secret that is assigned without quotes: one word, or all words of a passphrase."""
    value = found["v"]
    line = text[found.start("v") : text.find("\n", found.start("v")) % (len(text) + 1)].strip()
    is_phrase = re.fullmatch(r"[a-z]+(?: [a-z]+){3,30}", line) is not None
    if is_phrase and (name.endswith(_PHRASES) or not is_label(line)):
        yield line
        return
    in_braces = value[0] == "{" and value[-1] == "}"
    if connection == "assigned" and in_braces and is_not_word(value[1:-1]):
        yield value[1:-1]  # braces quote values in ODBC
    if _is_variable(text, found) or _is_sentence(value, connection, is_whole_line=line == value):
        return
    for one in iter_url_forms(value):
        yield from iter_if_secret(one, kind, connection, quoted=False)
    if value[-1] in TAIL:
        yield from iter_if_secret(value.rstrip(TAIL), kind, connection, quoted=False)


def _is_variable(text: str, found: re.Match[str]) -> bool:
    """Return True if an assigned value is a variable: `f(token=x, …)` or `token = read_token`."""
    value = found["v"]
    is_argument = text[found.end("v") : found.end("v") + 1] in ",)"
    if is_argument and re.fullmatch(r"[A-Za-z_]+[,)]*", value):
        return True
    is_spaced = " " in text[found.start("by") - 1 : found.start("by")]
    return is_spaced and re.fullmatch(r"[A-Za-z]+(?:_[A-Za-z]+)+", value) is not None


def _is_sentence(value: str, connection: Connection, *, is_whole_line: bool) -> bool:
    """Return True if the text after the name of a secret is not a value.

    It may be a part of a sentence, a label, or the next name.
    """
    if value[-1] == ":":
        return True
    if connection == "marked" and is_label(value):  # as in a file of translations
        return True
    word = value.rstrip(TAIL)
    if is_whole_line:
        return False
    return WORD.fullmatch(word) is not None or (connection == "marked" and not is_not_word(word))


def _find_cookies(text: str, end: int) -> Iterator[str]:
    """Yield the secrets in a `Cookie` header: values with the name of a secret, or random values.

    `end` is the end of the header's name in `text`.
    """
    line = text[end : end + 1_000].split("\n", 1)[0]
    for name, value in re.findall(
        r"(?:^[\"']?\s*[:=]\s*[\"']?|[;,]\s*)([^=;,\s\"']+)=([^;,\s\"']{6,})", line
    ):
        if name.lower() in _ATTRIBUTES:
            continue
        if looks_random(value) or (secret_kind(name) is not None and is_not_word(value)):
            yield from iter_url_forms(value)


def _matched_value(found: re.Match[str]) -> str:
    """Return the secret's value in a match of a pattern from `protocols.secrets.value_patterns`."""
    groups = found.groupdict()
    return next((groups[name] for name in _GROUPS if groups.get(name)), "")


_GROUPS = ("v", "q1", "q2", "q3", "r1", "r2", "r3")
