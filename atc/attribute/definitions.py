"""The definitions that a program's statements make: which name gets (a part of) its value from which expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from atc.attribute.paths import EACH, Path, Step

_EXTENDING = frozenset({"extend", "update", "extendleft"})
_ADDING = frozenset({"append", "add", "appendleft", "heappush"})


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """One way a name gets (a part of) its value.

    The value at `writes` of the name is the value at `steps` of `value`. A strong definition replaces the name's
    value, the others (`rows.append(x)`, `d[k] = x`, `n += x`) add to it.
    """

    name: str
    value: ast.expr
    node: ast.AST
    steps: Path = ()
    writes: Path = ()
    strong: bool = True
    key: ast.expr | None = None
    """What gave the first of `writes`, where that is a key: `k` in `d[k] = x`."""


def definitions(node: ast.AST) -> Iterator[Definition]:
    """The definitions that one node makes by itself."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _bound(target, value, node)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _bound(target, value, node)
        case ast.AugAssign(target=target, value=value):
            yield from _written(target, value, node, ())
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield from _bound(target, value, node, (EACH,))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from _bound(target, value, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _bound(target, value, node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="heapq"), attr="heappush"), args=[target, value]):
            yield from _written(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value]) if method in _ADDING | {
            "insert"
        }:
            yield from _written(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[value]) if method in _EXTENDING:
            yield from _written(target, value, node, ())


def _bound(target: ast.expr, value: ast.expr, node: ast.AST, steps: Path = ()) -> Iterator[Definition]:
    match target:
        case ast.Name(id=name):
            yield Definition(name, value, node, steps)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if isinstance(value, ast.Tuple | ast.List) and not steps and len(parts) == len(value.elts):
                for part, inner in zip(parts, value.elts, strict=True):
                    yield from _bound(part, inner, node)
                return
            for i, part in enumerate(parts):
                step: Step = EACH if any(isinstance(p, ast.Starred) for p in parts[:i]) else i
                yield from _bound(part, value, node, (*steps, step))
        case ast.Starred(value=ast.Name(id=name)):
            yield Definition(name, value, node, steps[:-1])
        case ast.Subscript() | ast.Attribute():
            for written in _written(target, value, node, ()):
                yield replace(written, steps=steps)


def _written(target: ast.expr, value: ast.expr, node: ast.AST, more: Path) -> Iterator[Definition]:
    """The weak definition that `target` (`x`, `x[k]`, `x.setdefault(k, [])`) gets at `more` from `value`."""
    steps: list[Step] = []
    key: ast.expr | None = None
    while not isinstance(target, ast.Name | ast.Attribute):
        match target:
            case (
                ast.Subscript(value=inner, slice=index)
                | ast.Call(func=ast.Attribute(value=inner, attr="setdefault" | "get"), args=[index, *_])
            ):
                steps.append(constant_step(index))
                key = index
            case _:
                return
        target = inner
    name = target.id if isinstance(target, ast.Name) else field_name(target.attr)
    yield Definition(name, value, node, (), (*reversed(steps), *more), strong=False, key=key)


def field_name(attribute: str) -> str:
    """The name under which an attribute's definitions stand, whatever its object: `self.rows` and `x.rows` alike."""
    return f".{attribute}"


def constant_step(index: ast.expr) -> Step:
    """The step that a subscript's index means; EACH where the text does not say."""
    match index:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return EACH
