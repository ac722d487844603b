"""A program's text as a tree and as lines, the way that Python sees both."""

from __future__ import annotations

import ast
import re

from protocols import parsing

_LINE_END = re.compile("\r\n|\r|\n")


def parse(source: str) -> ast.Module:
    """The tree of a program, whose statements may await.

    Raises:
        SyntaxError, ValueError: it is no Python.
        RecursionError, MemoryError: it is nested too deeply for Python.
    """
    return parsing.parse(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def lines(source: str) -> list[str]:
    """The lines that Python counts."""
    return _LINE_END.split(source)
