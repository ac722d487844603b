"""Parsing of Python source: without warnings, and safe with several threads."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FILENAME = "<program>"

TRIES = 10
"""Maximum number of attempts to parse a program.

CPython 3.11 before 3.11.8 counts the recursion depth of all threads together and fails if two parse
at once (python/cpython#106905). Our lock does not cover other libraries.
"""

_quiet = threading.RLock()


@contextmanager
def suppress_syntax_warnings() -> Iterator[None]:
    """Suppress the warnings that Python gives about source code, within the `with` block."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _tree(source: str, mode: str, flags: int = 0, *, tries: int = TRIES) -> Any:
    """Return the syntax tree of `source`. `mode` and `flags` are passed to `compile`."""
    try:
        with suppress_syntax_warnings():
            return compile(source, FILENAME, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    except SystemError:
        if tries == 1:
            raise
        return _tree(source, mode, flags, tries=tries - 1)


def parse_python(source: str, *, flags: int = 0) -> ast.Module:
    """Return the syntax tree of a program. `flags` are compiler flags.

    Raises:
        SyntaxError, ValueError: the source is not Python.
        RecursionError, MemoryError: the source is nested too deeply for Python.
    """
    tree: ast.Module = _tree(source, "exec", flags)
    return tree


def parse_python_or_none(source: str) -> ast.Module | None:
    """Return the syntax tree of a program, or None if it is not Python or nested too deeply."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(source: str) -> ast.Expression:
    """Return the syntax tree of one expression. Raises the same errors as `parse_python`."""
    tree: ast.Expression = _tree(source.lstrip(" \t"), "eval")
    return tree


def evaluate_literal(source: str) -> Any:
    """Return the value of a Python literal, such as a number or a list, like `ast.literal_eval`.

    Raises:
        ValueError, TypeError: the text is an expression, but not a literal.
        SyntaxError, RecursionError, MemoryError: the text cannot be parsed.
    """
    return ast.literal_eval(parse_expression(source))
