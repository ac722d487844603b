"""The expressions that a failing line may have been evaluating, and what is compared, iterated or used in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.attribute.layout import Layout
from atc.attribute.paths import EACH, Path
from atc.attribute.syntax import returned, simple_name

Used = tuple[ast.expr, Path]
"""An expression, and the path to the part of its value that is meant."""

AGGREGATES = frozenset(
    ["max", "min", "sorted", "sum", "sort", "mean", "median", "fmean", "stdev", "pstdev", "mode", "fsum", "variance"]
) | {"nlargest", "nsmallest", "harmonic_mean"}
"""Functions and methods that compare the items they are given, or add them up."""

_EXITS = frozenset({"exit", "quit"})

_FRAMES: dict[str, type[ast.AST]] = {
    "<listcomp>": ast.ListComp,
    "<setcomp>": ast.SetComp,
    "<dictcomp>": ast.DictComp,
    "<genexpr>": ast.GeneratorExp,
    "<lambda>": ast.Lambda,
}


def region(layout: Layout, line: int, function: str = "<module>", *, whole: bool = False) -> list[ast.expr]:
    """The expressions on a line, in order of evaluation; `function` is the name in the traceback's frame.

    `whole`: those of all lines of the statement.
    """
    roots = [part for node in ast.walk(layout.tree) if isinstance(node, ast.stmt) for part in _own(node, line)]
    found = [n for root in roots for n in ast.walk(root) if isinstance(n, ast.expr) and (whole or _covers(n, line))]
    inside = _FRAMES.get(function)
    if inside is not None:
        found = [n for n in found if any(isinstance(a, inside) for a in (n, *layout.ancestors(n)))] or found
    return sorted(found, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0, -n.lineno, -n.col_offset))


def _covers(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _own(statement: ast.stmt, line: int) -> Iterator[ast.expr]:
    """The expressions of a statement that stand in no statement within it."""
    if not _covers(statement, line):
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr
    if isinstance(statement, ast.AugAssign):  # `n += x` reads its target too
        yield ast.copy_location(ast.BinOp(statement.target, statement.op, statement.value), statement)


def stops(layout: Layout, line: int) -> list[ast.expr]:
    """The tests that led to a `raise`, an `assert` or an exit on the line; empty where there is none."""
    for node in ast.walk(layout.tree):
        if isinstance(node, ast.Assert) and _covers(node, line):
            return [node.test]
        if isinstance(node, ast.Raise | ast.Expr) and _covers(node, line) and _leaves(node):
            return list(_led_to(node, layout))
    return []


def _led_to(node: ast.stmt, layout: Layout) -> Iterator[ast.expr]:
    """The tests around a statement, and what was gone through without success where it stands in a loop's `else`."""
    child: ast.AST = node
    for around in layout.ancestors(node):
        if isinstance(around, ast.If):
            yield around.test
        elif isinstance(around, ast.For | ast.AsyncFor) and child in around.orelse:
            yield around.iter
        child = around


def _leaves(node: ast.Raise | ast.Expr) -> bool:
    return isinstance(node, ast.Raise) or (isinstance(node.value, ast.Call) and simple_name(node.value) in _EXITS)


def compared(call: ast.Call, layout: Layout) -> Iterator[Used]:
    """What `max`, `sorted`, `sum`, … compare or add up: the items, or what `key=` makes of them."""
    name = simple_name(call)
    if name not in AGGREGATES:
        return
    match next((keyword.value for keyword in call.keywords if keyword.arg == "key"), None):
        case ast.Lambda(body=body):
            yield from _parts(body)
        case ast.Name(id=function) if function in layout.functions:
            for value in returned(layout.functions[function]):
                yield from _parts(value)
        case ast.Call(args=[ast.Constant(value=str() as field), *_]):  # itemgetter("field")
            yield from ((items, (EACH, field)) for items in items_of(call))
        case ast.Attribute(value=items, attr="get" | "__getitem__"):  # max(d, key=d.get)
            yield items, (EACH,)
        case None if len(call.args) > 1 and name in ("max", "min"):
            yield from ((arg, ()) for arg in call.args)
        case None:
            yield from ((items, (EACH,)) for items in items_of(call))


def items_of(call: ast.Call) -> list[ast.expr]:
    """What an aggregate goes through: `xs` in `sorted(xs)`, `nlargest(n, xs)` and `xs.sort()`."""
    if simple_name(call) == "sort" and isinstance(call.func, ast.Attribute):
        return [call.func.value]
    return call.args[-1:] if simple_name(call).startswith("n") else call.args[:1]


def _parts(value: ast.expr) -> Iterator[Used]:
    yield from ((part, ()) for part in (value.elts if isinstance(value, ast.Tuple | ast.List) else [value]))


def iterated(node: ast.expr, layout: Layout) -> Iterator[Used]:
    """The node itself where something goes through it or takes it apart; its items where those are taken apart."""
    match layout.parents.get(id(node)):
        case (
            ast.For(iter=it, target=target)
            | ast.AsyncFor(iter=it, target=target)
            | ast.comprehension(iter=it, target=target)
        ) if it is node:
            yield node, ()
            if isinstance(target, ast.Tuple | ast.List):
                yield node, (EACH,)
        case ast.Assign(value=value, targets=[ast.Tuple() | ast.List()]) if value is node:
            yield node, ()
        case ast.Starred() | ast.YieldFrom():
            yield node, ()
        case ast.Compare(comparators=others) if any(other is node for other in others):
            yield node, ()
        case ast.Call(args=args) if any(arg is node for arg in args):
            yield node, ()
        case ast.keyword(arg=None):
            yield node, ()
        case ast.AugAssign(value=value) if value is node:
            yield node, ()


def taken_apart(node: ast.expr, layout: Layout) -> Iterator[Used]:
    """The value that is unpacked into several targets."""
    for used in iterated(node, layout):
        parent = layout.parents.get(id(node))
        if isinstance(parent, ast.Assign) or used[1]:
            yield used


def used_in(node: ast.expr, layout: Layout) -> Iterator[Used]:
    """Every expression that something is done with at `node`: operands, arguments, formatted values, items."""
    parts: list[ast.expr | None] = []
    match node:
        case ast.Call(args=args, keywords=keywords):
            parts = [*(arg.value if isinstance(arg, ast.Starred) else arg for arg in args)]
            parts += [keyword.value for keyword in keywords]
            yield from compared(node, layout)
            if simple_name(node) == "join" and args:
                yield args[0], (EACH,)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.UnaryOp(operand=value) | ast.FormattedValue(value=value):
            parts = [value]
        case ast.Dict(keys=keys):
            parts = list(keys)
        case ast.Set(elts=elements):
            parts = list(elements)
        case ast.DictComp(key=value) | ast.SetComp(elt=value):
            parts = [value]
        case ast.Subscript(slice=index):
            parts = [index]
    yield from ((part, ()) for part in parts if part is not None)
