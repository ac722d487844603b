"""The last log lines of an MCP server, which error messages quote."""

from __future__ import annotations

from protocols.response import one_line

_KEPT = 4_000
"""Number of bytes that are kept. A server may write without end."""
_LINES = 2


class ServerLogTail:
    """The end of a server's log.

    For a command, the log is its stderr. For an HTTP server, it is the last problem with a
    response. One thread writes; any thread may read.
    """

    def __init__(self) -> None:
        self._end = b""
        self.status: int | None = None
        """Status of the last response of an HTTP server to a message."""

    def add(self, data: bytes) -> None:
        """Append bytes to the log, and drop old ones if it becomes too long."""
        self._end = (self._end + data)[-_KEPT:]

    def replace(self, text: str) -> None:
        """Replace the whole content of the log by `text`."""
        self._end = text.encode("utf-8", "replace")[-_KEPT:]

    def last_lines(self) -> str:
        """Return the last lines joined into one, or "" if the log is empty."""
        lines = self._end.decode("utf-8", "replace").strip().splitlines()[-_LINES:]
        return one_line("; ".join(lines), limit=300)
