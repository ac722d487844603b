"""The items of an iterable one after the other, and what tests leave of what is known of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from atc.check.functions.arguments import exact
from atc.check.known.constants import known, loosened, of_values, only, settled
from atc.check.known.core import Core
from atc.check.known.frames import Env
from atc.check.known.kinds import ANY, Atom, Iterating, Listing, Mapped, Tuple, Type
from atc.check.known.lattice import join, members
from atc.check.known.objects import Made
from atc.check.source.memo import children, names_in, once_a_node, walk

_MOST_RANGE = 64


def all_of(items: Sequence[Type]) -> Type:
    """What holds each of these, which is what `join` gives and that each certainly is among them."""
    joined = join(*items)
    values = [only(item) for item in items]
    if len(values) < 2 or any(value is None for value in values):
        return _columns(items) or joined
    return of_values(values, values) or joined


def _columns(items: Sequence[Type]) -> Type | None:
    """Pairs of constants, such as `("UA", 15)`, by column."""
    rows = [item.items for item in items if isinstance(item, Tuple) and item.kind == "tuple"]
    if len(rows) < 2 or len(rows) < len(items) or len({len(row) for row in rows}) > 1:
        return None
    columns = list(zip(*rows, strict=True))
    if not all(known(cell) is not None for column in columns for cell in column):
        return None
    return Tuple(tuple(all_of(column) for column in columns))


def each_item(value: Type, item: Type) -> Type:
    """`item`, the items of `value`, with what is known of their turns."""
    match value:
        case Listing(cell) if cell.item is not ANY:
            found = cell.item
        case Iterating(found):
            pass
        case Tuple(items):
            found = all_of(items) if items else item
        case Mapped(cell) if exact(value) and cell.keys:
            found = of_values(tuple(cell.keys), tuple(cell.keys)) or item
        case _:
            return item
    return found if settled(found) == item or isinstance(value, Tuple) else item


@once_a_node
def cut_short(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop may end before its last turn."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom) or (_leaves(part) and not isinstance(part, ast.Continue)):
            # Who takes from a generator may stop at any item.
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += children(part)
    return False


def range_of(values: Sequence[Type]) -> Type | None:
    """The numbers of `range(…)` where its bounds are constants."""
    if not 1 <= len(values) <= 3 or any(not isinstance(only(value), int) for value in values):
        return None
    try:
        numbers = range(*(only(value) for value in values))
        if not numbers:
            return None
        if len(numbers) > _MOST_RANGE:
            return of_values((), (numbers[0], numbers[-1]))
    except (ValueError, OverflowError):
        return None
    return of_values(numbers, numbers)


def counted(start: Type) -> Type | None:
    """The numbers of `enumerate(…)`, of which the first is certain."""
    first = 0 if start is ANY else only(start)
    return of_values((), (first,)) if isinstance(first, int) else None


_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip


def narrow_constants(core: Core, test: ast.expr, *, truth: bool) -> None:
    """What a test shows of names whose constants are known, and of those that are not in it: they may be left out."""
    env = core.frame.env
    if env is None or isinstance(test, ast.Constant):
        return
    judged = any(_varies(env.names[name]) for name in names_in(test) & env.names.keys())
    if isinstance(test, ast.Compare):
        _compare(core, test, truth=truth)
    running = {name for name, value in env.names.items() if settled(value) is not value}
    if not running:
        return
    change = settled if judged and not _left_out(test, running, truth=truth) else loosened
    for name in running:
        env.names[name] = change(env.names[name])


def _varies(value: Type) -> bool:
    """Whether it may follow the turns of a loop: several constants, however they came."""
    return any(
        (atom := known(member)) is not None and (bool(atom.reached) or len(atom.values or ()) > 1)
        for member in members(value)
    )


def reunited(before: Env | None, after: Env | None, node: ast.If) -> None:
    """Where both branches of an `if` always go on, what was known before of the turns is so again."""
    if before is None or after is None or before is after or not before.names:
        return
    running = {name for name, value in before.names.items() if settled(value) is not value}
    if not running or _may_leave(node):
        return
    for name in running - _stored(node):
        after.names[name] = before.names[name]


@once_a_node
def _may_leave(node: ast.AST) -> bool:
    return any(map(_leaves, walk(node)))


@once_a_node
def _stored(node: ast.AST) -> frozenset[str]:
    return frozenset(
        part.id for part in walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    )


def _leaves(part: ast.AST) -> bool:
    match part:
        case ast.Break() | ast.Continue() | ast.Return() | ast.Raise() | ast.Assert():
            return True
        case ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "_exit")):
            return True
        case _:
            return False


def _left_out(test: ast.expr, running: set[str], *, truth: bool) -> bool:
    """Whether values go on that were not in something which data fill: that may be any of them, or none."""
    match test:
        case ast.Compare(ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Name(id=name)]):
            return isinstance(op, ast.NotIn) is truth and name not in running
        case _:
            return False


def _compare(core: Core, test: ast.Compare, *, truth: bool) -> None:
    sides = [test.left, *test.comparators]
    if not truth and len(test.ops) > 1:
        return
    for left, op, right in zip(sides, test.ops, sides[1:], strict=False):
        _narrow(core, left, type(op), right, truth=truth)
        if type(op) in _MIRRORED:
            _narrow(core, right, _MIRRORED[type(op)], left, truth=truth)


def _narrow(core: Core, node: ast.expr, op: type[ast.cmpop], other: ast.expr, *, truth: bool) -> None:
    env = core.frame.env
    if env is None or not isinstance(node, ast.Name) or node.id not in env.names:
        return
    value = env.names[node.id]
    atom = known(value)
    if atom is None or atom.values is None:
        return
    with core.silence():
        bound = only(core.evaluate(other))
    compare = _COMPARED.get(op)
    if bound is None or compare is None:
        # What it is compared with is not known, so neither is which of the values are left.
        env.names[node.id] = _plain(value) if len(members(value)) == 1 else value
        return
    try:
        left = tuple(part for part in atom.values if bool(compare(part, bound)) is truth)
    except TypeError:
        return
    narrowed = replace(atom, values=left or None, reached=(), loosely=0)
    env.names[node.id] = Made(value.name, narrowed) if isinstance(value, Made) else narrowed


def _plain(value: Type) -> Type:
    return value if isinstance(value, Atom) and value.values is not None and len(value.values) == 1 else settled(value)
