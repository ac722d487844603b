"""Counts from which figures are made: they add up over tools and services."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Rate:
    """What was said, of it what is right, and what there is to say."""

    right: int = 0
    said: int = 0
    wanted: int = 0

    @classmethod
    def of(cls, said: Collection[object], wanted: Collection[object]) -> Self:
        """Of two collections of distinct items."""
        return cls(len(set(said) & set(wanted)), len(set(said)), len(set(wanted)))

    @property
    def precision(self) -> float | None:
        """Share of what was said that is right; None where nothing was said."""
        return self.right / self.said if self.said else None

    @property
    def recall(self) -> float | None:
        """Share of what there is that was said; None where there is nothing."""
        return self.right / self.wanted if self.wanted else None

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.right + other.right, self.said + other.said, self.wanted + other.wanted)

    def as_json(self) -> dict[str, Any]:
        """The counts and both shares."""
        return {
            "right": self.right,
            "said": self.said,
            "wanted": self.wanted,
            "precision": rounded(self.precision),
            "recall": rounded(self.recall),
        }


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many are right."""

    right: int = 0
    of: int = 0

    @classmethod
    def count(cls, truths: Iterable[bool]) -> Self:
        """Of so many verdicts."""
        verdicts = list(truths)
        return cls(sum(verdicts), len(verdicts))

    @property
    def share(self) -> float | None:
        """None of none."""
        return self.right / self.of if self.of else None

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.of + other.of)

    def as_json(self) -> dict[str, Any]:
        """The counts and the share."""
        return {"right": self.right, "of": self.of, "share": rounded(self.share)}


def rounded(share: float | None) -> float | None:
    """To four places."""
    return None if share is None else round(share, 4)


def percent(share: float | None) -> str:
    """`98.4%`, or a dash where there is none."""
    return "–" if share is None else f"{share:.1%}"
