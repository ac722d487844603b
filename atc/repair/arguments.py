"""The value that an argument was meant to take, where links and the responses that came leave one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from atc.attribute import origins
from atc.attribute.paths import at
from atc.repair.case import Case
from atc.types import Fault, Program
from protocols.parsing import parse
from protocols.producers import Producer, Producers
from sandbox.trace import ToolCall


def with_other_value(case: Case, fault: Fault, call: ToolCall | None) -> Program | None:
    """The program with another value for the argument that a tool refused; None where facts leave none, or several.

    The field beside the one that was passed on (`entry["board_id"]` for `entry["film_id"]`), where the argument's links
    name it; else the variable that holds such a field already.
    """
    if fault.kind != "bad_arguments" or call is None or call.tool not in case.tools or not fault.path:
        return None
    program, tool = case.attempt.program, case.tools[call.tool]
    try:
        tree = parse(program.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_call(node, call.tool)]
    made = [node for node in nodes if node.lineno <= call.line <= (node.end_lineno or node.lineno)]
    given = [keyword.value for node in made for keyword in node.keywords if keyword.arg == fault.path]
    producers = Producers(case.tools).of(tool, tool.arguments.get(fault.path, fault.path))
    if len(given) != 1 or not producers:
        return None
    beside = _beside(case, call, fault.path, given[0], tree, producers)
    if beside is not None:
        return _replaced(program, *beside)
    holders = _holders(tree, {_field(producer) for producer in producers}, before=call.line)
    holders -= {node.id for node in ast.walk(given[0]) if isinstance(node, ast.Name)}
    return _replaced(program, given[0], holders.pop()) if len(holders) == 1 else None


def _beside(
    case: Case, call: ToolCall, argument: str, given: ast.expr, tree: ast.Module, producers: list[Producer]
) -> tuple[ast.expr, str] | None:
    """The key that was read in place of the one that the argument takes, and the key it takes."""
    before = {other.index: other for other in case.calls if other.index < call.index}
    for origin in origins(call.arguments.get(argument), before.values())[:1]:
        if not origin.steps or not isinstance(origin.steps[-1], str):
            return None
        parent, used = at(before[origin.call].result, origin.steps[:-1]), origin.steps[-1]
        ends = {_field(producer) for producer in producers if producer.tool == origin.tool}
        fields = [key for key in parent if key in ends and key != used] if isinstance(parent, Mapping) else []
        keys = [key for key in _keys_read(tree, used) if key[0] is given or _is_call(_root(key[0]), origin.tool)]
        if len(fields) == 1 and len(keys) == 1:
            return keys[0][1], repr(fields[0])
    return None


def _keys_read(tree: ast.Module, key: str) -> Iterator[tuple[ast.Subscript, ast.Constant]]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str() as read) as constant) if read == key:
                yield node, constant


def _root(node: ast.expr) -> ast.expr:
    """What an expression of subscripts reads from: `f()` of `f()[0]["key"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _is_call(node: ast.expr, tool: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == tool


def _holders(tree: ast.Module, fields: Collection[str], *, before: int) -> set[str]:
    """Variables that the program gives one of these fields, ahead of a line."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if node.lineno < before:
                if isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.args[0], ast.GeneratorExp):
                    value = value.args[0].elt  # next(city["city_id"] for city in …)
                if any(read is value for field in fields for read, _ in _keys_read(tree, field)):
                    found.add(name)
    return found


def _field(producer: Producer) -> str:
    """The last key of a producer's path: `results[].code` → `code`."""
    return producer.path.rpartition(".")[2].removesuffix("[]")


def _replaced(program: Program, node: ast.expr, text: str) -> Program | None:
    """The program with other text for an expression that stands on one line."""
    if node.end_lineno != node.lineno:
        return None
    lines = program.source.splitlines()
    raw = lines[node.lineno - 1].encode()
    lines[node.lineno - 1] = (raw[: node.col_offset] + text.encode() + raw[node.end_col_offset :]).decode()
    return Program("\n".join(lines) + "\n")
