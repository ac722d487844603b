"""A reviewed program as code: exactly what CPython makes of it, but for two things."""

from __future__ import annotations

import ast
from types import CodeType

from protocols.parsing import FILENAME, without_warnings
from sandbox.policy.parse import parse

INTERRUPTED, CLOCK = "<interrupted>", "<clock>"
"""Names that the code finds among its builtins, and that no source can write."""

_MOMENTS = ("now", "utcnow", "today")

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def compile_program(source: str) -> list[CodeType]:
    """The program's statements, and its last expression by itself.

    A handler lets the end of the run through whatever it catches, and `x.now`, `x.today` ask `CLOCK` for what stands
    for `x`: types written in C cannot be given another clock for one program alone.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be compiled.
    """
    tree = parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            first = node.handlers[0]
            again = ast.copy_location(ast.Raise(), first)
            through = ast.ExceptHandler(_name(INTERRUPTED, first), None, [again])
            node.handlers.insert(0, ast.copy_location(through, first))
        elif isinstance(node, ast.Attribute) and node.attr in _MOMENTS and isinstance(node.ctx, ast.Load):
            stand_in = ast.Call(_name(CLOCK, node.value), [node.value], [])
            node.value = ast.copy_location(stand_in, node.value)
    with without_warnings():
        if not tree.body or not isinstance(tree.body[-1], ast.Expr):
            return [compile(tree, FILENAME, "exec", _FLAGS, dont_inherit=True)]
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        body = compile(tree, FILENAME, "exec", _FLAGS, dont_inherit=True)
        return [body, compile(last, FILENAME, "eval", _FLAGS, dont_inherit=True)]


def _name(name: str, place: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), place)
