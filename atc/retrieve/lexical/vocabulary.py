"""The terms of an index by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol


class Vocabulary(Protocol):
    """Terms, whose numbers are their positions; `Strings` is one, too."""

    def find_all(self, strings: Sequence[str], /) -> list[int | None]:
        """The number of each term; None of one that no document holds."""

    def __iter__(self) -> Iterator[str]:
        """The terms in the order of their numbers."""

    def __len__(self) -> int:
        """How many there are."""


class Terms(dict[str, int]):
    """A vocabulary in memory that grows."""

    def add(self, term: str) -> int:
        """The number of a term, which is new or known."""
        return self.setdefault(term, len(self))

    def find_all(self, strings: Sequence[str], /) -> list[int | None]:
        """The number of each term; None of one that no document holds."""
        return list(map(self.get, strings))
