"""Functions of the program that return a value on some ways and nothing on another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Literal

from atc.check.known.kinds import NONE, Null, Type
from atc.check.source.memo import children

Ending = Literal["leaves", "lapses", "open"]
"""How a block ends: control leaves it by itself, runs off its end, or nobody knows (a loop, a chain of tests)."""


def lapse(node: ast.AST, returned: Sequence[Type]) -> Null:
    """The None that a function gives where control runs off its end.

    It is marked where the function returns values elsewhere and nothing shows that None is meant too.
    """
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return NONE
    if all(isinstance(value, Null) for value in returned) or _means_none(node):
        return NONE
    return Null(lapse=node.name) if _ending(node.body) == "lapses" else NONE


def _means_none(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        isinstance(part, ast.Return)
        and (part.value is None or (isinstance(part.value, ast.Constant) and part.value.value is None))
        for part in _own(node.body)
    )


def _own(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions in it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(children(node))


def _ending(body: Sequence[ast.stmt]) -> Ending:
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return "leaves"
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Delete():
            return "lapses"
        case ast.If() as test:
            return _tested(test)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _ending(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=orelse):
            return _worst([_ending(orelse or inner), *(_ending(handler.body) for handler in handlers)])
        case ast.Match(cases=cases):
            return _worst(["open", *(_ending(case.body) for case in cases)])
        case _:
            return "open"


def _tested(node: ast.If) -> Ending:
    if not node.orelse:
        # A chain of `elif` may name every case there is; one test alone has another side.
        return "lapses"
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and not _closed(node.orelse[0]):
        parts = [_ending(node.body), *_bodies(node.orelse[0])]
        return _worst([*parts, "open"])
    return _worst([_ending(node.body), _ending(node.orelse)])


def _closed(node: ast.If) -> bool:
    """Whether a chain of `elif` ends in an `else`."""
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
    return bool(node.orelse)


def _bodies(node: ast.If) -> list[Ending]:
    found = [_ending(node.body)]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        found.append(_ending(node.body))
    return found


def _worst(endings: list[Ending]) -> Ending:
    return "lapses" if "lapses" in endings else "open" if "open" in endings else "leaves"
