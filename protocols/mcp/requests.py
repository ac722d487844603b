"""Requests to an MCP server over a connection, and how its answers are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from protocols.errors import Outcome, ToolError
from protocols.mcp.endings import ConnectionEnded
from protocols.mcp.resources import resource_list
from protocols.mcp.results import find_lost_parts, read_contents, read_result
from protocols.protocol import McpBinding, ToolProtocol
from protocols.response import one_line
from protocols.schema import Json, JsonObject, as_mapping

if TYPE_CHECKING:
    from protocols.mcp.connection import Connection


def describe_change(
    server: str, before: frozenset[str], changed: Sequence[Json]
) -> tuple[str, ...]:
    """Return a sentence about how a server's list of tools has changed, or () if it has not."""
    now = {str(as_mapping(tool).get("name")) for tool in changed}
    parts = [("new", now - before), ("gone", before - now)]
    shown = "; ".join(f"{word}: {', '.join(sorted(names))}" for word, names in parts if names)
    if not shown:
        return ()
    sentence = (
        f"the MCP server {server!r} has changed its list of tools since it was read ({shown})"
    )
    return (f"{sentence}; a new command uses the new list.",)


def list_all(
    connection: Connection,
) -> tuple[list[Json] | str, tuple[list[Json], list[Json]] | str]:
    """Return a server's tools, and its resources with the templates of their addresses.

    If the server does not list its resources, a text with the reason is returned instead of them. A
    server that has resources need not have tools. If it says that it has some, but does not list
    them, the reason is returned instead of them.

    Raises:
        ToolError: the server does not give its tools.
    """
    resources: tuple[list[Json], list[Json]] | str = ([], [])
    if connection.has_resources:
        try:
            resources = connection.resources()
        except ConnectionEnded:
            raise
        except ToolError as error:
            resources = one_line(error.body).rstrip(".")
    try:
        return connection.tools(), resources
    except ConnectionEnded:
        raise
    except ToolError as error:
        if isinstance(resources, str) or not any(resources):
            raise
        reason = one_line(error.body).rstrip(".")
        return reason if connection.has_tools else [], resources


def ask_tool(
    protocol: ToolProtocol,
    binding: McpBinding,
    arguments: JsonObject,
    connection: Connection,
    *,
    note: Callable[[str], None],
    failed: Outcome,
) -> Json:
    """Send the request of a tool over a connection, and return the value that programs get.

    `note` is called with a sentence about each part of the result that the value does not contain.

    Raises:
        ToolError: see `Connection.call` and `read_result`, which also describe `failed`.
    """
    match binding.method:
        case "resources/list":
            return resource_list(*connection.resources())
        case "resources/read":
            return read_contents(connection.read_resource(str(arguments.get("uri"))))
    result = connection.call(binding.tool, arguments, failed=failed)
    is_declared = protocol.output_schema is not None and protocol.evidence.level == "declared"
    value = read_result(result, protocol.output_schema, is_declared=is_declared, failed=failed)
    for part in find_lost_parts(result, is_declared=is_declared):
        note(f"{protocol.name} of the MCP server {binding.server!r} gave more: {part}.")
    return value
