"""Functions over trees that take the largest or smallest of what they give for the parts of a node.

At a leaf there are none, so such a function without a test fails on every tree that ends.
"""

from __future__ import annotations

import ast

from atc.check.report import finding, spelled
from atc.check.source.memo import walk
from atc.check.source.scopes import Scopes
from atc.types import Finding

_TESTS = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match, ast.While, ast.Assert, ast.NamedExpr, ast.With)


def leafless(scopes: Scopes) -> list[Finding]:
    """A finding for each `max(f(part) for part in …)` in a function `f` that tests nothing."""
    found = []
    for node in scopes.functions:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and node not in scopes.generators:
            found += _extremes(node)
    return found


def _extremes(function: ast.FunctionDef) -> list[Finding]:
    inside = [part for statement in function.body for part in walk(statement)]
    if any(isinstance(part, _TESTS) for part in inside):
        return []
    found = []
    for call in inside:
        match call:
            case ast.Call(func=ast.Name(id="max" | "min" as name), args=[items], keywords=named) if all(
                keyword.arg == "key" for keyword in named
            ) and _recurs(items, function.name):
                better = "default=0"
                message = (
                    f"{name}() fails where there is nothing to compare, and {function.name}() comes to its end only "
                    f"at a node for which {_source(items)} is empty. Write {better}."
                )
                found.append(finding("wrong-operand", call, message, better=better))
    return found


def _recurs(items: ast.expr, name: str) -> bool:
    """Whether every item is what the function itself gives for a part."""
    match items:
        case ast.GeneratorExp(elt=element, generators=[_]) | ast.ListComp(elt=element, generators=[_]):
            calls = [part.func for part in walk(element) if isinstance(part, ast.Call)]
            return any(isinstance(func, ast.Name) and func.id == name for func in calls)
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id=mapped), _]):
            return mapped == name
        case _:
            return False


def _source(items: ast.expr) -> str:
    match items:
        case ast.GeneratorExp(generators=[only]) | ast.ListComp(generators=[only]):
            return spelled(only.iter)
        case ast.Call(args=[_, over]):
            return spelled(over)
        case _:
            return "it"
