"""A tool told so that no model takes it for a program to write: one signature, what each argument is, what can be read.

Stubs with TypedDicts in a fenced block are what a model is asked to write against, and a small one that sees them a
second time answers with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from protocols.jsontypes import JsonObject
from protocols.render import DETAILS, FULL, stubs
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

MOST_LINES = 24
"""Fields listed of one tool's result."""
_DEEPEST = 5
_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict",
    "array": "list",
}


def documentation(tool: Tool, *, among: Toolbox) -> str:
    """The paper's d_j: how a tool is called, and the fields of its result as a program reads them."""
    return "\n".join([signature(tool, among=among), *declared(tool)])


def signature(tool: Tool, *, among: Toolbox) -> str:
    """How a tool is called, what it does, and what its arguments take."""
    stub = stubs(Toolbox([tool]), detail=FULL, among=among)
    _, *rest = stub[stub.rindex(f"def {tool.alias}(") :].splitlines()
    about = (line.strip().removeprefix('"""').removesuffix('"""').strip() for line in rest)
    return "\n".join([called(tool), *(f"  {line}" for line in about if line and line != tool.protocol.name)])


def called(tool: Tool) -> str:
    """How a tool is called, in one line."""
    stub = stubs(Toolbox([tool]), detail=DETAILS[-1])
    head = stub[stub.rindex(f"def {tool.alias}(") :].partition("\n")[0]
    return f"{tool.alias} is defined already, as `{head.rpartition(' -> ')[0]}`: call it, do not define it."


def declared(tool: Tool) -> Iterator[str]:
    """What can be read of a tool's result by its protocol, a line a field; nothing where it says nothing."""
    fields = list(declared_fields(tool))
    if fields:
        yield f"From result = {tool.alias}(…) these can be read:"
        yield from (f"  result{place}: {kind}" for place, kind in fields[:MOST_LINES])
    if len(fields) > MOST_LINES:
        yield f"  … and {len(fields) - MOST_LINES} more"


def declared_fields(tool: Tool) -> Iterator[tuple[str, str]]:
    """The places of a tool's declared result (`["flights"][0]["carrier"]`) as programs see it, and their types."""
    root = tool.protocol.output_schema
    if root is None:
        return
    top: JsonObject = resolve(root, root)
    if tool.wrapper is not None:
        top = resolve(top["properties"][tool.wrapper], root)
    yield from _fields(top, root, "", _DEEPEST)


def _fields(schema: JsonObject, root: JsonObject, place: str, depth: int) -> Iterator[tuple[str, str]]:
    branches, kinds = _branches(schema, root)
    inner = [branch for branch in branches if branch.get("properties") or "items" in branch]
    if not inner or not depth:
        if place:
            yield place, " or ".join(kinds) or "any value"
        return
    for branch in inner:
        for name, child in branch.get("properties", {}).items():
            yield from _fields(resolve(child, root), root, f'{place}["{name}"]', depth - 1)
        if "items" in branch:
            yield from _fields(resolve(branch["items"], root), root, f"{place}[0]", depth - 1)


def _branches(schema: JsonObject, root: JsonObject) -> tuple[list[JsonObject], list[str]]:
    """The schemas that a value here may meet, and the words for their types."""
    choices = [resolve(one, root) for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key, ())]
    every = [schema, *(branch for choice in choices for branch in _branches(choice, root)[0])]
    return every, list(dict.fromkeys(word for branch in every for word in _words(branch)))


def _words(schema: Mapping[str, Any]) -> list[str]:
    if "enum" in schema:
        return [repr(value) for value in schema["enum"]]
    return [_TYPES.get(name, name) for name in types(schema)]
