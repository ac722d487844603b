"""Limits of tool calls: their time, the size of their responses, and how fast they are made."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

MEGABYTE: Final = 1_000_000
"""Bytes of a megabyte, the unit of the setting `max_response_mb`."""
CALL_SECONDS: Final = 30.0
MAX_RESPONSE_MB: Final = 16.0
MAX_FILE_MB: Final = 250.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The limits of the calls of one source, and the settings that they come from."""

    call_seconds: float = CALL_SECONDS
    """Time-out of one call with its retries, until the last byte of the response."""
    max_response_mb: float = MAX_RESPONSE_MB
    """Maximum size of a response after decompression, in megabytes (1,000,000 bytes)."""
    requests_per_second: float | None = None
    """Maximum rate of requests to one host or MCP server. None: no limit."""
    concurrent_calls: int | None = None
    """Maximum number of calls of one host or MCP server at the same time.

    None: only the limit of a program's calls holds, which is 8.
    """
    source: str = ""
    """The host or MCP server for which a limit was set, or "" if all of them are those of all."""
    time_option: str = ""
    """The option that sets `call_seconds` instead of the setting, such as `--timeout`, or ""."""

    def replaced_by(self, own: SourceLimits, source: str) -> CallLimits:
        """Return these limits with those that were set for one source, a host or MCP server."""
        given = {one.name: getattr(own, one.name) for one in fields(SourceLimits)}
        changes = {name: value for name, value in given.items() if value is not None}
        time_option = "" if own.call_seconds else self.time_option
        return replace(self, source=source, time_option=time_option, **changes)

    @property
    def max_response_bytes(self) -> int:
        """Maximum size of a response in bytes."""
        return max(1, round(self.max_response_mb * MEGABYTE))

    @property
    def time_advice(self) -> str:
        """Advice for a call that took too long, as the end of a sentence."""
        return f"allow more with {self.time_option or self._setting('call_seconds')}"

    @property
    def size_advice(self) -> str:
        """Advice for a response that was too large, as the end of a sentence."""
        return f"ask for less, or allow more with {self._setting('max_response_mb')}"

    def _setting(self, name: str) -> str:
        """Return the setting and the option that set a limit."""
        if self.source:
            return f'source_limits."{self.source}".{name}'
        return f"limits.{name} (--{name.replace('_', '-')})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLimits:
    """Limits for calls to one source, which is a host or an MCP server.

    If a limit is None, the limit for all sources applies.
    """

    call_seconds: float | None = None
    max_response_mb: float | None = None
    requests_per_second: float | None = None
    concurrent_calls: int | None = None
