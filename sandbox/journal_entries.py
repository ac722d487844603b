"""Records of a run's journal about recorded calls, and about calls that it may answer."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.trace import ToolCall


class CallPosition(NamedTuple):
    """The position of an open call among the calls with the same tool and arguments.

    `key` is the same text for all equal calls, and `occurrence` is the number of equal calls before
    this one. `place` is the same number without the calls that failed again as in an earlier
    execution. `entry` is the completed call of an earlier execution at this place, or None.
    `history` are the keys of all writes before the call.
    """

    key: str
    occurrence: int
    place: int
    entry: JournalEntry | None
    history: tuple[str, ...]
    writes: bool


class JournalEntry(NamedTuple):
    """A recorded call that may answer later ones, with what the journal must know about it.

    It was successful, or it is a write whose outcome is or was unknown. `order` is its position
    among all calls: the number of the execution, and the index in it. `history` are the keys of the
    writes before it. `intended` is the Unix time at which it was about to be sent, or 0.0.
    """

    order: tuple[int, int]
    call: ToolCall
    history: tuple[str, ...]
    writes: bool
    intended: float
