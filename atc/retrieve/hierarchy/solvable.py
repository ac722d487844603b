"""Whether the pool suffices for the request, as a model sees it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atc.retrieve.hierarchy.budget import Budget
from atc.retrieve.hierarchy.listing import api_lines, pages, plain
from atc.retrieve.hierarchy.prompts import fill
from atc.retrieve.hierarchy.room import Room
from atc.retrieve.hierarchy.tree import Hierarchy
from protocols.ask import Ask, Message
from protocols.jsontypes import JsonObject

Word = Literal["Solvable", "Unsolvable", "Unsure"]

_WORDS: tuple[Word, ...] = ("Solvable", "Unsolvable", "Unsure")
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 200}, "verdict": {"type": "string", "enum": list(_WORDS)}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
_REPLY_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model said of a pool. A reply that cannot be read counts as *Unsure*."""

    pool: tuple[str, ...]
    word: Word
    reason: str

    @property
    def ends(self) -> bool:
        """Whether the search ends: at anything but *Unsolvable*, as in the published code."""
        return self.word != "Unsolvable"

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


def judge(query: str, pool: Sequence[str], hierarchy: Hierarchy, ask: Ask, budget: Budget, *, room: Room) -> Verdict:
    """Ask whether `pool` suffices for `query`; the APIs get the room of an agent's scope and of a result.

    Raises:
        ModelUnavailable: the model did not answer.
    """
    most = room.scope + room.result
    shown = pages(api_lines(pool, hierarchy, room=most), room=most)[0]
    messages = [
        Message("system", fill("solvable")),
        Message("user", fill("solvable_task", listing="\n".join(shown), query=query)),
    ]
    reply = ask(messages, schema=_SCHEMA, max_tokens=_REPLY_TOKENS)
    budget.charge(reply, messages)
    return _read(reply.text, tuple(pool))


def _read(text: str, pool: tuple[str, ...]) -> Verdict:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict) and said.get("verdict") in _WORDS:
        reason = said.get("reason")
        return Verdict(pool, said["verdict"], plain(reason) if isinstance(reason, str) else "")
    if "unsolvable" in text.casefold():
        return Verdict(pool, "Unsolvable", "")
    return Verdict(pool, "Unsure", "the verdict could not be read")
