"""`McpCall`, the function that calls one tool of an MCP server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from protocols.call_limits import CallLimits
from protocols.schema import Json, JsonObject


@dataclass(frozen=True, slots=True)
class McpCall:
    """A callable that calls one tool of an MCP server with arguments keyed by original name.

    `send` calls the tool. `is_given_secrets` returns True if the server is given a secret, which
    may change while it runs, as when a user signs in. `list_notes` and `list_repairs` return what
    `notes` and `repairs` are.
    """

    send: Callable[[JsonObject], Json]
    is_given_secrets: Callable[[], bool]
    list_notes: Callable[[], tuple[str, ...]]
    list_repairs: Callable[[], tuple[str, ...]]

    def __call__(self, arguments: JsonObject) -> Json:
        """Call the tool, and return its result. Raises `ToolError` if the call fails."""
        return self.send(arguments)

    @property
    def has_secrets(self) -> bool:
        """True if the server is given a secret."""
        return self.is_given_secrets()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what of the server's tools and results is left out."""
        return self.list_notes()

    @property
    def repairs(self) -> tuple[str, ...]:
        """Sentences about mistakes in the schemas of the server's tools."""
        return self.list_repairs()


def with_limit_advice(problem: str, limits: CallLimits) -> str:
    """Return why a call failed. If it exceeded a limit, name the setting of the limit."""
    if f"over the limit of {limits.max_response_bytes:,} bytes" in problem:
        return f"{problem}; {limits.size_advice}"
    if f"no answer within {limits.call_seconds:g} s" in problem:
        return f"{problem}; {limits.time_advice}"
    return problem
