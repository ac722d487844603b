"""What the construction is set to: the paper's values (A.8, B.4), and those that it does not state."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How queries are made; equal settings, APIs and model replies give equal queries."""

    explore: int = 20
    """Calls of the four functions that explore (B.4)."""
    words: int = 30
    """The shortest query (B.4)."""
    least_categories: int = 2
    most_categories: int = 5
    """Categories that the calls of a solution come from (B.4)."""
    turns: int = 40
    """Calls of all functions together; the paper bounds those that explore alone."""
    finishes: int = 3
    """Times that a query is handed in, each but the last told what is wrong with it by rule."""
    pool: int = 16
    """APIs in the pool at most."""
    calls: int = 10
    """Calls of a solution at most: as many as the paper's solver may make (A.1)."""
    temperature: float = 1.0
    """Of the writer; judge and filter are greedy."""
    seed: int = 0

    def chance(self, *purpose: object) -> random.Random:
        """Chance that is the same whenever the same thing is done."""
        return random.Random(" ".join(map(str, (self.seed, *purpose))))  # noqa: S311 - a draw, not secrecy
