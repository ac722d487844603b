"""The reads of an earlier run that may answer equal reads of a run that follows it.

A result is never older than an hour, and never crosses a write: nothing was written after the
earlier run began the read, as far as is known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from protocols.tool import Tool
from sandbox.arguments import contract
from sandbox.journal import canonical_call
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall

LONGEST_SECONDS = 3600.0
"""Age in seconds from which a result is too old to be used again."""


class EarlierReads:
    """Finds the latest result of a read in the calls of an earlier run.

    The class is a function for `Journal.find_earlier`. `tools`, keyed by alias, are those tools of
    the new run that call the same as in the earlier one; a call of any other tool counts as a
    write. `written` is the Unix time of the last write of any other run. `clock` returns the
    present Unix time.
    """

    def __init__(
        self,
        calls: Iterable[RecordedCall],
        tools: Mapping[str, Tool],
        *,
        written: float = -math.inf,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._written = written
        self._clock = clock
        self._reads: dict[str, ToolCall] = {}
        for recorded in calls:
            tool = tools.get(recorded.call.tool)
            if tool is not None and tool.effect == "session":
                self._written = math.inf  # the new run may begin elsewhere in the session
            elif tool is None or tool.protocol.writes:
                self._written = max(self._written, end_of_write(recorded))
            else:
                self._add_read(recorded, tool)

    def __call__(self, key: str) -> ToolCall | None:
        """Return the latest read with this canonical text (`canonical_call`), or None.

        Its `earlier` is the Unix time at which it was sent. The result is None if it is too old, or
        if something was written since.
        """
        found = self._reads.get(key)
        if found is None or found.earlier is None or found.earlier <= self._written:
            return None
        # A time in the future shows that a clock was changed, so the age is not known.
        return found if 0 <= self._clock() - found.earlier < LONGEST_SECONDS else None

    def _add_read(self, recorded: RecordedCall, tool: Tool) -> None:
        """Add a read, or remove the one before it with the same text if it failed."""
        call = recorded.call
        key = canonical_call(
            call.tool, {**contract(tool.protocol).defaults, **call.arguments}, call.query
        )
        sent = recorded.intended if call.earlier is None else call.earlier
        if call.reused and call.earlier is None:
            return
        is_whole = call.outcome == "done" and call.error is None and recorded.complete
        if not is_whole or call.files:  # the bytes of a file lie in the other run
            self._reads.pop(key, None)
        elif sent is None or tool.world is not None or tool.fresh is not None:
            return
        elif key not in self._reads or sent >= (self._reads[key].earlier or 0.0):
            self._reads[key] = replace(call, earlier=sent)


def end_of_write(recorded: RecordedCall) -> float:
    """Return the Unix time at which a write was over at the latest.

    The result is minus infinity if it had no effect, and infinity if it may still have one.
    """
    call = recorded.call
    if recorded.complete and (call.reused or call.outcome in ("refused", "not_run")):
        return -math.inf
    if not recorded.complete or call.outcome == "unknown" or recorded.intended is None:
        return math.inf
    return recorded.intended + call.seconds
