"""Quoting of names and values from outside, such as tool names, in questions to a person.

Every text that asks a person something uses these functions. They make sure that no name or value
can end a line, reverse the direction of reading, be invisible, look like other letters, or seem to
be part of the words of atc itself.
"""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from protocols.schema import Json

INVISIBLE = frozenset(
    [
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFFC),
        *(0x16FE4, 0x1D159),
        *range(0x1BCA0, 0x1BCA4),
        *range(0x1D173, 0x1D17B),
        *range(0xE0000, 0xE1000),
    ]
)
"""Code points of characters that show nothing.

They are those that Unicode calls default ignorable (DerivedCoreProperties.txt), and blank letters
and symbols.
"""
MOST = 120
"""Maximum number of characters of a value that are shown; a longer value is cut in the middle."""
_LONGEST_NAME = 80
_LONGEST_TYPED = 200
"""Longest text, in characters, that may be part of a command for a person to copy."""
_MOST_MARKS = 3
"""Most combining marks on one letter that are shown; more would cover the lines above and below."""
_PLAIN_NAME = re.compile(r"[A-Za-z_\[][A-Za-z0-9_.\[\]-]{0,79}")
_QUOTE_MARKS = frozenset("'`´‘’‚‛“”„‟′″‵‶ʹʺʻʼʽˈˊˋ՚׳״ꞌ＇＂｀ˮ˝〃〝〞〟")
"""Characters that a reader may take for the end of a quotation."""
_LATIN_SHAPES = frozenset(
    "асеорхуіјѕһԁԛԝӏАВСЕНІЈКМОРЅТХУԌԚԜαινοκρυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցօᎪᏴᏟᎬᎻᎫᏦᎷᏢᏚᎢᏙᏃ"
)
"""Cyrillic, Greek, Armenian and Cherokee letters that can form words which look English."""
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
"""Scripts that are often written next to Latin letters without a space. None looks like Latin."""
_LAST_LATIN = 0x24F
"""Last code point of the blocks with Latin letters."""
_RIGHT_TO_LEFT = ("R", "AL", "AN")


