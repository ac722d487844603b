"""The shape of a retriever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from atc.types import Usage


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool (by alias) that fits a query. Scores compare within one result only; higher fits better."""

    tool: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The tools found, best first, ties in name order so that a run repeats; how they were found; what it took."""

    hits: tuple[Hit, ...]
    transcript: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Retriever(Protocol):
    """Searches one toolbox."""

    def search(self, query: str, *, k: int) -> Retrieval:
        """At most `k` tools; fewer, or none, where fewer fit."""
