"""The calls of one execution of a program, as the page of a run shows them.

Vertical lines beside the calls lead from a call to later calls that use values from its response.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from atc.core.messages import format_tool_call
from atc.serve.view.provenance import ArgumentOrigin
from protocols.file_names import SHOWN_IMAGES
from protocols.files import FileInfo, described_at
from protocols.schema import shape
from sandbox.trace import ToolCall

_LANES = 6
"""Maximum number of lines side by side. Further ones are shown only as text and links."""
_LONGEST_ARGUMENT = 60
_LONGEST_SIGNATURE = 600
_LARGEST_IMAGE = 20 * 2**20  # bytes; a larger one is only offered for download
_WORDS = {"done": "done", "refused": "refused", "not_run": "not sent", "unknown": "outcome unknown"}


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call of a program, with everything that the page of a run shows about it."""

    call: ToolCall
    origins: Sequence[ArgumentOrigin] = ()
    """Where the values of its arguments came from."""
    writes: bool = False
    """True if the tool may change something."""
    run: str = ""
    """The id of the run, if the page can load the files of the call from the viewer."""
    open: str = ""
    """If the call has no outcome yet, its state in words, such as `running`; else empty."""

    @property
    def words(self) -> str:
        """The outcome of the call in words, such as `not sent`."""
        if self.open:
            return self.open
        if self.call.reused:
            return "from the journal" if self.call.earlier is None else "from the earlier run"
        return _WORDS[self.call.outcome]

    @property
    def kind(self) -> str:
        """The CSS class for the outcome of the call, such as `failed`."""
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
        """The result of the call: its error message, or the shape (types and keys) of its response.

        Empty if there is no outcome yet.
        """
        if self.call.error is not None:
            return self.call.error
        return "" if self.open else str(shape(self.call.result, depth=1))

    @property
    def files(self) -> list[FileInfo]:
        """The files in the response of the call."""
        found = (described_at(self.call.result, path) for path in self.call.files)
        return [info for info in found if info is not None]

    def address_of(self, file: FileInfo) -> str:
        """Return the address of a file, relative to the page of the run; "" if it has none."""
        return f"{self.run}/files/{file.sha256}" if self.run else ""

    def shows(self, file: FileInfo) -> bool:
        """Return True if the page shows a file as an image."""
        is_small = file.size <= _LARGEST_IMAGE
        return bool(self.run) and is_small and file.media_type in SHOWN_IMAGES

    def came_from(self, argument: str) -> list[ArgumentOrigin]:
        """Return where the value of an argument, and the values within it, came from."""
        return [
            one
            for one in self.origins
            if re.split(r"[.\[]", one.argument, maxsplit=1)[0] == argument
        ]


class LaneCell(NamedTuple):
    """The part of a vertical line that is drawn beside one row. A row shows one call."""

    lane: int
    """Column of the line, counted from 0."""
    colour: int
    """Number of the line's colour, from 1 to 6."""
    begins: bool
    """True if the line begins in this row."""
    ends: bool
    """True if the line ends in this row."""
    used: bool
    """True if the call in this row uses a value from the call where the line begins."""


class Lanes:
    """The vertical lines beside the rows of calls on the page of a run.

    Each line begins at a call whose response contained values that later calls used, and ends at
    the last of these calls. Lines are drawn in columns, which are called lanes.
    """

    count: int
    """Number of lanes that have a line."""
    values: int
    """Number of argument values that came from earlier responses."""

    def __init__(self, shown: Sequence[ShownCall]) -> None:
        self.values = sum(origin.call is not None for one in shown for origin in one.origins)
        self.count = 0
        self._rows: dict[int, list[LaneCell]] = {}
        busy = [-1] * _LANES  # for each lane, the row where its last line ends
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
        """Return the parts of lines that are drawn beside the row with this number."""
        return self._rows.get(row, ())


def _rows_of_uses(shown: Sequence[ShownCall]) -> dict[int, list[int]]:
    """Return which rows use values of an earlier call, keyed by the row of that earlier call."""
    row_of = {one.call.index: row for row, one in enumerate(shown)}
    uses: dict[int, list[int]] = {}
    for row, one in enumerate(shown):
        starts = {row_of[origin.call] for origin in one.origins if origin.call in row_of}
        for start in starts:
            if start < row:
                uses.setdefault(start, []).append(row)
    return uses
