"""Finds secrets in texts: each spelling of each of them, in one pass however many there are."""

from __future__ import annotations

import re
from bisect import bisect_left

from protocols.placeholder import PLACEHOLDER, spellings

SHORT = 6
"""Characters below which a secret is replaced only where it stands as a word of its own: `1234` is also in `12345`."""
_SHORTEST = 3
"""Below this it is not looked for in texts at all: it would be found in every one."""
_CLIPPED = 8
"""Characters of a secret's beginning that give it away before an ellipsis, where somebody has cut a text short."""
_CLIPPED_SILENTLY = 16
"""The same where a text just ends."""

_FEW = 64
"""So few are searched for one after the other: most texts have none, and that is known sooner."""


class SecretText:
    """A set of secrets, and texts without them. Adding and reading may be done by several threads at once."""

    def __init__(self) -> None:
        # Spellings by their first characters, longest first: what is looked up at each place of a text does not
        # depend on how many secrets there are.
        self._starts: dict[str, tuple[tuple[str, str], ...]] = {}
        self._short: dict[str, str] = {}
        self._short_words: tuple[int, re.Pattern[str]] | None = None  # how many there were when it was made

    def add(self, secret: str, placeholder: str) -> None:
        """Replace `secret` by `placeholder` from now on. Not to be called by two threads at once."""
        for spelling in spellings(secret):
            if len(spelling) >= SHORT:
                start = spelling[:SHORT]
                known = self._starts.get(start, ())
                if all(other != spelling for other, _ in known):
                    longest_first = sorted((*known, (spelling, placeholder)), key=lambda one: (-len(one[0]), one[0]))
                    self._starts[start] = tuple(longest_first)
            elif len(spelling) >= _SHORTEST:
                self._short.setdefault(spelling, placeholder)

    def __call__(self, text: str) -> str:
        """`text` with each secret replaced; placeholders that stand in it are left as they are."""
        if not self._starts and not self._short:
            return text
        pieces: list[str] = []  # texts at even places, placeholders at odd ones
        done = 0
        for found in PLACEHOLDER.finditer(text):
            pieces += [*self._long(text[done : found.start()]), found[0]]
            done = found.end()
        pieces += self._long(text[done:])
        if self._short:
            words = self._words()
            pieces[::2] = [words.sub(lambda found: self._short[found[0]], piece) for piece in pieces[::2]]
        return "".join(pieces)

    def _long(self, text: str) -> list[str]:
        """The text cut up: what stays at even places, placeholders of what was found at odd ones."""
        starts, done, at = self._starts, 0, 0
        pieces: list[str] = []
        if len(starts) <= _FEW and not any(start in text for start in starts.copy()):
            return [text]
        last = len(text) - SHORT + 1
        while True:
            at = next((i for i in range(at, last) if text[i : i + SHORT] in starts), last)
            if at >= last:
                return [*pieces, text[done:]]
            length, placeholder = self._match(text, at)
            if length:
                pieces += [text[done:at], placeholder]
                done = at = at + length
            else:
                at += 1

    def _match(self, text: str, at: int) -> tuple[int, str]:
        """How many characters at this place are a secret, whole or with its end cut off, and its placeholder."""
        candidates = self._starts[text[at : at + SHORT]]
        for spelling, placeholder in candidates:
            if text.startswith(spelling, at):
                return len(spelling), placeholder
        for spelling, placeholder in candidates:
            length = bisect_left(range(len(spelling)), 1, key=lambda n: not text.startswith(spelling[: n + 1], at))
            after = at + length
            cut = text.startswith(("…", "..."), after)
            if length >= _CLIPPED and (cut or (length >= _CLIPPED_SILENTLY and text[after : after + 1] in "\"'\\")):
                return length, placeholder
        return 0, ""

    def _words(self) -> re.Pattern[str]:
        """A pattern of the short ones, made when it is first needed after one was added."""
        if self._short_words is None or self._short_words[0] != len(self._short):
            longest_first = sorted(self._short.copy(), key=lambda word: (-len(word), word))
            pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
            self._short_words = len(longest_first), pattern
            return pattern
        return self._short_words[1]
