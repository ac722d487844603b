"""How far probing may go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """Limits of one probing. `budget` and `per_tool` count calls sent, over all times the same folder was probed."""

    budget: int | None = None
    """Calls in all; None: `per_tool` for each tool."""
    per_tool: int = 15
    attempts: int = 3
    """Instances tried for one tool in one round (the paper's N) that taught nothing new."""
    rounds: int = 3
    """Chain rounds after the first round, in which each tool is probed alone (the paper's β)."""
    allow_writes: bool = False
    """Whether tools that are not known to be read-only may be called."""
    requests_per_second: float | None = 10.0
    """To one host; None: no limit."""
    timeout_seconds: float = 20.0
    """For one call."""
    seed: int = 0
    """Of every choice that is drawn."""
