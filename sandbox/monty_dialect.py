"""Adapts programs that await tool calls to monty, whose interpreter cannot be extended.

The interpreter asks for the result of each call. The answer may be a future, if the program awaits
the call, so that other calls can be begun meanwhile. The adapted program has the same lines.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from protocols.python_source import parse_python
from sandbox.awaited import AwaitedValues

_WORDS = re.compile(r"await|async|^return\b", re.MULTILINE)
_HIDING = (ast.Lambda, ast.GeneratorExp, ast.JoinedStr, ast.FunctionDef, ast.ClassDef)
"""Parts of an asynchronous function in which a call cannot be awaited, or has no exact position."""


class AdaptedProgram(NamedTuple):
    """A program for monty, and at which bytes of it the calls begin that are answered later."""

    source: str
    awaited: frozenset[int] = frozenset()


def adapt_program(source: str, tools: Collection[str]) -> AdaptedProgram:
    """Return a program in which plain tool calls in `async def` are awaited.

    A `return` as the last statement becomes an expression, whose value is that of the program.
    """
    if _WORDS.search(source) is None:
        return AdaptedProgram(source)
    try:
        tree = parse_python(source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        edits = list(_iter_edits(tree, tools))
        adapted = _apply(source, edits)
        tree = parse_python(adapted, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return AdaptedProgram(source)
    flows = AwaitedValues(tree)
    offset_of = _line_offsets(adapted)
    return AdaptedProgram(
        adapted,
        frozenset(
            offset_of[call.lineno - 1] + call.col_offset
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and _calls_one_of(call, tools) and flows.is_awaited(call)
        ),
    )


def function_named(name: str) -> Callable[[], None]:
    """Return a function that stands for a tool as a value. Only its name reaches the program."""

    def stand_in() -> None: ...

    stand_in.__name__ = name
    return stand_in


class _Edit(NamedTuple):
    """A piece of text that replaces others: `length` bytes at a line and column."""

    line: int
    column: int
    length: int
    text: str


def _iter_edits(tree: ast.Module, tools: Collection[str]) -> Iterator[_Edit]:
    flows = AwaitedValues(tree)
    for function in ast.walk(tree):
        if isinstance(function, ast.AsyncFunctionDef):
            for call in _own_calls(function, tools):
                if not flows.is_awaited(call):
                    yield _Edit(call.lineno, call.col_offset, 0, "(await ")
                    yield _Edit(call.end_lineno or 1, call.end_col_offset or 0, 0, ")")
    match tree.body:
        case [*_, ast.Return(value=value) as last]:
            # Brackets keep `return (a)` and values on several lines right.
            yield _Edit(last.lineno, last.col_offset, len("return"), "(" if value else "None")
            if value is not None:
                yield _Edit(value.end_lineno or 1, last.end_col_offset or 0, 0, ")")


def _own_calls(function: ast.AsyncFunctionDef, tools: Collection[str]) -> Iterator[ast.Call]:
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and _calls_one_of(node, tools):
            yield node
        if not isinstance(node, (*_HIDING, ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)


def _calls_one_of(call: ast.Call, tools: Collection[str]) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in tools


def _apply(source: str, edits: list[_Edit]) -> str:
    data = source.encode("utf-8")
    offset_of = _line_offsets(source)
    placed = sorted(
        ((offset_of[edit.line - 1] + edit.column, edit) for edit in edits),
        key=lambda one: (one[0], one[1].text == ")"),
        reverse=True,
    )
    for start, edit in placed:
        data = data[:start] + edit.text.encode("utf-8") + data[start + edit.length :]
    return data.decode("utf-8")


def _line_offsets(source: str) -> list[int]:
    """Return the offset in bytes of each line of a program, as Python counts its lines."""
    offsets = [0]
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", source):
        offsets.append(offsets[-1] + len(line.encode("utf-8")))
    return offsets
