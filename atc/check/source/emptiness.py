"""Iterables that certainly have an item, as far as the source itself shows it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_KEEPING = {"enumerate", "sorted", "reversed", "list", "tuple", "set", "zip", "dict", "iter"}
_ASSUMED = {"range", "count", "cycle", "repeat", "product"}
"""Counting is done on purpose: that it gives nothing is not thought of."""
_MOST = 6


def single_values(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    """What the names stand for that the program assigns once only."""
    found: dict[str, ast.expr] = {}
    often: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                often |= {name} & found.keys()
                found[name] = value
    return {name: value for name, value in found.items() if name not in often}


def never_empty(node: ast.expr, values: Mapping[str, ast.expr], depth: int = 0) -> bool:
    """Whether iterating gives at least one item, or is taken to."""
    if depth > _MOST:
        return False
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return any(not isinstance(item, ast.Starred) for item in items)
        case ast.Dict(keys=keys):
            return any(key is not None for key in keys)
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id=name):
            return name in values and never_empty(values[name], values, depth + 1)
        case ast.ListComp(generators=[only]) | ast.DictComp(generators=[only]) | ast.GeneratorExp(generators=[only]):
            return not only.ifs and never_empty(only.iter, values, depth + 1)
        case ast.Call(func=ast.Attribute(attr="items" | "keys" | "values" | "split", value=owner), args=[]):
            return never_empty(owner, values, depth + 1)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given):
            if name in _KEEPING:
                return bool(given) and all(never_empty(part, values, depth + 1) for part in given[:3])
            return name in _ASSUMED
        case _:
            return False
