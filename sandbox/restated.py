"""Definitions that only repeat what a program was given: stubs of its functions, and their TypedDicts.

A small model that sees a function's documentation sometimes answers with it. Such a definition would replace the real
function by one that does nothing; a reply of nothing else is no program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from protocols.parsing import parse

_TYPING = frozenset({"typing", "typing_extensions", "__future__"})


def without_restated(source: str) -> str | None:
    """`source` without such definitions; None where they and imports are all that there is.

    As it came where it is no Python, and where there are none.
    """
    try:
        body = parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    dropped = _restated(body)
    if not dropped:
        return source
    left = [node for node in body if node not in dropped]
    used = _names(left)
    dropped += [node for node in left if isinstance(node, ast.ImportFrom) and _only_typing(node, used)]
    left = [node for node in left if node not in dropped]
    if all(isinstance(node, ast.Import | ast.ImportFrom) or _is_constant(node) for node in left):
        return None
    return _without_lines(source, [node for node in dropped if not _shares_a_line(node, left)])


def _without_lines(source: str, nodes: Iterable[ast.stmt]) -> str:
    """`source` without the lines of these statements."""
    gone = {number for node in nodes for number in range(_first_line(node), (node.end_lineno or node.lineno) + 1)}
    kept = [line for number, line in enumerate(source.splitlines(keepends=True), start=1) if number not in gone]
    return "".join(kept).lstrip("\n")


def _restated(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Functions without a body, and shapes that nothing else in the program names."""
    stubs = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_stub(node)]
    shapes = {node: name for node in body if (name := _shape_name(node)) is not None}
    kept = [node for node in body if node not in stubs and node not in shapes]
    while needed := [node for node, name in shapes.items() if name in _names(kept)]:  # by a kept one, so it is kept too
        kept += needed
        shapes = {node: name for node, name in shapes.items() if node not in needed}
    return [*stubs, *shapes]


def _is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function does nothing at all: its body is a docstring or `...`."""
    return all(_is_constant(statement) for statement in node.body)


def _shape_name(node: ast.stmt) -> str | None:
    """The name of a TypedDict that a statement declares."""
    match node:
        case ast.ClassDef(name=name, bases=[base, *_]) if _is_typed_dict(base):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=called)) if _is_typed_dict(called):
            return name
    return None


def _is_typed_dict(node: ast.expr) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "TypedDict"


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _only_typing(node: ast.ImportFrom, used: frozenset[str]) -> bool:
    return node.module in _TYPING and not any((alias.asname or alias.name) in used for alias in node.names)


def _names(nodes: Iterable[ast.stmt]) -> frozenset[str]:
    return frozenset(n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _shares_a_line(node: ast.stmt, others: Iterable[ast.stmt]) -> bool:
    lines = range(_first_line(node), (node.end_lineno or node.lineno) + 1)
    return any(other.lineno in lines or other.end_lineno in lines for other in others)
