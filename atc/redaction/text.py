"""Finds secrets in texts: each spelling of each of them, in one pass however many there are."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left

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
_FEW = 64
"""So few are searched for one after the other: most texts have none, and that is known sooner."""

_WORD, _WORD_START = re.compile(r"\w"), re.compile(r"(?<!\w)")
_CUT, _END = re.compile(r"…|\.\.\."), re.compile(r"\Z|[\"'\\]")


class SecretText:
    """A set of secrets, and texts without them. Adding and reading may be done by several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._long: dict[str, str] = {}  # placeholders by spelling
        self._starts: set[str] = set()  # what is looked up at each place of a text, however many secrets there are
        self._lengths: dict[int, None] = {}  # of those that are compared as a whole; the longest first
        self._longest = 0
        self._sorted: list[str] | None = None
        self._short: dict[str, str] = {}

    def add(self, secret: str, placeholder: str) -> None:
        """Replace `secret` by `placeholder` from now on. Not to be called by two threads at once."""
        for spelling in spellings(secret):
            if SHORT > len(spelling) >= _SHORTEST:
                self._short.setdefault(spelling, placeholder)
            elif len(spelling) >= SHORT and spelling not in self._long:
                with self._lock:
                    self._long[spelling], self._sorted = placeholder, None
                    self._starts.add(spelling[:SHORT])
                    self._longest = max(self._longest, len(spelling))
                    if len(spelling) <= _TELLING and len(spelling) not in self._lengths:
                        self._lengths = dict.fromkeys(sorted([*self._lengths, len(spelling)], reverse=True))

    def __call__(self, text: str) -> str:
        """`text` with each secret replaced; placeholders that stand in it are left as they are."""
        if not self._long and not self._short:
            return text
        pieces: list[str] = []  # texts at even places, placeholders at odd ones
        done = 0
        for found in PLACEHOLDER.finditer(text):
            pieces += [*self._parted(text[done : found.start()]), found[0]]
            done = found.end()
        pieces += self._parted(text[done:])
        if self._short:
            pieces[::2] = map(self._words, pieces[::2])
        return "".join(pieces)

    def _parted(self, text: str) -> list[str]:
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
                done = at + length
            at += length or 1

    def _match(self, text: str, at: int) -> tuple[int, str]:
        """How many characters at this place are a secret, whole or with its end cut off, and its placeholder."""
        head = text[at : at + _TELLING]
        shared, spelling = self._nearest(head)
        if shared == _TELLING:
            shared, spelling = self._nearest(text[at : at + self._longest])
            return shared, self._long[spelling]
        for length in self._lengths:
            if length <= shared and (placeholder := self._long.get(head[:length])):
                return length, placeholder
        cut = shared >= _CLIPPED and _CUT.match(text, at + shared)
        if cut or (shared >= _CLIPPED_SILENTLY and _END.match(text, at + shared)):
            return shared, self._long[spelling]
        return 0, ""

    def _nearest(self, text: str) -> tuple[int, str]:
        """How many first characters of `text` a spelling begins with at most, and which one."""
        if self._sorted is None:
            self._sorted = sorted(self._long)
        at = bisect_left(self._sorted, text)
        return max((_shared(near, text), near) for near in self._sorted[max(0, at - 1) : at + 1])

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


def _shared(one: str, other: str) -> int:
    """How many first characters of two texts are the same."""
    return bisect_left(range(min(len(one), len(other))), 1, key=lambda n: not other.startswith(one[: n + 1]))
