"""Edits of a program's text: one node replaced, everything else as it stood."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Numbered = tuple[int, ast.AST]


def numbered(tree: ast.Module) -> list[ast.AST]:
    """Every node; a node's number is its index here, the same in each tree of one text."""
    return list(ast.walk(tree))


def replaced(source: str, node: ast.expr | ast.stmt, text: str) -> str:
    """`source` with `text` in place of `node`; a statement's text is indented as the statement was."""
    begin, end = _offset(source, node.lineno, node.col_offset), _offset(source, *_end(node))
    if isinstance(node, ast.stmt):
        text = text.replace("\n", "\n" + " " * node.col_offset)
    data = source.encode()
    return (data[:begin] + text.encode() + data[end:]).decode()


def text_of(source: str, node: ast.expr | ast.stmt) -> str:
    """The text of a node as it stands."""
    return ast.get_source_segment(source, node) or ast.unparse(node)


def bracketed(expr: ast.expr) -> str:
    """The text of an expression in brackets where a method or an operator may follow only so."""
    text = ast.unparse(expr)
    return text if isinstance(expr, ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.Constant) else f"({text})"


def inside(outer: ast.AST) -> Iterator[ast.AST]:
    """The nodes within `outer`, itself left out."""
    nodes = ast.walk(outer)
    next(nodes)
    return nodes


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _offset(source: str, line: int, column: int) -> int:
    lines = source.encode().split(b"\n")
    return sum(len(text) + 1 for text in lines[: line - 1]) + column
