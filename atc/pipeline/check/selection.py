"""What the literal arguments of a call say about the keys of its response."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from protocols.naming import singular, snake

_NAME = re.compile(r"[A-Za-z_][\w-]{1,80}")
"""Pattern of a text that may be a key. Others, such as search texts and dates, are no keys."""
_SHORTEST_PART = 3
"""Minimum length of a name that counts as a part of a key. Shorter ones (`id`) are in many keys."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The names in the literal arguments of a call, in snake case and in the singular.

    `chosen` are those in arguments that select what the response contains, such as `fields`.
    """

    named: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str], *, chooses: bool) -> Selection:
        """Return the names in the texts of one argument, which may list them with commas.

        An argument that selects (`chooses`) may also have paths of names: `tracks(items.name)`.
        """
        separator = r"[^\w-]+" if chooses else r"\s*,\s*"
        parts = [part.strip() for text in texts for part in re.split(separator, text)]
        names = frozenset(_normalize(part) for part in parts if _NAME.fullmatch(part))
        return cls(names, names if chooses else frozenset())

    def __or__(self, other: Selection) -> Selection:
        """Return the names of both."""
        return Selection(self.named | other.named, self.chosen | other.chosen)

    def names(self, key: str) -> bool:
        """Return True if an argument names a key, or a part of it that is joined by `_`.

        The part must be at the beginning or the end, as `icon` in `temperature_icon`.
        """
        whole = _normalize(key)
        parts = (name for name in self.named if len(name) >= _SHORTEST_PART)
        return whole in self.named or any(
            whole.startswith(f"{part}_") or whole.endswith(f"_{part}") for part in parts
        )

    def chooses(self, key: str) -> bool:
        """Return True if an argument that selects what the response contains names the key."""
        return _normalize(key) in self.chosen


def _normalize(name: str) -> str:
    return singular(snake(name))
