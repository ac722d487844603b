"""Splitting of a text into the words that BM25 counts.

Text is brought into Unicode's compatibility form, without accents. Names are split at changes of
case and underscores (`getUserToken` → get, user, token; `HTTPServer` → http, server); `APIs`, `mp3`
and `COVID19` stay whole. Words are lower-cased, English stop words are dropped, and the rest is
stemmed (Snowball English). Text in scripts without spaces (Chinese, Japanese, Korean, Thai, Lao,
Burmese, Khmer) gives each character and each pair of neighbours; words of other scripts stay whole.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache
from typing import Any

from atc.pipeline.retrieve.base import require

TOKENIZER = "words-2"
"""Version of the rules above.

It is part of an index's fingerprint; an index with another version is rebuilt.
"""

_LONGEST = 64
"""Number of characters of a word that are kept. Longer words are encoded data, not searched for."""
_REMEMBERED = 1 << 17
"""Maximum number of cached stems. When it is reached, the cache is cleared."""
_STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just me more most my no
    nor not now of off on once only or other our out over own please same she should so some such
    than that the their them then there these they this those through to too under until up very was
    we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 (a list of a hundred literals is no easier to read)
)

# An acronym's plural; an acronym before a word; a word; an acronym or a number.
_PIECE = r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z][a-z0-9]*|[A-Z0-9]+"
_ASCII_PIECES = re.compile(_PIECE)
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"})
_ACCENTS = re.compile("[\u0300-\u036f]")
_NO_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_NO_SPACES}]")
_PIECES = re.compile(
    rf"[{_NO_SPACES}]+|[^\x00-\xbf\u2000-\u2bff\u3000-\u303f\ud800-\udfff{_NO_SPACES}]+|{_PIECE}"
)
"""Pattern of a run of letters of a script without spaces, of other letters, or of ASCII."""


def tokens(text: str) -> list[str]:
    """Return the stems of the words in `text` in order, with repetitions. Stop words are left out.

    Raises:
        RetrievalUnavailable: PyStemmer is not installed.
    """
    stems = _stems()
    if text.isascii():
        return list(filter(None, map(stems.__getitem__, _ASCII_PIECES.findall(text))))
    found = []
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_LETTERS)))
    for piece in _PIECES.findall(unicodedata.normalize("NFC", plain)):
        if piece.isascii() or not _UNSPACED.match(piece):
            found.append(stems[piece])
        else:
            found += piece
            found += [piece[i : i + 2] for i in range(len(piece) - 1)]
    return list(filter(None, found))


class _Stems(dict[str, str]):
    """A dict that computes the stem of each word on first use. The stem of a stop word is "".

    Thread-safe.
    """

    def __init__(self, stemmer: Any) -> None:
        super().__init__()
        self._stemmer = stemmer
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        lowered = word.lower()[:_LONGEST]
        # A stemmer is not thread-safe.
        with self._lock:
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
