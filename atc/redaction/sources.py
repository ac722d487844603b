"""Secrets that stand in a program as literals."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from protocols.jsontypes import Json, JsonObject
from protocols.parsing import parsed
from protocols.secrets import secrets_of, within
from protocols.toolbox import Tool


def by_alias(tool: Tool) -> JsonObject:
    """The schema of a tool's arguments under the names that programs give them."""
    schema, properties = tool.protocol.input_schema, tool.protocol.parameters
    return {**schema, "properties": {alias: properties[name] for alias, name in tool.arguments.items()}}


def secrets_in_program(source: str, tools: Mapping[str, Tool]) -> list[Json]:
    """Literals of a program that are secrets by the variable, key or argument that they are given to.

    Empty for a source that is no Python.
    """
    tree = parsed(source)
    if tree is None:
        return []
    names: dict[str, Json] = {}
    found: list[Json] = []
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                names[name] = _literal(value, {})
                found += secrets_of({name: names[name]}, None)
            case ast.Dict():
                found += secrets_of(_literal(node, {}), None)
            case ast.Constant(value=str(text)):
                found += within(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found += _of_call(node, tools, names)
    return found


def _of_call(call: ast.Call, tools: Mapping[str, Tool], names: Mapping[str, Json]) -> list[Json]:
    given: dict[str, Json] = {}
    for keyword in call.keywords:
        value = _literal(keyword.value, names)
        if keyword.arg is not None:
            given[keyword.arg] = value
        elif isinstance(value, dict):
            given |= value
    # The tool stands in front of the arguments, or among them: `asyncio.to_thread(login, password=…)`.
    called = [node.id for node in (call.func, *call.args[:1]) if isinstance(node, ast.Name) and node.id in tools]
    if not called:
        return secrets_of(given, None)
    tool = tools[called[0]]
    return secrets_of(given, by_alias(tool))


def _literal(node: ast.expr | None, names: Mapping[str, Json]) -> Json:
    """The value of an expression as far as it can be read off; None for what cannot."""
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.Name(id=name):
            return names.get(name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item, names) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(_literal(k, names)): _literal(v, names) for k, v in pairs if isinstance(k, ast.Constant)}
        case _:
            return None
