"""Records of a run's journal about recorded calls, and about calls that it may answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A stored call of an earlier execution.

    If it is not `complete`, it may have been sent, and its outcome is unknown.
    """

    execution: int
    call: ToolCall
    complete: bool = True
    intended: float | None = None  # Unix time at which it was about to be sent


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

    def may_answer(self, position: CallPosition, *, at_any_time: bool) -> bool:
        """Return True if the call was completed and its result holds at a position.

        It holds `at_any_time`, or only as long as no other write has been made since.
        """
        if self.call.outcome != "done":
            return False
        return at_any_time or self.history == position.history


def is_same_request(one: ToolCall, other: ToolCall) -> bool:
    """Return True if two calls have the same tool and the same arguments as they were written."""
    return (one.tool, one.arguments, one.query) == (other.tool, other.arguments, other.query)


def answer_from(found: ToolCall, asked: ToolCall) -> ToolCall:
    """Return the call `asked` with the result of `found`, an equal call that was made earlier."""
    same = replace(found, line=asked.line, within=asked.within, continues=asked.continues)
    return replace(same, index=asked.index, started=asked.started, seconds=0.0, reused=True)
