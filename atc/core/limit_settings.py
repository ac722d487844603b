"""The settings under `[limits]` and `[source_limits.NAME]`: limits of calls and of programs."""

from __future__ import annotations

from dataclasses import fields

import pydantic.dataclasses
from pydantic import ConfigDict

from atc.core.setting_types import AboveZero, AtLeastOne
from protocols.call_limits import CALL_SECONDS, MAX_FILE_MB, MAX_RESPONSE_MB, SourceLimits

_CLOSED = ConfigDict(extra="forbid")


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=_CLOSED)
class LimitSettings:
    """Limits of every call of a tool, and of what the model writes."""

    call_seconds: AboveZero = CALL_SECONDS
    """Seconds that one call may take, with its retries, until the last byte of the response."""
    max_response_mb: AboveZero = MAX_RESPONSE_MB
    """Maximum size of a response after decompression, in megabytes (1,000,000 bytes)."""
    max_file_mb: AboveZero = MAX_FILE_MB
    """Maximum size of a response that becomes a file, in megabytes.

    A response becomes a file if it is not text, or larger than `max_response_mb`.
    """
    requests_per_second: AboveZero | None = None
    """Maximum number of requests per second to one host or MCP server. None: no limit."""
    concurrent_calls: AtLeastOne | None = None
    """Maximum number of calls of one host or MCP server at the same time.

    None: only the limit of a program's calls at the same time holds, which is 8.
    """
    program_tokens: AtLeastOne = 900
    """Maximum length of a program that the model writes, in tokens.

    A small model that writes more has usually started to repeat itself.
    """


@pydantic.dataclasses.dataclass(frozen=True, slots=True, kw_only=True, config=_CLOSED)
class SourceLimitEntry(SourceLimits):
    """Limits of the calls of one source. What is not set here is that of `[limits]`.

    NAME is the host of the tools, such as `api.example.org` or `localhost:8080`, or the name of an
    MCP server.
    """

    call_seconds: AboveZero | None = None
    """As in `[limits]`."""
    max_response_mb: AboveZero | None = None
    """As in `[limits]`."""
    requests_per_second: AboveZero | None = None
    """As in `[limits]`."""
    concurrent_calls: AtLeastOne | None = None
    """As in `[limits]`."""


LIMITS = tuple(one.name for one in fields(LimitSettings))
"""The names of the settings under `[limits]`."""
