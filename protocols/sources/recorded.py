"""A call that somebody else made, as a recording tells of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from protocols.errors import Outcome
from protocols.jsontypes import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call in a recording: arguments by original name, and what came back, secrets replaced.

    `response` is set where `outcome` is *done*; else `error` says in one line what came, and `answer` has its text.
    """

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    status: int = 200
    outcome: Outcome = "done"
    response: Json = None
    error: str = ""
    answer: str | None = None
    seconds: float = 0.0
