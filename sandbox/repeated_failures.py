"""Failed calls that fail again, without being sent, if the same program is executed again.

A program may catch the failure of a call, continue, and send a write that depends on it. If the
call succeeded in the next execution, the program would send another write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from sandbox.journal_entries import CallPosition
from sandbox.trace import ToolCall

FailedCalls = dict[tuple[str, int], ToolCall]
"""Failed calls, keyed by `CallPosition.key` and `CallPosition.occurrence`."""


class MadeCall(NamedTuple):
    """A call of one execution, and its position among equal calls."""

    execution: int
    position: CallPosition
    call: ToolCall


def failures_to_repeat(made: Iterable[MadeCall], ended_by: int | None) -> FailedCalls:
    """Return the failed calls after which a program continued.

    Args:
        made: the calls of all executions of the program, in the order in which they were made.
        ended_by: index of the call that ended the last execution, or None if no call is known to
            have ended it. This call is not in the result, so that it is made again.
    """
    found: FailedCalls = {}
    for _, execution in groupby(made, key=lambda one: one.execution):
        _add_failures(found, tuple(execution), ended_by)
    return found


def _add_failures(found: FailedCalls, made: Sequence[MadeCall], ended_by: int | None) -> None:
    """Add the failures of one execution to `found`, and remove those that are out of date."""
    later = [
        call for _, _, call in made if call.outcome in ("done", "unknown") or call.index == ended_by
    ]
    last = max(later, key=lambda call: call.index, default=None)
    for _, position, call in made:
        key = position.key, position.occurrence
        is_lost_write = position.writes and call.outcome == "unknown"
        if call.error is None or is_lost_write or call.index == ended_by:
            found.pop(key, None)
        elif last is not None and last.follows(call):
            found[key] = call
