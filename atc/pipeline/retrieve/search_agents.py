"""The agents of an AnyTool search and their common state: the APIs found, limits, a transcript."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.hierarchy import CategorizedTool, Hierarchy, Room
from atc.pipeline.retrieve.model_replies import (
    Tally,
    prompt_tokens,
)
from atc.pipeline.retrieve.prompts import fill
from protocols.model import Ask, Message

AgentRole = Literal["meta", "category", "tool", "flat"]
AgentStatus = Literal["active", "finished", "stopped"]
"""State of an agent.

*finished*: the agent called `finish_search` and is never woken again. *stopped*: it used up its
steps, or the whole search ended.
"""
EndReason = Literal["", "solvable", "pool full", "budget", "done"]
"""Why a search ended, or "" if it has not.

The APIs found suffice (`solvable`), there are as many as allowed (`pool full`), the token budget is
spent, or no agent has more to do (`done`).
"""
VerdictWord = Literal["Solvable", "Unsolvable", "Unsure"]


class Mistake(Exception):
    """A function call of an agent that cannot be carried out.

    The message tells the agent what it can do instead.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyToolOptions:
    """Limits of an AnyTool search, and switches for experiments with parts of the method left out.

    See §4.1, A.1 and Tables 3, 6 and 7 of the AnyTool paper, and its published code.

    Raises:
        ValueError: a value is below its minimum, which is 1 or the field's `least`.
    """

    pool: int = 64
    """Maximum number of APIs that the agents may add. The search ends when it is reached."""
    tools_per_agent: int = 5
    """Maximum number of tools for one tool agent.

    A category with no more tools than this gets a tool agent directly.
    """
    steps: int = 20
    """Maximum number of model calls of an agent each time it is woken."""
    tokens: int = 200_000
    """Token budget of one query, for prompts and replies of all agents together."""
    threads: int = 16
    """Maximum number of agents that ask the model at the same time."""
    flat: bool = False
    """True to use a single agent with all functions instead of a hierarchy of agents."""
    prompt_tokens: int | None = None
    """Maximum number of tokens in an agent's prompt. None means the model's own limit."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least = one.metadata.get("least", 1)
            if isinstance(value, int) and not isinstance(value, bool) and value < least:
                raise ValueError(f"{one.name} must be at least {least}, not {value}")


@dataclass(eq=False, kw_only=True)
class SearchAgent:
    """One agent of an AnyTool search, identified by its number in order of creation.

    `history` is the complete conversation; a prompt may contain only part of it. The agent may
    choose from `categories` and from the tools `places`, and delegate them to other agents. It may
    add `apis` to the APIs found.
    """

    number: int
    role: AgentRole
    history: list[Message]
    categories: tuple[str, ...] = ()
    places: tuple[CategorizedTool, ...] = ()
    apis: tuple[str, ...] = ()
    creator: int | None = None
    status: AgentStatus = "active"
    steps: int = 0
    """Number of model calls since the agent was last woken."""
    delegated_names: set[str] = field(default_factory=set)
    """Categories or tools for which another agent was created."""
    studied: dict[str, None] = field(default_factory=dict)
    """APIs whose details the agent has requested."""
    reminded: bool = False

    def __str__(self) -> str:
        named = {
            "category": self.categories[:1],
            "tool": [place.tool for place in self.places],
        }.get(self.role, ())
        return f"#{self.number} {self.role} {', '.join(map(repr, named))}".rstrip()

    def add_message(self, text: str) -> None:
        """Add a user message to the agent's conversation with the model.

        If the last message is still unanswered, the text is appended to it, because turns must
        alternate.
        """
        last = self.history[-1]
        if last.role == "user":
            self.history[-1] = replace(last, content=f"{last.content}\n\n{text}")
        else:
            self.history.append(Message("user", text))

    def prompt(self, *, room: int) -> list[Message]:
        """Return the agent's conversation cut to about `room` tokens.

        The instructions and the task are always kept; the oldest turns are dropped first.
        """
        opening = self.history[:2]
        turns = self.history[2:]
        while len(turns) > 2 and prompt_tokens([*opening, *turns]) > room:
            turns = turns[2:]
        return [*opening, *turns]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that the agent may choose from.

        A name that occurs in several categories is listed once.
        """
        return list(dict.fromkeys(place.tool for place in self.places))

    def places_of(self, names: Sequence[str]) -> tuple[CategorizedTool, ...]:
        """Return the agent's tools that have one of these names, each with its category."""
        return tuple(place for name in names for place in self.places if place.tool == name)


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """The model's verdict on whether the APIs found (`pool`) suffice for the query.

    An unreadable reply counts as *Unsure*.
    """

    pool: tuple[str, ...]
    word: VerdictWord
    reason: str

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


