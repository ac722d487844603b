"""Replacement of secrets in texts.

Secrets are found as they are and as they are escaped in JSON, URLs, HTML, Python and shells, all in
one pass over a text.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left, bisect_right, insort

from protocols.secrets import PLACEHOLDER, encoded_forms

SHORT = 6
"""A shorter secret is replaced only as a whole word: `1234` also occurs in `12345`."""
_SHORTEST = 3
"""A shorter secret is not replaced in texts, since it occurs in almost every text."""
_CLIPPED = 8
_CLIPPED_SILENTLY = 16
"""Secrets that were cut off are replaced, too: the beginning of a secret with at least `_CLIPPED`
characters before an ellipsis, or with `_CLIPPED_SILENTLY` characters at the end of a text.
"""
_FEW = 64
"""With up to this many secrets, a text is first searched for the beginning of each secret, which is
fast. Most texts contain none.
"""

_WORD = re.compile(r"\w")
_WORD_START = re.compile(r"(?<!\w)")
_CUT = re.compile(r"…|\.\.\.|\Z|[\"'\\]")


class SecretText:
    """A set of secrets, and a function that replaces them by placeholders in texts.

    One thread may add secrets while others replace them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}  # placeholders by spelling
        self._long: dict[str, list[str]] = {}  # spellings in order, by their first characters
        self._longest = 0
        self._short: dict[str, str] = {}

    def add(self, secret: str, placeholder: str) -> None:
        """Add a secret and its placeholder. Not to be called by two threads at once."""
        for spelling in encoded_forms(secret):
            if SHORT > len(spelling) >= _SHORTEST:
                self._short.setdefault(spelling, placeholder)
            elif len(spelling) >= SHORT and spelling not in self._names:
                with self._lock:
                    self._names[spelling] = placeholder
                    self._longest = max(self._longest, len(spelling))
                    insort(self._long.setdefault(spelling[:SHORT], []), spelling)

    def __call__(self, text: str) -> str:
        """Return `text` with each secret replaced by its placeholder.

        Placeholders that are already in the text are not changed.
        """
        if not self._names and not self._short:
            return text
        pieces: list[str] = []  # alternately texts and placeholders
        done = 0
        for found in PLACEHOLDER.finditer(text):
            pieces += [*self._split_text(text[done : found.start()]), found[0]]
            done = found.end()
        pieces += self._split_text(text[done:])
        if self._short:
            pieces[::2] = map(self._replace_short_words, pieces[::2])
        return "".join(pieces)

    def _split_text(self, text: str) -> list[str]:
        """Divide a text at its secrets, and return the pieces with placeholders between them.

        The list alternates: a piece without secrets, the placeholder of the secret that followed
        it, the next piece, and so on.
        """
        done = 0
        at = 0
        last = len(text) - SHORT + 1
        pieces: list[str] = []
        if len(self._long) <= _FEW and not any(start in text for start in self._long.copy()):
            return [text]
        while True:
            at = next((i for i in range(at, last) if text[i : i + SHORT] in self._long), last)
            if at >= last:
                return [*pieces, text[done:]]
            with self._lock:
                length, spelling = self._match(text, at)
            if length:
                pieces += [text[done:at], self._names[spelling]]
                done = at + length
            at += length or 1

    def _match(self, text: str, at: int) -> tuple[int, str]:
        """Return how many characters of a secret begin at the index `at`, and the whole secret.

        The secret is returned as it is escaped in the text. The number is smaller than its length
        if the secret is cut off in the text. The result is `(0, "")` if no secret begins here.
        """
        known = self._long[text[at : at + SHORT]]
        rest = text[at : at + self._longest]
        place = bisect_right(known, rest)
        cut = max(
            (_shared_length(rest, near), near) for near in known[max(0, place - 1) : place + 1]
        )
        while place:
            near = known[place - 1]
            if rest.startswith(near):
                return len(near), near
            rest = rest[: _shared_length(rest, near)]
            place = bisect_right(known, rest, hi=place)
        end = _CUT.match(text, at + cut[0])
        shortest = _CLIPPED if end and end[0] in ("…", "...") else _CLIPPED_SILENTLY
        return cut if end and cut[0] >= shortest else (0, "")

    def _replace_short_words(self, text: str) -> str:
        """Return `text` with placeholders for those short secrets that are whole words in it."""
        pieces = []
        done = 0
        for place in _WORD_START.finditer(text):
            at = place.start()
            for length in range(SHORT - 1, _SHORTEST - 1, -1) if at >= done else ():
                placeholder = self._short.get(text[at : at + length])
                if placeholder and not _WORD.match(text, at + length):
                    pieces += [text[done:at], placeholder]
                    done = at + length
                    break
        return "".join([*pieces, text[done:]])


def _shared_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at the beginning."""
    return bisect_left(
        range(min(len(one), len(other))), 1, key=lambda n: not other.startswith(one[: n + 1])
    )
