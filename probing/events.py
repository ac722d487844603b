"""What probing tells those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from probing.sample import Sample

Phase = Literal["discover", "chain", "sharpen", "link", "write", "describe"]
"""*discover*: each tool alone. *chain*: with values of other tools. *sharpen*: what a tool takes and refuses. *link*:
whether values flow as they seem to. *write*: what writes change. *describe*: a model puts it into words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Probing turns to a tool."""

    phase: Phase
    round: int
    tool: str
    left: int
    """Tools still to be looked at in this phase."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call came back; it was not in the log before."""

    sample: Sample


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the person should know, in one sentence: a host that was given up, a model that failed."""

    text: str


Event = Step | Called | Note
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """Nobody watches."""
