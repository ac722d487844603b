"""How an agent's prompt is shared out."""

from __future__ import annotations

from typing import NamedTuple

_INSTRUCTIONS = 500
"""Tokens that the instructions of an agent take."""
_LEAST = 300
"""Tokens that are shared out even if the model is said to hold fewer."""


class Room(NamedTuple):
    """Tokens of a prompt, and what of them each part may take: of what the instructions leave, a third is for the
    agent's scope, a quarter for the request, a quarter for one result. Earlier turns get what is left.
    """

    prompt: int
    scope: int
    request: int
    result: int

    @classmethod
    def of(cls, prompt_tokens: int) -> Room:
        """The shares of a prompt of so many tokens."""
        free = max(_LEAST, prompt_tokens - _INSTRUCTIONS)
        return cls(prompt_tokens, free // 3, free // 4, free // 4)
