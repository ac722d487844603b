"""A program's text as a tree and as lines, the way that Python sees both."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

FILENAME = "<program>"

TRIES = 10
"""CPython 3.11 counts the depth of all threads' parsing together, and fails where two of them parse at once."""

_quiet = threading.Lock()
_LINE_END = re.compile("\r\n|\r|\n")


def parse(source: str) -> ast.Module:
    """The tree of a program, whose statements may await.

    Raises:
        SyntaxError, ValueError: it is no Python.
        RecursionError, MemoryError: it is nested too deeply for Python.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    for left in reversed(range(TRIES)):
        try:
            with without_warnings():
                tree = compile(source, FILENAME, "exec", flags, dont_inherit=True)
            break
        except SystemError:
            if not left:
                raise
    assert isinstance(tree, ast.Module)
    return tree


def lines(source: str) -> list[str]:
    """The lines that Python counts."""
    return _LINE_END.split(source)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Within the block, what Python thinks of a program's style does not reach the host's error stream."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
