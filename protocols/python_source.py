"""Python's text as a tree: silent about style, and right where several threads read at once."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FILENAME = "<program>"

TRIES = 10
"""CPython 3.11 before 3.11.8 counts the depth of all threads' parsing together, and fails where two parse at once
(python/cpython#106905); what others parse is beyond our lock."""

_quiet = threading.RLock()


@contextmanager
def suppress_syntax_warnings() -> Iterator[None]:
    """Within the block, what Python thinks of a program's style does not reach the host's error stream."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _tree(source: str, mode: str, flags: int = 0, *, tries: int = TRIES) -> Any:
    try:
        with suppress_syntax_warnings():
            return compile(source, FILENAME, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SystemError:
        if tries == 1:
            raise
        return _tree(source, mode, flags, tries=tries - 1)


def parse_python(source: str, *, flags: int = 0) -> ast.Module:
    """The tree of a program; `flags` are the compiler's, as `ast.PyCF_ALLOW_TOP_LEVEL_AWAIT`.

    Raises:
        SyntaxError, ValueError: it is no Python.
        RecursionError, MemoryError: it is nested too deeply for Python.
    """
    tree: ast.Module = _tree(source, "exec", flags)
    return tree


def parse_python_or_none(source: str) -> ast.Module | None:
    """The tree of a program; None where it is no Python, or nested too deeply for Python."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(source: str) -> ast.Expression:
    """The tree of one expression. Raises as `parse` does."""
    tree: ast.Expression = _tree(source.lstrip(" \t"), "eval")
    return tree


def evaluate_literal(source: str) -> Any:
    """The value of a literal, as `ast.literal_eval` has it.

    Raises:
        ValueError, TypeError: it is an expression, but no literal.
        SyntaxError, RecursionError, MemoryError: as `parse`.
    """
    return ast.literal_eval(parse_expression(source))
