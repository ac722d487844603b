"""Makes a tool from a schema and a Python function, for tests of sandboxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.tool import Tool


def make_tool(
    name: str,
    parameters: Mapping[str, JsonObject],
    call: Callable[..., Json],
    *,
    required: tuple[str, ...] | None = None,
    output: JsonObject | None = None,
    writes: bool = False,
) -> Tool:
    """Return a tool that calls a Python function with keyword arguments.

    Args:
        name: the name of the tool.
        parameters: the JSON Schema of each parameter, keyed by its name.
        call: the function.
        required: the names of the required parameters. None: all are required.
        output: the JSON Schema of the response, or None if it is unknown.
        writes: True if the tool changes data.
    """
    needed = list(parameters if required is None else required)
    schema = {"type": "object", "properties": dict(parameters), "required": needed}
    hints = Annotations(read_only=not writes)
    protocol = ToolProtocol(name=name, input_schema=schema, output_schema=output, annotations=hints)
    return Tool(protocol, lambda arguments: call(**arguments))
