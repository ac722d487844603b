"""Finds secrets in texts: each spelling of each of them, in one pass however many there are."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left, insort

from protocols.secrets import PLACEHOLDER, spellings

SHORT = 6
"""Characters below which a secret is replaced only where it stands as a word of its own: `1234` is also in `12345`."""
_SHORTEST = 3
"""Below this it is not looked for in texts at all: it would be found in every one."""
_CLIPPED = 8
"""Characters of a secret's beginning that give it away before an ellipsis, where somebody has cut a text short."""
_CLIPPED_SILENTLY = 16
"""The same where a text just ends."""

_TELLING = 128
"""Characters of a longer secret's beginning that give it away whatever follows them."""
_AFTER = ("", '"', "'", "\\")
"""What follows a text that just ends."""
_FEW = 64
"""So few are searched for one after the other: most texts have none, and that is known sooner."""

_WORD, _WORD_START = re.compile(r"\w"), re.compile(r"(?<!\w)")


class _Group:
    """Spellings with the same first characters."""

    def __init__(self) -> None:
        self.placeholders: dict[str, str] = {}
        self.lengths: list[int] = []  # of those that are compared as a whole; the longest first
        self.longest = 0
        self._sorted: list[str] = []

    def add(self, spelling: str, placeholder: str) -> None:
        if spelling in self.placeholders:
            return
        self.placeholders[spelling] = placeholder
        insort(self._sorted, spelling)
        self.longest = max(self.longest, len(spelling))
        if len(spelling) <= _TELLING and len(spelling) not in self.lengths:
            insort(self.lengths, len(spelling), key=lambda length: -length)

    def nearest(self, text: str) -> tuple[int, str]:
        """How many first characters of `text` a spelling begins with at most, and which one."""
        at = bisect_left(self._sorted, text)
        return max((_shared(spelling, text), spelling) for spelling in self._sorted[max(0, at - 1) : at + 1])

    def ending_with(self, start: str, after: str) -> str | None:
        """A spelling that begins with `start` and not with `start + after`."""
        first, last = self._range(start)
        inner, end = self._range(start + after) if after else (first, first)
        return self._sorted[first] if first < inner else self._sorted[end] if end < last else None

    def _range(self, start: str) -> tuple[int, int]:
        return bisect_left(self._sorted, start), bisect_left(self._sorted, start + chr(0x10FFFF))


def _shared(one: str, other: str) -> int:
    """How many first characters of two texts are the same."""
    return bisect_left(range(min(len(one), len(other))), 1, key=lambda n: not other.startswith(one[: n + 1]))


class SecretText:
    """A set of secrets, and texts without them. Adding and reading may be done by several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # of the groups
        # Spellings by their first characters: what is looked up at each place of a text does not depend on how many
        # secrets there are.
        self._starts: dict[str, _Group] = {}
        self._short: dict[str, str] = {}

    def add(self, secret: str, placeholder: str) -> None:
        """Replace `secret` by `placeholder` from now on. Not to be called by two threads at once."""
        for spelling in spellings(secret):
            if len(spelling) >= SHORT:
                with self._lock:
                    self._starts.setdefault(spelling[:SHORT], _Group()).add(spelling, placeholder)
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
            pieces[::2] = map(self._words, pieces[::2])
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
            with self._lock:
                length, placeholder = self._match(text, at)
            if length:
                pieces += [text[done:at], placeholder]
                done = at = at + length
            else:
                at += 1

    def _match(self, text: str, at: int) -> tuple[int, str]:
        """How many characters at this place are a secret, whole or with its end cut off, and its placeholder."""
        group = self._starts[text[at : at + SHORT]]
        head = text[at : at + _TELLING]
        shared, spelling = group.nearest(head)
        if shared == _TELLING:
            shared, spelling = group.nearest(text[at : at + group.longest])
            return shared, group.placeholders[spelling]
        for length in group.lengths:
            if length <= shared and (placeholder := group.placeholders.get(head[:length])):
                return length, placeholder
        for length in range(shared, _CLIPPED - 1, -1):
            cut = text.startswith(("…", "..."), at + length)
            if cut or (length >= _CLIPPED_SILENTLY and text[at + length : at + length + 1] in _AFTER):
                clipped = group.ending_with(head[:length], text[at + length : at + length + 1])
                if clipped is not None:
                    return length, group.placeholders[clipped]
        return 0, ""

    def _words(self, text: str) -> str:
        """`text` without the short ones that stand in it as words."""
        pieces, done = [], 0
        for place in _WORD_START.finditer(text):
            at = place.start()
            for length in range(SHORT - 1, _SHORTEST - 1, -1) if at >= done else ():
                placeholder = self._short.get(text[at : at + length])
                if placeholder and not _WORD.match(text, at + length):
                    pieces += [text[done:at], placeholder]
                    done = at + length
                    break
        return "".join([*pieces, text[done:]])
