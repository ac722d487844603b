"""Descriptions of tools and responses for repair prompts.

They say how a tool is called and which fields its response has. A description consists of one
signature, a line per argument, and the fields that can be read. It must not look like the program
that the model is to write. Therefore it is not a Python stub with TypedDicts, as in the first
prompt: a small model that sees stubs again replies with stubs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from atc.core.json_paths import count_shared_steps, generalize
from atc.core.messages import format_tool_call
from atc.core.program import Program
from protocols.links import response_paths
from protocols.render import DETAILS, FULL, stubs
from protocols.schema import Json, parse_path, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_value
from sandbox.arguments import shorten
from sandbox.trace import ToolCall

_MOST_LINES = 24
"""Maximum number of fields listed for one tool's result."""
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TYPES |= {"object": "dict", "array": "list"}


def documentation(tool: Tool, program: Program, *, among: Toolbox) -> str:
    """Return how a tool is called, and the fields of its result as a program reads them.

    This is the documentation d_j of the ATC paper. `program` is the one to be repaired, and `among`
    are all tools of the task.
    """
    lines = [signature(tool, program, among=among)]
    fields = _fields(tool)
    if fields:
        lines.append(f"From result = {tool.alias}(…) these can be read:")
    lines += fields[:_MOST_LINES]
    return "\n".join([*lines, *_more(len(fields))])


def signature(tool: Tool, program: Program, *, among: Toolbox) -> str:
    """Return how a tool is called, what it does, and what its arguments accept.

    `program` is the one to be repaired, and `among` are all tools of the task.
    """
    stub = stubs(Toolbox([tool]), detail=FULL, among=among)
    _, *rest = stub[stub.rindex(f"def {tool.alias}(") :].splitlines()
    about = (line.strip().removeprefix('"""').removesuffix('"""').strip() for line in rest)
    return "\n".join(
        [
            describe_call(tool, program),
            *(f"  {line}" for line in about if line and line != tool.protocol.name),
        ]
    )


def describe_call(tool: Tool, program: Program) -> str:
    """Return one line that says how a tool is called.

    If the program defines a function of this name itself, the line forbids that.
    """
    stub = stubs(Toolbox([tool]), detail=DETAILS[-1])
    head = stub[stub.rindex(f"def {tool.alias}(") :].partition("\n")[0]
    declared = head.rpartition(" -> ")[0]
    if _defines(program, tool.alias):
        return f"{tool.alias} is defined already, as `{declared}`: call it, do not define it."
    return f"The signature of {tool.alias} is `{declared}`."


