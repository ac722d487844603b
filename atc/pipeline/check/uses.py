"""What a program does with a value: the types of values for which that works."""

from __future__ import annotations

import ast

from atc.pipeline.check import types as t
from atc.pipeline.check.kinds import category, not_none
from atc.pipeline.check.syntax import children, once_per_check, walk_nodes

_METHODS: dict[str, frozenset[str]] = {
    **dict.fromkeys(["get", "items", "keys", "values"], frozenset({"dict"})),
    **dict.fromkeys(
        ["split", "lower", "upper", "strip", "startswith", "endswith", "replace", "title"],
        frozenset({"str"}),
    ),
    **dict.fromkeys(["append", "extend", "sort"], frozenset({"list"})),
}
_FUNCTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(["sum", "sorted", "enumerate", "set", "list"], frozenset({"list"})),
    **dict.fromkeys(["abs", "round"], frozenset({"number"})),
    **dict.fromkeys(["int", "float"], frozenset({"number", "str"})),
    "len": frozenset({"list", "str", "dict"}),
}
_PARENTS = f"{__name__}.parents"


def fits_use(module: ast.Module, node: ast.AST, value: t.Type) -> bool:
    """Return True if a value of this type can be used as the program uses the expression `node`.

    It is also True if the use or the type is not known.
    """
    needed = _needed_categories(module, node)
    known = category(not_none(value))
    return needed is None or known is None or known in needed


def key_reader(module: ast.Module, key: ast.AST) -> ast.AST:
    """Return the subscript or the `.get()` call that reads the key at the node `key`."""
    return once_per_check(module, _PARENTS, _find_parents).get(key, key)


def _needed_categories(module: ast.Module, node: ast.AST) -> frozenset[str] | None:
    """Return the categories of values that the code around an expression accepts; None for any."""
    match once_per_check(module, _PARENTS, _find_parents).get(node):
        case ast.Subscript(value=read, slice=ast.Constant(value=str())) if read is node:
            return frozenset({"dict"})
        case ast.Subscript(value=read, slice=ast.Slice() | ast.Constant()) if read is node:
            return frozenset({"list", "str"})
        case ast.Attribute(attr=name):
            return _METHODS.get(name)
        case ast.For(iter=read) | ast.comprehension(iter=read) if read is node:
            return frozenset({"list"})
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow()):
            return frozenset({"number"})
        case ast.Compare(left=left, comparators=[right]):
            other = right if left is node else left
            kind = type(other.value) if isinstance(other, ast.Constant) else object
            names = {str: "str", int: "number", float: "number"}
            return frozenset({names[kind]}) if kind in names else None
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if first is node:
            return _FUNCTIONS.get(name)
    return None


def _find_parents(module: ast.AST) -> dict[ast.AST, ast.AST]:
    """Return the parent of each node of a program."""
    return {child: node for node in walk_nodes(module) for child in children(node)}
