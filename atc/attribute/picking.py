"""Which of many items a program chose: by `max`, `min` or `sorted`, where recorded values tell what came first."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from atc.attribute.definitions import constant_step
from atc.attribute.paths import Path, Place, at
from atc.attribute.source import Pick, Source
from atc.attribute.syntax import simple_name
from sandbox.trace import ToolCall

_MOST = 20_000
"""Items that are put in order."""


def one_of(call: ast.Call, depth: int) -> Pick:
    """What `max(xs, key=…)`, `min(…)` or `next(…)` chooses; `depth` steps of what is asked lie within an item."""
    name, key = simple_name(call), _key(call)
    if name not in ("max", "min") or key is None:
        return Pick(None, False, (), depth)
    return Pick(0, name == "max", key, depth)


def ordered(call: ast.Call, path: Path) -> Pick | None:
    """What `sorted(xs, key=…)[i]` chooses; None where no one item is asked for."""
    if not path or not isinstance(path[0], int):
        return None
    key = _key(call)
    if simple_name(call) != "sorted" or key is None:
        return Pick(None, False, (), len(path) - 1)
    backwards = next((k.value for k in call.keywords if k.arg == "reverse"), ast.Constant(False))
    if not isinstance(backwards, ast.Constant):
        return Pick(None, False, (), len(path) - 1)
    return Pick(path[0], bool(backwards.value), key, len(path) - 1)


def with_pick(source: Source, pick: Pick | None) -> Source:
    """The source as one of many; an earlier choice among the same items stands."""
    return source if pick is None or source.pick is not None or not source.exact else replace(source, pick=pick)


def picked(source: Source, items: Iterable[tuple[ToolCall, Place]]) -> tuple[ToolCall, Place] | None:
    """The item that the program chose among `items`, in the order in which it had them; None where that is open."""
    pick = source.pick
    if pick is None or pick.rank is None:
        return None
    every = list(islice(items, _MOST))
    try:
        inorder = sorted(every, key=lambda one: at(one[1].value, pick.key), reverse=pick.reverse)
        return inorder[pick.rank]
    except (TypeError, IndexError):
        return None


def _key(call: ast.Call) -> Path | None:
    """The path within an item that a call goes by; None where that is not plain to see."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None)
    match given:
        case None:
            return ()
        case ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)]), body=body):
            return _steps(body, name)
        case ast.Call(args=[ast.Constant(value=str() | int() as field)]) if simple_name(given) == "itemgetter":
            return (field,)
    return None


def _steps(body: ast.expr, name: str) -> Path | None:
    """The path that `item["a"]["b"]` takes from `item`."""
    match body:
        case ast.Name(id=found) if found == name:
            return ()
        case ast.Subscript(value=value, slice=ast.Constant() as index):
            inner = _steps(value, name)
            return None if inner is None else (*inner, constant_step(index))
    return None