class SearchState:
    """The agents of a search for one query, and the APIs that they have found (`pool`).

    The functions that agents call read and change this state. `pool` is in order of addition and
    `agents` in order of creation. `ended` is the reason why the search last stopped. `dropped` are
    the pruned APIs, which no agent can add again. Not thread-safe.
    """

    def __init__(
        self, query: str, hierarchy: Hierarchy, ask: Ask, *, options: AnyToolOptions
    ) -> None:
        self.hierarchy = hierarchy
        self.options: AnyToolOptions = options
        self.agents: list[SearchAgent] = []
        self.pool: list[str] = []
        self.dropped: set[str] = set()
        self.transcript: list[str] = []
        self.ended: EndReason = ""
        self.verdict: PoolVerdict | None = None
        self.awaiting: list[SearchAgent] = []
        """Agents that get the verdict on the APIs found at the end of this round."""
        self.ask = Tally(ask)
        self.room = Room.of(options.prompt_tokens or ask.prompt_tokens)
        self.query = listing.clip_to_room(query, room=self.room.request)

    @property
    def decided_apis(self) -> set[str]:
        """APIs that cannot be added: those already added and those that were pruned."""
        return self.dropped.union(self.pool)

    def add_category_agent(
        self, category: str, *, creator: SearchAgent | None = None
    ) -> SearchAgent:
        """Create an agent that searches the tools of one category.

        It is a tool agent, which chooses APIs, if the category has few tools. Otherwise it is a
        category agent, which chooses tools.
        """
        places = self.hierarchy.places([category])
        role: AgentRole = "tool" if len(places) <= self.options.tools_per_agent else "category"
        return self.add_agent(role, categories=(category,), places=places, creator=creator)

    def add_agent(
        self,
        role: AgentRole,
        *,
        categories: tuple[str, ...] = (),
        places: tuple[CategorizedTool, ...] = (),
        creator: SearchAgent | None = None,
    ) -> SearchAgent:
        """Create an agent of this role, with its instructions and its task.

        It may choose from `categories` and the tools `places`; tool and flat agents may add the
        APIs of these tools. `creator` is the agent that delegated the task, if any.
        """
        match role:
            case "meta" | "flat":
                scope = "\n".join(
                    ["Categories:", *listing.category_lines(categories, self.hierarchy)]
                )
            case "category":
                lines = [f"- {place.tool}" for place in places]
                tools = listing.page(lines, 1, room=self.room.scope)
                scope = f"Tools of the category {categories[0]}:\n{tools}"
            case "tool":
                tools = listing.tools_text(places, self.hierarchy, room=self.room.scope)
                scope = f"Tools and their APIs:\n{tools}"
        most = {"most": str(self.options.tools_per_agent)} if role == "category" else {}
        agent = SearchAgent(
            number=len(self.agents),
            role=role,
            categories=categories,
            places=places,
            apis=() if role in ("meta", "category") else self.hierarchy.apis(places),
            creator=creator.number if creator else None,
            history=[
                Message("system", fill(f"agents_{role}", **most)),
                Message("user", fill("agents_task", listing=scope, query=self.query)),
            ],
        )
        self.agents.append(agent)
        return agent
