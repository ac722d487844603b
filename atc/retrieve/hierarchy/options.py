"""What can be set of a search by agents."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The limits of AnyTool (§4.1, A.1 and the published code), and the ablations of its Tables 3, 6 and 7.

    Raises:
        ValueError: one is less than 1.
    """

    pool: int = 64
    """APIs in the pool at most; the search ends when it is full."""
    tools_per_agent: int = 5
    """Tools that a tool agent searches at most; a category of so few gets a tool agent at once."""
    steps: int = 20
    """Calls of the model that an agent makes at most, each time it is woken."""
    tokens: int = 200_000
    """Tokens of a query, prompts and replies of all agents together."""
    threads: int = 16
    """Agents that ask the model at the same time."""
    flat: bool = False
    """One agent with the functions of all, and no hierarchy of agents."""
    prompt_tokens: int | None = None
    """Tokens of an agent's prompt at most; None for what the model is said to hold."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and not isinstance(value, bool) and value < 1:
                raise ValueError(f"{one.name} must be at least 1, not {value}")
