"""An agent: what it may search, everything it said and heard, and how it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from atc.retrieve.hierarchy.budget import prompt_tokens, tokens_of
from atc.retrieve.hierarchy.tree import Place
from protocols.ask import Message

Role = Literal["meta", "category", "tool", "flat", "plain"]
Status = Literal["active", "finished", "stopped"]
"""*finished*: it called `finish_search`, and is never woken again. *stopped*: it used up its steps, repeated itself, or
the whole search ended."""

DEPTH = {"meta": 0, "flat": 0, "plain": 0, "category": 1, "tool": 2}
"""How deep in the hierarchy agents of a role stand."""
_LEFT_OUT = "(this result was left out to make room)"
_SHORT = 40
"""Results of so few tokens are not worth leaving out."""


@dataclass(eq=False, kw_only=True)
class Agent:
    """One agent of a search, known by its number in order of creation.

    `history` is all that was said, whole; a prompt may show less of it. `categories`, `places` and `apis` are its
    scope; an agent hands out or adds nothing beyond.
    """

    number: int
    role: Role
    history: list[Message]
    categories: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    apis: tuple[str, ...] = ()
    creator: int | None = None
    status: Status = "active"
    steps: int = 0
    """Calls of the model since it was last woken."""
    repeats: int = 0
    given_out: set[str] = field(default_factory=set)
    """Categories or tools that have an agent of their own."""
    studied: dict[str, None] = field(default_factory=dict)
    """APIs whose details it asked for."""
    reminded: bool = False
    """Whether it was told that it was about to finish with none of what it had studied."""
    heard: dict[str, str] = field(default_factory=dict)
    """The result of each call that it made, by the call's text."""

    def __str__(self) -> str:
        match self.role:
            case "category":
                about = f" {self.categories[0]!r}"
            case "tool":
                about = f" {', '.join(repr(place.tool) for place in self.places)}"
            case _:
                about = ""
        return f"#{self.number} {self.role}{about}"

    def hear(self, text: str) -> None:
        """Add what the agent is told; to what it was told last, where it has not answered that: turns alternate."""
        last = self.history[-1]
        if last.role == "user":
            self.history[-1] = replace(last, content=f"{last.content}\n\n{text}")
        else:
            self.history.append(Message("user", text))

    def wake(self) -> None:
        """Let it act again, with all its steps."""
        self.status, self.steps, self.repeats = "active", 0, 0

    def prompt(self, *, room: int) -> list[Message]:
        """The history within about `room` tokens: the instructions and the task stay, the oldest results are left out
        first, then the oldest turns.
        """
        opening, turns = self.history[:2], list(self.history[2:])
        left = room - prompt_tokens(opening)
        for index, message in enumerate(turns[:-1]):
            if prompt_tokens(turns) <= left:
                break
            if message.role == "user" and tokens_of(message.content) > _SHORT:
                turns[index] = replace(message, content=_LEFT_OUT)
        while len(turns) > 2 and prompt_tokens(turns) > left:
            turns = turns[2:]
        return [*opening, *turns]


def waking_order(agents: Sequence[Agent]) -> list[Agent]:
    """The deepest first, among equals the youngest first."""
    return sorted(agents, key=lambda agent: (-DEPTH[agent.role], -agent.number))
