"""Tool search by the model: the prompt describes some of many tools, and the model asks for others.

The results of a search are always inserted after the same message of the conversation, so the
beginning of the prompt is constant and can be cached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from atc.core.prompts import fill
from protocols.model import Message
from protocols.render import describe_within_budget
from protocols.toolbox import Toolbox

MOST_SEARCHES = 3
"""Maximum number of searches that the model may request in one run."""
_MOST_PHRASES = 6
_ROOM = 6
"""One search result may take at most 1 / `_ROOM` of the tokens for tool descriptions."""
_ASKS = re.compile(r"^[ \t*`]*SEARCH:(.*)$", re.MULTILINE)
# Some models put the search line into a fence.
_CODE = re.compile(r"^[ \t]*```\w*\n(?!\s*SEARCH:)\s*\S", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*")

SearchFunction = Callable[[Sequence[str]], Sequence[str]]
"""Returns the aliases of the tools that several searches find together, best first.

It does not use a model.
"""


@dataclass
class ToolSearch:
    """The tools of a large toolbox that the model of one run knows, and its searches for others.

    `shown` are the tools that the first prompt describes; `found` are the names of the tools that
    searches returned.
    """

    toolbox: Toolbox
    shown: Toolbox
    search: SearchFunction
    prompt_tokens: int
    found: list[str] = field(default_factory=list)
    _told: list[tuple[int, Message, Message]] = field(default_factory=list)
    """Searches and their results, each with the number of messages that come before it."""
    _described: frozenset[str] = frozenset()
    _count: int = 0

    def __post_init__(self) -> None:
        self._room = max(300, self.prompt_tokens // _ROOM)
        text = describe_within_budget(self.shown, budget=self.prompt_tokens)[0]
        self._described = _find_stubs(text)

    def add_searches(self, messages: Sequence[Message]) -> list[Message]:
        """Return the conversation, with the rule for searches and all earlier searches inserted.

        If a reply called tools that had not been described to the model, their descriptions are
        added to the user message that follows this reply.
        """
        rule = fill(
            "searches",
            shown=str(len(self.shown)),
            all=f"{len(self.toolbox):,}",
            most=str(MOST_SEARCHES),
        )
        said = [replace(messages[0], content=f"{messages[0].content}\n\n{rule}")]
        described = set(self._described)
        for number, message in enumerate(messages[1:], start=2):
            if message.role == "user" and said[-1].role == "assistant":
                called = [
                    name
                    for name in self._find_called_names(said[-1].content)
                    if name not in described
                ]
                described |= set(called)
                if called:
                    text = describe_within_budget(self.toolbox.only(called), budget=self._room)[0]
                    message = replace(
                        message,
                        content=f"{message.content}\n\n{fill('searches_called', stubs=text)}",
                    )
            said.append(message)
            for after, reply, result in self._told:
                if after == number:
                    said += [reply, result]
                    described |= _find_stubs(result.content)
        return said + [
            turn for after, *turns in self._told if after > len(messages) for turn in turns
        ]

    def handle_reply(self, reply: str, messages: Sequence[Message]) -> bool:
        """Make the searches that a reply asks for. Return False if it asks for none.

        Return False, too, if the model has searched too often. The results appear in the next
        prompt.
        """
        phrases = (
            []
            if _CODE.search(reply)
            else [part for line in _ASKS.findall(reply) for part in line.split(";")]
        )
        if not phrases or self._count > MOST_SEARCHES:
            return False
        told = Message("user", self.run_searches(phrases))
        self._told.append((len(messages), Message("assistant", reply.strip()), told))
        return True

    def run_searches(self, phrases: Sequence[str]) -> str:
        """Make the searches and return their results as text for the model."""
        self._count += 1
        if self._count > MOST_SEARCHES:
            return fill("searches_spent")
        wanted = [text for phrase in phrases[:_MOST_PHRASES] if (text := phrase.strip(" \t`*\"'"))]
        new = [
            name
            for name in self.search(wanted)
            if name not in self.found and name not in self._described
        ]
        if not wanted or not new:
            return fill("searches_nothing")
        text, told = describe_within_budget(self.toolbox.only(new), budget=self._room)
        self.found += list(told)
        return fill("searches_found", stubs=text)

    @property
    def known_tools(self) -> Toolbox:
        """The tools that were described to the model."""
        return self.toolbox.only(dict.fromkeys([*self.shown, *self.found]))

    def _find_called_names(self, text: str) -> list[str]:
        return [
            name
            for name in dict.fromkeys(_NAME.findall(text))
            if name in self.toolbox and f"{name}(" in text
        ]


def _find_stubs(text: str) -> frozenset[str]:
    """Return the names of the functions that a text describes in full, not in one line."""
    return frozenset(re.findall(r"^def (\w+)\(.*:$", text, re.MULTILINE))
