"""Hints: reports that a value in a failing expression came from a path in a tool's response.

The program's process searches for them only after a failure. The host accepts a hint only if the
response that it recorded has the same value (`fingerprint`) at this path. This module imports only
the standard library.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from sandbox.channel import RecentReplies
from sandbox.frames import LONGEST_PATH, MOST_HINTS, fingerprint

VALUES = 100_000
"""Maximum number of values in replies that are searched."""

Position = tuple[int, int, int, int]
"""Position of an expression: line and column of its start, then line and column of its end.

Lines are counted from 1, and columns from 0 in UTF-8 bytes."""


def evaluated_position(step: TracebackType) -> Position | None:
    """Return where in the source the expression is that one level of a traceback evaluated.

    The result consists of first line, first column, last line and last column. Return None if it is
    unknown.
    """
    for line, end, column, end_column in islice(
        step.tb_frame.f_code.co_positions(), step.tb_lasti // 2, None
    ):
        if line is None or end is None or column is None or end_column is None:
            return None
        return line, column, end, end_column
    return None


def find_hints(levels: list[TracebackType], source: str, replies: RecentReplies) -> list[list[Any]]:
    """Return hints for those parts of failed expressions whose values come from replies to calls.

    A hint is a list: the index of the level in `levels`, the position (four numbers), the number of
    the reply, the path in its value, and the fingerprint of the value at this path. Only names and
    items of plain dicts, lists and tuples are evaluated, so that no code of the program runs.
    """
    wanted: dict[int, list[list[Any]]] = {}
    try:
        nodes = [node for node in ast.walk(ast.parse(source)) if hasattr(node, "end_lineno")]
        for number, step in enumerate(levels):
            position = evaluated_position(step)
            for node in [node for node in nodes if _node_position(node) == position]:
                for part in islice(_iter_candidate_parts(node), MOST_HINTS):
                    value = _value(part, step.tb_frame)
                    if _is_identifying(value):
                        wanted.setdefault(id(value), []).append([number, *_node_position(part)])
        return list(islice(_search_replies(wanted, replies), MOST_HINTS))
    except Exception:  # noqa: BLE001 - a program may have changed anything
        return []


def _node_position(node: Any) -> Position:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _iter_candidate_parts(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the names, subscripts and calls in a syntax node, outer expressions first.

    Parts that are evaluated in another scope, such as the body of a lambda, are left out.
    """
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from _iter_candidate_parts(node.generators[0].iter)
        return
    if isinstance(node, ast.Name | ast.Subscript | ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _iter_candidate_parts(child)


def _value(node: ast.AST, frame: FrameType) -> Any:
    """Return the value of an expression at the time of a failure, if that runs no code.

    Return None if evaluating the expression could run code of the program. `frame` has the
    variables.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case (
            ast.Subscript(value=holder, slice=index)
            | ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[index, *_], keywords=[])
        ):
            within = _value(holder, frame)
            key = _value(index, frame)
            if type(within) is dict and type(key) in (str, int):
                return within.get(key)
            if (
                type(within) in (list, tuple)
                and type(key) is int
                and -len(within) <= key < len(within)
            ):
                return within[key]
    return None


def _is_identifying(value: Any) -> bool:
    """Return True if another value that is equal to this one would be another object.

    Python reuses the objects of small integers and short strings. Any other object that occurs in
    the program and in a reply shows that the program got the value from the reply.
    """
    kind = type(value)
    if kind is int:
        return not -5 <= value <= 256
    return kind in (dict, list, float) or (kind is str and len(value) > 1)


def _search_replies(
    wanted: dict[int, list[list[Any]]], replies: RecentReplies
) -> Iterator[list[Any]]:
    left = VALUES
    for number, root in replies.newest_first():
        stack: list[tuple[Any, tuple[Any, ...]]] = [(root, ())]
        while stack:
            value, path = stack.pop()
            left -= 1
            if left < 0 or not wanted:
                return
            if id(value) in wanted and len(path) <= LONGEST_PATH:
                for expression in wanted.pop(id(value)):
                    yield [*expression, number, list(path), fingerprint(value)]
            if type(value) is dict:
                stack += [(item, (*path, key)) for key, item in value.items() if type(key) is str]
            elif type(value) is list:
                stack += [(value[index], (*path, index)) for index in range(min(len(value), left))]