def escape_hidden(text: str, *, keep_newlines: bool = False) -> str:
    """Return `text` with an escape for each character that is invisible or changes how others look.

    These are control characters, line ends, direction marks, invisible letters, unusual blanks,
    marks that strike a letter out, and piles of combining marks. If `keep_newlines` is True, line
    feeds stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    if keep_newlines:
        return "\n".join(map(escape_hidden, text.split("\n")))
    return "".join(_escape_units(text))


def quoted(value: Json, *, most: int = MOST) -> str:
    """Return a text in single quotes, or any other value as JSON, always on one line.

    A text of more than `most` characters is cut in the middle and followed by its length. Quotes
    and backslashes in the text are escaped, so it cannot seem to end early. Letters that look like
    Latin ones are escaped if they are in one word with Latin letters.
    """
    if not isinstance(value, str):
        text = format_number(value)
        return _cut(text, most, length=len(text), quote="")
    if len(value) <= 4 * most:
        return _cut(_quotable(value), most, length=len(value), quote="'")
    # The middle is not shown anyway.
    ends = [*_quotable(value[: 2 * most]), *_quotable(value[-2 * most :])]
    return _cut(ends, most, length=len(value), quote="'")


def quote_name(name: str) -> str:
    """Return a name unchanged if it is one plain ASCII word, else in quotes."""
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name, most=_LONGEST_NAME)


def safe_shell_argument(text: str) -> str | None:
    """Return a text quoted for a shell; None if it is too long or could deceive the reader."""
    if len(text) > _LONGEST_TYPED or "".join(_escape_lookalikes(text, strict=True)) != text:
        return None
    return shlex.quote(text)


def shell_word(word: str) -> str:
    """Return a word of a command as a person can read it: in quotes, if a shell needs quotes.

    The result is only for reading; `safe_shell_argument` quotes for a shell.
    """
    return word if shlex.quote(word) == word and len(word) <= _LONGEST_TYPED else quoted(word)


def command(*words: str) -> str | None:
    """Join words to a command that a person can copy into a shell.

    Return None if one of the words is unsafe, see `safe_shell_argument`.
    """
    safe = [safe_shell_argument(word) for word in words]
    return None if None in safe else " ".join(filter(None, safe))


def format_number(value: Json) -> str:
    """Return a number or boolean as JSON.

    An integer with thousands of digits is written in hexadecimal.
    """
    try:
        return json.dumps(value)
    except ValueError:
        return hex(value) if isinstance(value, int) else repr(value)


def _quotable(text: str) -> list[str]:
    """Return how each character of a text is written between single quotes, as a list."""
    units = _escape_lookalikes(text)
    for place, character in enumerate(text):
        if character in "'\\":
            units[place] = "\\" + character
        elif character in _QUOTE_MARKS and not _within_word(text, place):
            units[place] = _escape_character(character)
        elif character == " " and text[max(place - 2, 0) : place] == "  ":
            units[place] = "\\x20"  # a long gap would move the rest out of sight
    return units


def _within_word(text: str, place: int) -> bool:
    """Return True if the characters before and after the index `place` of a text are letters.

    A quotation mark between letters is seen as an apostrophe in a word.
    """
    return 0 < place < len(text) - 1 and text[place - 1].isalpha() and text[place + 1].isalpha()


def _cut(units: Sequence[str], most: int, *, length: int, quote: str) -> str:
    """Join the printable forms of a text's characters, and leave out the middle of a long text.

    `units` are these forms. Of a very long text, the caller may pass only those at both ends.
    `most` is the maximum number of characters, `length` the number of characters in the whole text,
    and `quote` the quotation mark around each part.
    """
    if len(units) <= most and sum(map(len, units)) <= 2 * most:
        return quote + "".join(units) + quote
    head = _take_fitting(units, most // 2)
    tail = _take_fitting(reversed(units[len(head) :]), most // 2)[::-1]
    ends = (f"{quote}{''.join(end)}{quote}" for end in (head, tail))
    return f"{' … '.join(ends)} ({length:,} characters)"


def _take_fitting(units: Iterable[str], most: int) -> list[str]:
    """Return the first of the printable characters `units`, as many as fit into `most` columns."""
    kept: list[str] = []
    room = most
    for unit in units:
        room -= len(unit)
        if room < 0:
            break
        kept.append(unit)
    return kept


def _escape_lookalikes(text: str, *, strict: bool = False) -> list[str]:
    """Return each character of a text in printable form, as a list.

    In words of mixed scripts, letters that look like Latin ones are escaped. If `strict` is True,
    every word is treated as an address, in which no other script may be mixed with Latin letters.
    """
    units = _escape_units(text)
    if text.isascii():
        return units
    for word in re.finditer(r"\S+", text):
        if word[0].isascii():
            continue
        deceives = _lookalike_test(word[0], strict=strict)
        for place in range(word.start(), word.end()):
            character = text[place]
            if not (character.isascii() or _is_latin(character)) and deceives(character):
                units[place] = _escape_character(character)
    return units


def _lookalike_test(word: str, *, strict: bool) -> Callable[[str], bool]:
    """Return a function that tells which non-Latin characters of a word must be escaped.

    It returns True for a character that may deceive a reader, for example by looking like a Latin
    one.
    """
    if re.search(r"[A-Za-z]", word):
        address = strict or re.search(r"[@/:.\\]\w", word) is not None
        return (lambda _: True) if address else _passes_for_latin
    letters = [character for character in word if character.isalpha()]
    if all(map(_looks_latin, letters)):
        return _looks_latin
    digits = re.search(r"[0-9]", word) is not None
    return lambda character: digits and unicodedata.bidirectional(character) in _RIGHT_TO_LEFT


def _looks_latin(character: str) -> bool:
    """Return True for a letter or digit of any script that looks like an ASCII letter or digit."""
    return character in _LATIN_SHAPES or (
        character.isalnum() and unicodedata.normalize("NFKC", character).isascii()
    )


def _passes_for_latin(character: str) -> bool:
    """Return True for a letter or digit of another script that a reader may take for a Latin one.

    Letters that are usual next to Latin ones, such as `ø` and `中`, are recognized by a reader.
    """
    east_asian = unicodedata.name(character, "").startswith(_EAST_ASIAN)
    return character.isalnum() and ord(character) > _LAST_LATIN and not east_asian


def _is_latin(character: str) -> bool:
    """Return True for a letter from A to Z with an accent or another mark."""
    base = unicodedata.normalize("NFD", character)
    return len(base) > 1 and base[0].isascii() and base[0].isalpha()


def _escape_units(text: str) -> list[str]:
    """Return each character of a text in printable form, as a list.

    A character is escaped if it is invisible or hides others.
    """
    units: list[str] = []
    marks = _MOST_MARKS  # a mark at the very beginning belongs to no letter
    for character in text:
        if unicodedata.category(character) not in ("Mn", "Me", "Mc"):
            marks = 0
            hidden = not character.isprintable() or ord(character) in INVISIBLE
        else:
            marks += 1
            over = unicodedata.combining(character) == 1 or unicodedata.category(character) == "Me"
            hidden = over or marks > _MOST_MARKS or ord(character) in INVISIBLE
        units.append(_escape_character(character) if hidden else character)
    return units


def _escape_character(character: str) -> str:
    r"""Return the Python escape of a character: `\n`, `\x1b`, `\u202e`; `\x61` for a plain `a`."""
    escaped = character.encode("unicode_escape").decode()
    return escaped if escaped != character else f"\\x{ord(character):02x}"
