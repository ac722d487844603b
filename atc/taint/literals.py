"""The literals of a program: what whoever wrote it wrote out whole, and where it stands as a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from protocols.jsontypes import Json
from protocols.marks import argument_kind
from protocols.parsing import parse
from protocols.toolbox import Toolbox

Same = tuple[str, str | Decimal]
"""One value for comparing: `1` and `1.0` are the same, `1`, `True` and `"1"` are not."""

_MOST_BITS = 4096
"""Of an integer that is compared as a number; Python gives no decimal digits of much longer ones."""

_COUNTS = frozenset({"range", "round", "enumerate", "islice"})


def same(value: Json) -> Same:
    """What equal values have in common. A list or an object compares by its text."""
    if isinstance(value, bool):
        return "truth", str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return "json", hex(value)
    if isinstance(value, int | float):
        return "number", Decimal(str(value))
    return ("text", value) if isinstance(value, str) else ("json", repr(value))


def literals(source: str, tools: Toolbox) -> frozenset[Same]:
    """Every text, number and truth value that a program holds as a value of its own.

    A part of an f-string, of a concatenation or of arithmetic is none, nor are keys and indices of subscripts, and
    texts that stand alone (docstrings). A number is none where it only counts or compares, or is given straight to an
    argument of a tool that is not sensitive: it was written for that.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: set[Same] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        value = _constant(node)
        if value is not None:
            found.add(same(value))
        else:
            waiting += _below(node, tools)
    return frozenset(found)


def _constant(node: ast.AST) -> Any:
    """The value of a constant, with its sign; None where the node is none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _constant(node.operand)
        if isinstance(inner, int | float) and not isinstance(inner, bool):
            return -inner if isinstance(node.op, ast.USub) else inner
        return None
    value = node.value if isinstance(node, ast.Constant) else None
    finite = not isinstance(value, float) or value - value == 0
    return value if isinstance(value, str | int | float) and finite else None


def _is_number(node: ast.AST) -> bool:
    return isinstance(_constant(node), int | float)


def _below(node: ast.AST, tools: Toolbox) -> Iterator[ast.AST]:
    """The nodes beneath, without constants that are no values of their own."""
    below = list(ast.iter_child_nodes(node))
    match node:
        case ast.Expr() | ast.BinOp() | ast.AugAssign():
            yield from (child for child in below if _constant(child) is None)
        case ast.JoinedStr():
            yield from (child.value for child in below if isinstance(child, ast.FormattedValue))
        case ast.Compare() | ast.Slice():
            yield from (child for child in below if not _is_number(child))
        case ast.Subscript(slice=index):
            yield from (child for child in below if child is not index or _constant(child) is None)
        case ast.Call(func=ast.Name(name), args=given, keywords=named):
            plain = () if name not in _COUNTS else given
            spare = {id(one) for one in plain if _is_number(one)}
            if name in tools:
                spare |= {id(keyword.value) for keyword in named if _for_that_alone(keyword, name, tools)}
            yield from (one for one in given if id(one) not in spare)
            yield from (keyword.value for keyword in named if id(keyword.value) not in spare)
        case _:
            yield from below


def _for_that_alone(keyword: ast.keyword, name: str, tools: Toolbox) -> bool:
    tool = tools[name]
    original = tool.arguments.get(keyword.arg or "")
    return original is not None and _is_number(keyword.value) and argument_kind(tool.protocol, original) is None
