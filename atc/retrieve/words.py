"""The words of a text, as BM25 counts them.

Text is taken in Unicode's compatibility form, accents of Latin letters are dropped. Names are split on case and
underscores (`getUserToken` → get, user, token; `HTTPServer` → http, server); `APIs`, `mp3` and `COVID19` stay whole.
Words are lower-cased, English stop words dropped, the rest is stemmed (Snowball English). Scripts that write no spaces
(Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) give each character and each pair of neighbours; words of other
scripts stay whole.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache
from typing import Any

from atc.retrieve.base import require

TOKENIZER = "words-1"
"""Changes with the rules above: an index keeps it, and is made anew where it differs."""

_LONGEST = 64
"""Characters kept of a word: longer ones are encoded data, which nobody looks for by its end."""
_REMEMBERED = 1 << 17
"""Stems kept in memory: beyond, the memory starts anew."""
_STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers him his how
    i if in into is it its itself just me more most my no nor not now of off on once only or other our out over own
    please same she should so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 (a list of a hundred literals is no easier to read)
)

# An acronym's plural; an acronym before a word; a word; an acronym or a number.
_PIECE = r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z][a-z0-9]*|[A-Z0-9]+"
_ASCII_PIECES = re.compile(_PIECE)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)


def tokens(text: str) -> list[str]:
    """The stems of `text` in its order, as often as they come; an empty list where nothing but stop words is said.

    Raises:
        RetrievalUnavailable: PyStemmer is not installed.
    """
    stems = _stems()
    if text.isascii():
        return list(filter(None, map(stems.__getitem__, _ASCII_PIECES.findall(text))))
    found = []
    for piece in _pieces().findall(unicodedata.normalize("NFKC", text).translate(_unaccented())):
        if piece.isascii() or not _writes_no_spaces(piece[0]):
            found.append(stems[piece])
        else:
            found += piece
            found += [piece[i : i + 2] for i in range(len(piece) - 1)]
    return list(filter(None, found))


class _Stems(dict[str, str]):
    """The stem of each word seen, empty for a stop word. Several threads may read it."""

    def __init__(self, stemmer: Any) -> None:
        super().__init__()
        self._stemmer, self._lock = stemmer, threading.Lock()

    def __missing__(self, word: str) -> str:
        lowered = word.lower()[:_LONGEST]
        with self._lock:  # a stemmer works on one word at a time
            stem: str = "" if lowered in _STOP_WORDS else self._stemmer.stemWord(lowered)
            if len(self) >= _REMEMBERED:
                self.clear()
            if len(word) <= _LONGEST:
                self[word] = stem
        return stem


@cache
def _stems() -> _Stems:
    require("searching tools", "Stemmer")
    import Stemmer

    return _Stems(Stemmer.Stemmer("english", 0))


@cache
def _pieces() -> re.Pattern[str]:
    """Runs of a script without spaces, words of other scripts with their vowel signs, and the pieces of ASCII."""
    marks = "".join(chr(c) for c in range(0x300, 0x11FFF) if unicodedata.category(chr(c)) in {"Mn", "Mc"})
    return re.compile(rf"[{_UNSPACED}]+|(?:[^\W_\x00-\x7f{_UNSPACED}][{marks}]*)+|{_PIECE}")


@cache
def _writes_no_spaces(character: str) -> bool:
    return re.match(f"[{_UNSPACED}]", character) is not None


@cache
def _unaccented() -> dict[int, str]:
    """Latin letters beyond ASCII, each as ASCII letters where it has a plain form."""
    table = {ord(k): v for k, v in {"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}.items()}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        plain = "".join(c for c in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(c))
        if plain.isascii() and plain.isalpha():
            table[code] = plain
    return table | dict.fromkeys(range(0x300, 0x370), "")
