"""A tool made of a schema and a function, to try out a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.toolbox import Tool


def make_tool(
    name: str,
    parameters: Mapping[str, JsonObject],
    call: Callable[..., Json],
    *,
    required: tuple[str, ...] | None = None,
    output: JsonObject | None = None,
    writes: bool = False,
) -> Tool:
    """Return a tool that calls a function of keyword arguments.

    All parameters are required, unless `required` names those that are.
    """
    needed = list(parameters if required is None else required)
    schema = {"type": "object", "properties": dict(parameters), "required": needed}
    hints = Annotations(read_only=not writes)
    protocol = ToolProtocol(name=name, input_schema=schema, output_schema=output, annotations=hints)
    return Tool(protocol, lambda arguments: call(**arguments))
