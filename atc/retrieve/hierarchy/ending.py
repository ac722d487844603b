"""Why a search by agents ended."""

from __future__ import annotations

from typing import Literal

from atc.retrieve.hierarchy.budget import Budget

Ended = Literal["", "solvable", "pool full", "budget", "done"]
"""Empty while it goes on. The pool suffices, it is full, the tokens are used up, or no agent has more to do."""


def sentence(ended: Ended, *, apis: int, budget: Budget) -> str:
    """Why it ended and what it took, as the transcript says it."""
    match ended:
        case "solvable":
            why = f"the pool of {apis} APIs is not unsolvable"
        case "pool full":
            why = f"the pool is full ({apis} APIs)"
        case "budget":
            why = f"the budget of {budget.tokens:,} tokens is used up"
        case _:
            why = "no agent has anything left to do"
    return f"ended: {why}; {budget.usage.model_calls} calls of the model, {budget.spent:,} tokens"
