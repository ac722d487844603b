"""Calls of tools in the syntax tree of a program."""

from __future__ import annotations

import ast

PAGES = "pages"
WITH_HEADERS = "with_headers"
TOOL_FUNCTIONS = frozenset({PAGES, WITH_HEADERS})
"""Builtins of programs that call the tool which is their first argument."""


def called_tool(node: ast.AST) -> str | None:
    """Return the name of the function or tool that an expression calls, or None for any other.

    `pages(list_items, page=1)` and `with_headers(…)` call the tool `list_items`.
    """
    if not isinstance(node, ast.Call):
        return None
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=tool)]) if name in TOOL_FUNCTIONS:
            return tool
        case ast.Call(func=ast.Name(id=name)):
            return name
    return None
