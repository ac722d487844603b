"""What the shape of the source says about single expressions, whatever their types are."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from atc.check.source.memo import walk


@dataclass(frozen=True, slots=True)
class Hints:
    """Nodes of the tree by what stands around them."""

    tolerated: set[ast.AST] = field(default_factory=set)
    """`.get()` calls that ask whether a key exists at all: in tests, and before the last part of an `or`."""
    alternative: set[ast.AST] = field(default_factory=set)
    """Comparisons that are one of several possibilities: in an `or`, or in a chain of `elif`."""
    immediate: set[ast.AST] = field(default_factory=set)
    """Calls of coroutine functions that run at once: awaited, gathered, or given to `asyncio.run`."""
    kept: set[ast.AST] = field(default_factory=set)
    """Calls whose result is first given a name."""
    attributes: Counter[str] = field(default_factory=Counter)
    """Attributes that the program sets, and in how many places."""
    bases: set[str] = field(default_factory=set)
    """Names that classes of the program inherit from: such a class may use what those have that inherit from it."""
    removed: set[str | None] = field(default_factory=set)
    """Keys that the program takes out of some dict; None for a computed one."""
    stored: set[str] = field(default_factory=set)
    """Constant keys under which the program stores something."""
    changes: set[str] = field(default_factory=set)
    """Methods by which the program changes dicts (or sets): which keys they touch is not seen here."""
    texts: set[str] = field(default_factory=set)
    """Every string that the program writes out."""


_TELLING = frozenset(
    [
        *(ast.Attribute, ast.Constant, ast.ClassDef, ast.If, ast.IfExp, ast.While, ast.Assert, ast.comprehension),
        *(ast.BoolOp, ast.Await, ast.Call, ast.Assign, ast.AnnAssign, ast.Delete, ast.Subscript),
    ]
)
"""The kinds of nodes that say something here."""


def read_hints(nodes: Iterable[ast.AST]) -> Hints:
    """What the nodes of a whole tree say."""
    hints = Hints()
    for node in nodes:
        if type(node) not in _TELLING:
            continue
        match node:
            case ast.Attribute() | ast.Constant() | ast.ClassDef() | ast.Subscript():
                _note_name(node, hints)
            case ast.If() | ast.IfExp():
                _mark_gets(node.test, hints.tolerated)
                _mark_chain(node, hints)
            case ast.While(test=test) | ast.Assert(test=test):
                _mark_gets(test, hints.tolerated)
            case ast.comprehension(ifs=tests):
                _mark_each(tests, hints.tolerated)
            case ast.BoolOp(op=op, values=values):
                _mark_each(values[:-1], hints.tolerated)
                if isinstance(op, ast.Or):
                    hints.alternative.update(part for part in walk(node) if isinstance(part, ast.Compare))
            case ast.Await(value=ast.Call() as call):
                hints.immediate.update((call, *_coroutines(call)))
            case ast.Call(func=ast.Attribute(attr="run" | "pop" | "popitem" | "clear")) | ast.Delete():
                _note_call(node, hints)
            case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
                hints.kept.add(call)
    return hints


def _note_name(node: ast.Attribute | ast.Constant | ast.ClassDef | ast.Subscript, hints: Hints) -> None:
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
            hints.attributes[attr] += 1
        case ast.Attribute(attr="update" | "setdefault" | "pop" | "popitem" | "clear" as method):
            hints.changes.add(method)
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Store() | ast.Del()):
            hints.stored.add(key)
        case ast.Constant(value=str(text)):
            hints.texts.add(text)
        case ast.ClassDef(bases=bases):
            hints.bases.update(base.id for base in bases if isinstance(base, ast.Name))


def _note_call(node: ast.Call | ast.Delete, hints: Hints) -> None:
    """`asyncio.run(main())`; `d.pop(key)`, `del d[key]`, where a number is the index of a list."""
    match node:
        case ast.Call(func=ast.Attribute(attr="run"), args=arguments):
            hints.immediate.update(part for part in arguments[:1] if isinstance(part, ast.Call))
            return
    if isinstance(node, ast.Call):
        keys = [node.args[0] if node.args else None]
    else:
        keys = [target.slice for target in node.targets if isinstance(target, ast.Subscript)]
    for key in keys:
        match key:
            case ast.Constant(value=str(text)):
                hints.removed.add(text)
            case ast.Constant(value=int()) | ast.Slice() | ast.UnaryOp():
                pass
            case _:
                hints.removed.add(None)


def _mark_each(tests: Iterable[ast.expr], found: set[ast.AST]) -> None:
    for test in tests:
        _mark_gets(test, found)


def _coroutines(call: ast.Call) -> list[ast.AST]:
    """The calls among the arguments of an awaited `gather(a(), *[b(x) for x in …])`."""
    inner = [part.value if isinstance(part, ast.Starred) else part for part in call.args]
    inner = [part.elt if isinstance(part, ast.GeneratorExp | ast.ListComp) else part for part in inner]
    return [part for part in inner if isinstance(part, ast.Call)]


def _mark_chain(node: ast.If | ast.IfExp, hints: Hints) -> None:
    """A value that never comes is no fault in `if … elif …`: the other branches are there for those that do."""
    other = node.orelse
    chained = isinstance(other, ast.IfExp) or (
        isinstance(other, list) and len(other) == 1 and isinstance(other[0], ast.If)
    )
    if not chained:
        return
    following: ast.AST = other[0] if isinstance(other, list) else other
    for test in (node.test, getattr(following, "test", node.test)):
        hints.alternative.update(part for part in walk(test) if isinstance(part, ast.Compare))


def _mark_gets(test: ast.expr, found: set[ast.AST]) -> None:
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                _mark_gets(value, found)
        case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
            _mark_gets(inner, found)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()]):
            _mark_gets(left, found)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
            _mark_gets(left, found)
        case ast.Call(func=ast.Attribute(attr="get", value=owner)):
            found.add(test)
            _mark_gets(owner, found)
