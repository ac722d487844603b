"""Programs for which the first page of a list is enough."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from atc.core.program import Program
from atc.core.tool_calls import called_tool


def only_first_rows(program: Program, tool: str) -> bool:
    """Return True if the program uses only the first rows of a result.

    It reads `near[0]`, `rows[:3]`, or the first row that fits: `next(row for row in rows if …)`.
    """
    tree = program.tree
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    calls = [node for node in ast.walk(tree) if called_tool(node) == tool]
    return bool(calls) and all(_takes_first_rows(call, tree, parents) for call in calls)


def _takes_first_rows(
    node: ast.AST,
    tree: ast.Module,
    parents: Mapping[ast.AST, ast.AST],
    names: frozenset[str] = frozenset(),
) -> bool:
    """Return True if the program uses only the first rows of the expression `node`.

    A condition that tests whether there are any rows is allowed, too. `names` are the variables
    that were already examined because the value was assigned to them.
    """
    parent = parents.get(node)
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is node:
            return _takes_first_rows(parent, tree, parents, names)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(number))) if value is node:
            return number >= 0
        case ast.Subscript(
            value=value, slice=ast.Slice(lower=None, upper=ast.Constant(), step=None)
        ):
            return value is node
        case ast.Assign(targets=[ast.Name(id=name)]) if name not in names:
            known = names | {name}
            uses = [use for use in ast.walk(tree) if isinstance(use, ast.Name) and use.id == name]
            reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
            return all(_takes_first_rows(use, tree, parents, known) for use in reads)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.comprehension():
            return parent.iter is node and _is_first_match(parents[parent], parents)
        case ast.Call(func=ast.Name(id="iter"), args=[_]):
            return _is_first_match(parent, parents)
        case ast.Call(func=ast.Name(id=name), args=[_]) if _is_accessor(name, tree):
            return _takes_first_rows(parent, tree, parents, names)
    return False


def _is_first_match(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return True if `node` is a generator of which `next(…)` takes the first item.

    With a default, as in `next(…, None)`, the result is False. The program then continues if the
    first page has no match, although a later page may have one.
    """
    match parents.get(node):
        case ast.Call(func=ast.Name(id="next"), args=[only]):
            return only is node
    return False


_READING = frozenset({"isinstance", "get", "next", "iter", "values", "list"})
"""Functions that a helper may call which only picks the rows out of a result."""


def _is_accessor(name: str, tree: ast.Module) -> bool:
    """Return True if the program defines a function `name` that only picks the rows of a result.

    It has one argument. An example is `def items(result): return result["items"]`.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
            loops = any(isinstance(inner, ast.For | ast.While) for inner in ast.walk(node))
            names = {getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls}
            return len(node.args.args) == 1 and not loops and names <= _READING
    return False
