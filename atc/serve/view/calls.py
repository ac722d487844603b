"""The calls of one execution as a page shows them, with lines that lead from a value to its
uses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atc.core.messages import format_tool_call
from atc.serve.view.provenance import ArgumentOrigin
from protocols.schema import shape
from sandbox.trace import ToolCall

_LANES = 6
"""How many lines run side by side. Further ones are shown only as text and links."""
_LONGEST_ARGUMENT = 60
_LONGEST_SIGNATURE = 600
_WORDS = {"done": "done", "refused": "refused", "not_run": "not sent", "unknown": "outcome unknown"}


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as the page shows it. `open` is True if it has no outcome yet, `writes` if it may
    change something.
    """

    call: ToolCall
    origins: Sequence[ArgumentOrigin] = ()
    writes: bool = False
    open: str = ""

    @property
    def words(self) -> str:
        """The outcome, in words."""
        return self.open or ("from the journal" if self.call.reused else _WORDS[self.call.outcome])

    @property
    def kind(self) -> str:
        """The outcome, as the CSS class of its label."""
        if self.open:
            return "running" if self.open == "running" else "unknown"
        if self.call.reused:
            return "journal"
        return (
            "failed"
            if self.call.outcome == "done" and self.call.error is not None
            else self.call.outcome
        )

    @property
    def signature(self) -> str:
        """The call as a program writes it. It begins with the name of the tool."""
        return format_tool_call(self.call, most=_LONGEST_ARGUMENT)[:_LONGEST_SIGNATURE]

    @property
    def came(self) -> str:
        """The result: an error, or the shape of the response."""
        if self.call.error is not None:
            return self.call.error
        return "" if self.open else str(shape(self.call.result, depth=1))

    def came_from(self, argument: str) -> list[ArgumentOrigin]:
        """Return the origins of an argument and of the values within it."""
        return [
            one
            for one in self.origins
            if re.split(r"[.\[]", one.argument, maxsplit=1)[0] == argument
        ]


class LaneCell(NamedTuple):
    """The part of a line beside one row: whether it begins or ends there, and whether its value is
    used there.
    """

    lane: int
    colour: int
    begins: bool
    ends: bool
    used: bool


class Lanes:
    """The lines beside the rows: each runs from a call whose values were used down to their last
    use.

    `count` lanes are in use. `values` is how many values of arguments came from earlier responses.
    """

    def __init__(self, shown: Sequence[ShownCall]) -> None:
        row_of = {one.call.index: row for row, one in enumerate(shown)}
        uses: dict[int, list[int]] = {}
        for row, one in enumerate(shown):
            for start in sorted(
                {row_of[origin.call] for origin in one.origins if origin.call in row_of}
            ):
                if start < row:
                    uses.setdefault(start, []).append(row)
        self.values = sum(origin.call is not None for one in shown for origin in one.origins)
        self._rows: dict[int, list[LaneCell]] = {}
        busy = [-1] * _LANES  # lane → row of the last use of what runs there
        for number, (start, used) in enumerate(sorted(uses.items())):
            lane = next((lane for lane, until in enumerate(busy) if until <= start), None)
            if lane is None:
                continue
            last = busy[lane] = used[-1]
            for row in range(start, last + 1):
                line = LaneCell(
                    lane, number % 6 + 1, begins=row == start, ends=row == last, used=row in used
                )
                self._rows.setdefault(row, []).append(line)
        self.count = 1 + max(
            (line.lane for lines in self._rows.values() for line in lines), default=-1
        )

    def at(self, row: int) -> Sequence[LaneCell]:
        """Return the parts of lines beside a row."""
        return self._rows.get(row, ())
