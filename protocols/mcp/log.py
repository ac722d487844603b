"""The last words of an MCP server, which an error repeats."""

from __future__ import annotations

from protocols.response import one_line

_KEPT = 4_000
"""Bytes: a server may write without end."""
_LINES = 2


class ServerLogTail:
    """The end of what a server said of itself: the stderr of a command, or what was wrong with an answer over HTTP.

    One thread writes; any thread may read.
    """

    def __init__(self) -> None:
        self._end = b""

    def add(self, data: bytes) -> None:
        """Append bytes as they come."""
        self._end = (self._end + data)[-_KEPT:]

    def replace(self, text: str) -> None:
        """Forget what was said before, and keep a text."""
        self._end = text.encode("utf-8", "replace")[-_KEPT:]

    def last_lines(self) -> str:
        """Return the last lines on one line; empty if nothing was said."""
        lines = self._end.decode("utf-8", "replace").strip().splitlines()[-_LINES:]
        return one_line("; ".join(lines), limit=300)
