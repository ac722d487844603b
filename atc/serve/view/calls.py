"""The calls of one execution on a page, with lines that lead from a value to its uses."""

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
"""Most lines side by side. Further ones are shown only as text and links."""
_LONGEST_ARGUMENT = 60
_LONGEST_SIGNATURE = 600
_WORDS = {"done": "done", "refused": "refused", "not_run": "not sent", "unknown": "outcome unknown"}


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as the page shows it."""

    call: ToolCall
    origins: Sequence[ArgumentOrigin] = ()
    writes: bool = False
    """True if it may change something."""
    open: str = ""
    """If it has no outcome yet, its state in words."""

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
        failed = self.call.outcome == "done" and self.call.error is not None
        return "failed" if failed else self.call.outcome

    @property
    def signature(self) -> str:
        """The call as a program writes it, beginning with the alias of the tool."""
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
    """The part of a line beside one row."""

    lane: int
    colour: int
    begins: bool
    """True if the line begins in this row."""
    ends: bool
    """True if it ends here."""
    used: bool
    """True if the call of this row uses its value."""


class Lanes:
    """Lines beside the rows, each from a call whose values were used down to their last use."""

    count: int
    """Number of lanes in use."""
    values: int
    """Number of values of arguments that came from earlier responses."""

    def __init__(self, shown: Sequence[ShownCall]) -> None:
        self.values = sum(origin.call is not None for one in shown for origin in one.origins)
        self.count = 0
        self._rows: dict[int, list[LaneCell]] = {}
        busy = [-1] * _LANES  # by lane: the row where its last line ends
        for number, (start, used) in enumerate(sorted(_rows_of_uses(shown).items())):
            lane = next((lane for lane, until in enumerate(busy) if until <= start), None)
            if lane is None:
                continue
            last = busy[lane] = used[-1]
            self.count = max(self.count, lane + 1)
            for row in range(start, last + 1):
                cell = LaneCell(
                    lane, number % 6 + 1, begins=row == start, ends=row == last, used=row in used
                )
                self._rows.setdefault(row, []).append(cell)

    def at(self, row: int) -> Sequence[LaneCell]:
        """Return the parts of lines beside a row."""
        return self._rows.get(row, ())


def _rows_of_uses(shown: Sequence[ShownCall]) -> dict[int, list[int]]:
    """Return the rows of the calls that use values of an earlier call, by the row of that call."""
    row_of = {one.call.index: row for row, one in enumerate(shown)}
    uses: dict[int, list[int]] = {}
    for row, one in enumerate(shown):
        starts = {row_of[origin.call] for origin in one.origins if origin.call in row_of}
        for start in starts:
            if start < row:
                uses.setdefault(start, []).append(row)
    return uses
