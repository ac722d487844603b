"""Reads the list of tools of an MCP server as descriptions of tools (`ToolProtocol`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from protocols.mcp.schemas import read_input_schema, read_output_schema
from protocols.protocol import Annotations, McpBinding, ToolProtocol
from protocols.schema import Json, JsonObject, as_mapping

_MOST_NAMED = 3
"""Maximum number of mistakes in the schemas of one tool that a note names."""
_LONGEST_NAME = 500
"""Maximum number of characters of a tool's name."""


@dataclass(frozen=True, slots=True)
class ToolList:
    """The usable tools of an MCP server, and sentences about the rest of its list.

    `left_out` is about entries that are no tools, and `repaired` about mistakes in schemas.
    """

    protocols: tuple[ToolProtocol, ...]
    left_out: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()


def read_tools(tools: Sequence[Json], server: str, *, trusted: bool) -> ToolList:
    """Return the tools in a list of tools of MCP. `server` is the name of the server in bindings.

    A tool with a mistake in its schemas is usable. An entry without a name, a second tool of
    the same name, and a tool that runs only as a task are left out.
    """
    found: dict[str, ToolProtocol] = {}
    named = f"the MCP server {server!r}"
    left_out: list[str] = []
    repaired: list[str] = []
    for number, tool in enumerate(tools, start=1):
        name = as_mapping(tool).get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
            problem = "has no usable name" if isinstance(tool, dict) else "is no tool"
            problem = f"entry {number} of its list of tools is left out, because it {problem}"
            left_out.append(f"{named}: {problem}.")
        elif name in found:
            left_out.append(f"{named}: a second tool with the name {name!r} is left out.")
        elif as_mapping(as_mapping(tool).get("execution")).get("taskSupport") == "required":
            problem = f"the tool {name!r} is left out, because it runs only as a task of MCP"
            left_out.append(f"{named}: {problem}, which atc does not start.")
        else:
            found[name], problems = _read_tool(tool, name, server, trusted=trusted)
            repaired += [f"{named}: {problem}" for problem in problems]
    return ToolList(tuple(found.values()), tuple(left_out), tuple(repaired))


def _read_tool(
    tool: JsonObject, name: str, server: str, *, trusted: bool
) -> tuple[ToolProtocol, list[str]]:
    """Return the description of one tool, and sentences about mistakes in its schemas."""
    hints = as_mapping(tool.get("annotations"))
    input_schema, input_problems = read_input_schema(tool.get("inputSchema"))
    output_schema, output_problems = read_output_schema(tool.get("outputSchema"))
    protocol = ToolProtocol(
        name=name,
        title=_text(tool.get("title")) or _text(hints.get("title")),
        description=_text(tool.get("description")),
        input_schema=input_schema,
        output_schema=output_schema,
        annotations=_trusted_annotations(hints, trusted=trusted),
        binding=McpBinding(server=server, tool=name),
        collection=server,
    )
    notes = [
        f"the {which} schema of {name!r} has mistakes, which are not checked:"
        f" {'; '.join(problems[:_MOST_NAMED])}."
        for which, problems in (("input", input_problems), ("output", output_problems))
        if problems
    ]
    return protocol, notes


def _text(value: Json) -> str:
    """Return a text without white space around it, or "" for a value that is no text."""
    return value.strip() if isinstance(value, str) else ""


def _trusted_annotations(hints: JsonObject, *, trusted: bool) -> Annotations:
    """Return the annotations of a tool, based on the hints that its MCP server gives.

    MCP says that hints are untrusted. A hint that asks for more care is always used. One that asks
    for less (read-only) is used only if the server is trusted.
    """
    annotations = Annotations.from_hints(hints)
    if not trusted:
        annotations = Annotations(read_only=False).with_stricter_hints(annotations)
    reads_only = bool(annotations.read_only and not annotations.destructive)
    return replace(annotations, read_only=reads_only)
