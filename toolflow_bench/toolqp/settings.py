"""What the making of trajectories is set to: the paper's values, and those that it does not state."""

from __future__ import annotations

from dataclasses import dataclass

ROUNDS = 5
"""Rounds for one sub-task, each with more told about its tools; then there is no more to tell (Figure 15)."""
DEPTH = 100
"""Tools of a result in which a target's rank is looked for; one that is not among them has the rank behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How trajectories are made; equal settings, data, teacher and base give equal trajectories."""

    candidates: int = 3
    """Queries that are written in each round, of which the best counts: N, which the paper does not state."""
    threshold: int = 5
    """A query is valid where the mean rank of the sub-task's tools is no worse than this (C.2)."""
    keep_failed: float = 0.4
    """Probability that the queries which failed before the valid one stay in the trajectory (C.2)."""
    shown: int = 5
    """Tools of a result that the conversation shows (C.3)."""
    queries: int = 10
    """The longest trajectory, in queries: a planner may write no more (C.4)."""
    temperature: float = 1.0
    """Of the teacher's queries; plans and sub-goals are greedy. The paper took the endpoint's default."""
    tool_format: bool = False
    """ToolQP-Format: a valid query ends with the definition of its tool, and failed ones are left out."""
    seed: int = 0
