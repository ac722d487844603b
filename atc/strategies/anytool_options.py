"""What can be set of AnyTool: the paper's limits, and the ablations of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from atc.retrieve.hierarchy.agent import Role

_WOKEN: Mapping[str, tuple[Role, ...]] = {
    "tool": ("tool", "flat"),
    "category": ("tool", "category", "flat"),
    "meta": ("tool", "category", "meta", "flat"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be set of AnyTool; the defaults are the paper's, everything else is one of its ablations.

    Raises:
        ValueError: a number is less than 1 (`rounds`: than 0), or a word is none of those named.
    """

    solver: Literal["dfsdt", "cot"] = "dfsdt"
    """Table 3: with backtracking, or without."""
    rounds: int = 6
    """Self-reflections at most; 0 is Table 3's run without any."""
    woken: Literal["tool", "category", "meta"] = "meta"
    """Table 4: the highest role of agents that are woken."""
    flat: bool = False
    """Table 3: one agent with the functions of all, instead of the hierarchy."""
    pool: int = 64
    """Table 6: tools in the pool at most."""
    tools_per_agent: int = 5
    """Table 7: collections that a tool agent searches at most."""
    apis: int | None = None
    """Table 5: so many tools, drawn at random (but always the same), are there at all; None: all."""
    steps: int = 20
    """Calls of the model that an agent makes at most, each time it is woken."""
    threads: int = 16
    """Agents that ask side by side, as in the published code, where the model answers several at the same time."""
    calls: int = 10
    """Calls that the solver makes at most in a round (A.1)."""
    votes: int = 3
    """Of the judge."""
    tokens: int = 200_000
    """Tokens of a run (A.1); fewer where the run is allowed fewer."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least = 0 if one.name == "rounds" else 1
            if isinstance(value, int) and not isinstance(value, bool) and value < least:
                raise ValueError(f"{one.name} must be at least {least}, not {value}")
        if self.solver not in ("dfsdt", "cot") or self.woken not in _WOKEN:
            raise ValueError(f"solver is dfsdt or cot, woken {', '.join(_WOKEN)}; not {self.solver}, {self.woken}")

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of agents that are woken."""
        return _WOKEN[self.woken]
