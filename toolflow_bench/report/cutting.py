"""What a page shows of long texts. Whoever wants all of it reads the file of rows."""

from __future__ import annotations

from collections.abc import Iterable

from toolflow_bench.report.formats import size
from toolflow_bench.report.markup import Html, join, tag, text

_PAGE = 5_000_000  # bytes of foreign text in all; the markup around it comes to about half as much
_LEAST, _MOST = 1_500, 60_000


class Budget:
    """How many bytes of the page one task's or one answer's texts may still take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def cut(self, value: str, most: int) -> Html:
        """As much of `value` as `most` bytes and the budget allow, with a note of what is missing."""
        room = max(min(most, self.left), 0)
        kept, escaped = _fitting(value, room)
        self.left -= len(escaped.encode())
        if kept == len(value):
            return escaped
        note = tag("span", f"… {size(len(value) - kept)} more, in the file of rows", class_="cut")
        return join([escaped, note])


def level(wanted: Iterable[int]) -> int:
    """The most that one budget may be so that all together fill a page: what short texts leave, long ones get."""
    sizes = sorted(wanted)
    left = _PAGE
    for index, size_ in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size_ > share:
            return min(max(share, _LEAST), _MOST)
        left -= size_
    return _MOST


def bytes_of(value: str) -> int:
    """What `value` takes as text of a page."""
    return len(text(value).encode())


def _fitting(value: str, room: int) -> tuple[int, Html]:
    """How many letters of `value` take at most `room` bytes as text of a page, and that text."""
    kept = min(len(value), room)
    while True:
        escaped = text(value[:kept])
        taken = len(escaped.encode())
        if taken <= room:
            return kept, escaped
        kept = min(kept - 1, kept * room // taken)