def _defines(program: Program, name: str) -> bool:
    """Return True if a program defines a function or a class of this name."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return any(isinstance(node, kinds) and node.name == name for node in ast.walk(program.tree))


def _fields(tool: Tool) -> list[str]:
    """Return a line for each scalar field that a tool's result has according to its schema.

    An example is `  result["flights"][0]["carrier"]: str`.
    """
    kinds: dict[str, list[str]] = {}
    for path, schema in response_paths(tool.protocol.output_schema):
        if path and "*" not in path and not (schema.get("properties") or "items" in schema):
            listed = (
                map(repr, schema["enum"])
                if "enum" in schema
                else (_TYPES.get(one, one) for one in types(schema))
            )
            kinds.setdefault(path, []).extend(listed)
    unwrapped = int(tool.wrapper is not None)
    lines = []
    for path, named in kinds.items():
        subscripts = _format_subscripts(parse_path(path)[unwrapped:])
        lines.append(f"  result{subscripts}: {' or '.join(dict.fromkeys(named)) or 'any value'}")
    return lines


def _format_subscripts(path: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f'["{step}"]' for step in path)


def _more(count: int) -> list[str]:
    return [f"  … and {count - _MOST_LINES} more"] if count > _MOST_LINES else []


_MOST_LEAVES = 400
_LONGEST_VALUE = 40
_MOST_EXAMPLES = 6
"""Maximum number of values that a working example reads."""
_MOST_CALLS = 8
_Leaf = tuple[tuple[str | int, ...], str]


def seen_fields(program: Program, call: ToolCall, tool: Tool, *, near: str = "") -> Iterator[str]:
    """Yield a line for each field of an actual response: `  flights[0]["carrier"] is 'UA'`.

    Of lists, only the first item is shown. If there are too many fields, those closest to `near` (a
    path in the full response) are kept.
    """
    name = find_assigned_name(program, call)
    leaves = _leaves(tool.unwrap(call.result))
    yield f"With {name} = {format_tool_call(call)} these can be read:"
    for path, shown in _closest(leaves, call, tool, near=near, most=_MOST_LINES):
        yield f"  {name}{_format_subscripts(path)} {shown}"
    yield from _more(len(leaves))


def read_examples(call: ToolCall, tool: Tool, *, near: str = "") -> Iterator[tuple[str, str]]:
    """Yield code that reads a value of an actual response, and what it then reads.

    These are few values, those closest to `near`, a path in the full response.
    """
    leaves = _leaves(tool.unwrap(call.result))
    for path, shown in _closest(leaves, call, tool, near=near, most=_MOST_EXAMPLES):
        yield f"result{_format_subscripts(path)}", shown


def _closest(
    leaves: list[_Leaf], call: ToolCall, tool: Tool, *, near: str, most: int
) -> list[_Leaf]:
    """Return at most `most` values of a response, those closest to a path, in their order."""
    wanted = generalize(tuple(parse_path(near)))
    if tool.wrapper is not None and tool.unwrap(call.result) is not call.result:
        wanted = wanted[1:]
    ranked = sorted(
        range(len(leaves)), key=lambda n: (-count_shared_steps(generalize(leaves[n][0]), wanted), n)
    )
    return [leaves[n] for n in sorted(ranked[:most])]


def format_results(calls: Sequence[ToolCall], tools: Toolbox, *, most: int = 3_000) -> str:
    """Return a text with the results that calls returned to the program.

    It has at most `most` characters. Only the first successful call of each tool is shown; a long
    result is abridged. The text cannot close a Markdown fence.
    """
    first: dict[str, ToolCall] = {}
    for call in calls:
        if call.error is None and call.tool in tools:
            first.setdefault(call.tool, call)
    shown = list(first.values())[:_MOST_CALLS]
    each = most // max(1, len(shown))
    gave = (abridge_value(tools[call.tool].unwrap(call.result), most=each) for call in shown)
    return escape_fences(
        "\n".join(
            f"{format_tool_call(call)} gave {one}" for call, one in zip(shown, gave, strict=True)
        )
    )


def escape_fences(text: str) -> str:
    """Replace Markdown fences in a text, so that it cannot close the fence in which it is shown."""
    return text.replace("```", "'''")


def find_assigned_name(program: Program, call: ToolCall) -> str:
    """Return the variable to which the program assigns a call's result, or else `result`."""
    for node in ast.walk(program.tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=tool))
            ) if tool == call.tool:
                if node.lineno <= call.line <= (node.end_lineno or node.lineno):
                    return name
    return "result"


def _leaves(value: Json) -> list[_Leaf]:
    """Return the scalar values in a response as text, each with its path.

    Of a list, the length and the values in the first item are returned.
    """
    found: list[_Leaf] = []
    stack: list[tuple[tuple[str | int, ...], Json]] = [((), value)]
    while stack and len(found) < _MOST_LEAVES:
        path, current = stack.pop()
        if isinstance(current, Mapping) and current:
            stack += [((*path, str(key)), inner) for key, inner in reversed(list(current.items()))]
        elif isinstance(current, list) and current:
            if len(current) > 1:
                found.append((path, f"is a list of {len(current)}"))
            stack.append(((*path, 0), current[0]))
        else:
            found.append((path, f"is {shorten(repr(current), _LONGEST_VALUE)}"))
    return found
