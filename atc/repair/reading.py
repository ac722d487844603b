"""What a program can read of a response that it got: each place as an expression, with what stood there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from atc.findings import invocation
from atc.paths import general, shared
from atc.repair.documentation import MOST_LINES
from atc.types import Program
from protocols.abridge import abridged
from protocols.jsontypes import Json, JsonObject
from protocols.parsing import parsed
from protocols.schema import steps
from protocols.secrets import covered
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

_MOST_LEAVES = 400
_LONGEST_VALUE = 40
_MOST_CALLS = 8
_SHORTEST_SAMPLE = 20
"""Characters that a sample leaves of any text."""
_Leaf = tuple[tuple[str | int, ...], str]


def seen_fields(program: Program, call: ToolCall, tool: Tool, *, near: str = "") -> Iterator[str]:
    """`  flights[0]["carrier"] is 'UA'`, a line for each place of the response, of lists for their first item.

    Where there are too many, those next to `near` (a path in the full response) are kept.
    """
    result = unclipped_secrets(call.result, tool.protocol.output_schema)
    value = tool.unwrap(result)
    name = assigned(program, call)
    leaves = _leaves(value)
    wanted = general(tuple(steps(near)))
    if tool.wrapper is not None and value is not result:
        wanted = wanted[1:]
    ranked = sorted(range(len(leaves)), key=lambda n: (-shared(general(leaves[n][0]), wanted), n))
    kept = [leaves[n] for n in sorted(ranked[:MOST_LINES])]
    yield f"With {name} = {invocation(call)} these can be read:"
    for path, shown in kept:
        place = "".join(f"[{step}]" if isinstance(step, int) else f'["{step}"]' for step in path)
        yield f"  {name}{place} {shown}"
    if len(leaves) > len(kept):
        yield f"  … and {len(leaves) - len(kept)} more"


def returned(calls: Sequence[ToolCall], tools: Toolbox, *, most: int) -> str:
    """What calls gave, as a program gets it; of each tool the first that succeeded, a longer one with its shape."""
    first: dict[str, ToolCall] = {}
    for call in calls:
        if call.error is None and call.tool in tools:
            first.setdefault(call.tool, call)
    shown = list(first.values())[:_MOST_CALLS]
    each = most // max(1, len(shown))
    return "\n".join(f"{invocation(call)} gave {_abridged(call, tools[call.tool], each)}" for call in shown)


def _abridged(call: ToolCall, tool: Tool, most: int) -> str:
    value = tool.unwrap(call.result)
    if len(repr(value)) > most:
        value = tool.unwrap(unclipped_secrets(call.result, tool.protocol.output_schema, most=_SHORTEST_SAMPLE))
    return abridged(value, most=most)


def fenceless(text: str) -> str:
    """Text that does not end the fence around it."""
    return text.replace("```", "'''")


def unclipped_secrets(value: Json, schema: JsonObject | None, *, most: int = _LONGEST_VALUE - 3) -> Json:
    """The value with a remark for each secret of more than `most` characters, which would be cut when it is shown.

    A prompt's redaction knows whole secrets alone.
    """

    def cover(secret: Json) -> Json:
        size = len(str(secret))
        return secret if size <= most else f"(a secret of {size} characters)"

    return covered(value, schema, cover)


def assigned(program: Program, call: ToolCall) -> str:
    """The name that the program gives to a call's result, `result` where it gives none."""
    tree = parsed(program.source)
    if tree is None:
        return "result"
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=tool))) if tool == call.tool:
                if node.lineno <= call.line <= (node.end_lineno or node.lineno):
                    return name
    return "result"


def _leaves(value: Json) -> list[_Leaf]:
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
            found.append((path, f"is {_short(current)}"))
    return found


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
