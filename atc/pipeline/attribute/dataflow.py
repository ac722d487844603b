"""A program as a tree: parents, and the definitions that a use of a name may see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from atc.core.json_paths import EACH, JsonPath, PathStep
from protocols.python_source import parse_python_or_none

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Position = tuple[int, int, int, int]
"""Line, column, last line and end of a node, as `ast` and tracebacks count them."""

_EXTENDING = frozenset({"extend", "update", "extendleft"})
_ADDING = frozenset({"append", "add", "appendleft", "insert"})


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """One way a name gets (a part of) its value: what is at `writes` of the name is what is at `steps` of `value`.

    A strong one replaces the name's value, the others (`rows.append(x)`, `d[k] = x`, `n += x`) add to it.
    """

    name: str
    value: ast.expr
    node: ast.AST
    steps: JsonPath = ()
    writes: JsonPath = ()
    strong: bool = True


class Tree:
    """A parsed program, an empty one where Python cannot read it."""

    def __init__(self, source: str) -> None:
        self.root = parse_python_or_none(source) or ast.Module([], [])
        nodes = list(ast.walk(self.root))
        self.parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._definitions: dict[tuple[ast.AST, str], list[Definition]] = {}
        for made in sorted(
            (made for node in nodes for made in _definitions(node)),
            key=lambda made: position(made.node),
        ):
            self._definitions.setdefault((self.scope(made.node, made.name), made.name), []).append(
                made
            )

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first; of a program that is nested beyond reason the nearest 200."""
        for _ in range(200):
            if node not in self.parents:
                return
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST, name: str = "") -> ast.Module | FunctionNode:
        """The function (or module) whose variable `name` is at `node`."""
        for around in self.around(node):
            if isinstance(around, FunctionNode):
                declared = (n for n in ast.walk(around) if isinstance(n, ast.Global | ast.Nonlocal))
                if not any(name in n.names for n in declared):
                    return around
        return self.root

    def find_reaching_definitions(
        self, name: str, use: ast.AST, scope: ast.AST
    ) -> list[Definition]:
        """Definitions of `name` in `scope` that a use may see, nearest first; of several the responses decide.

        Those before it up to one that replaces the value for certain, and in a loop those behind it.
        """
        found = self._definitions.get((scope, name), [])[::-1]
        here = position(use)
        around = {use, *self.around(use), self.root}
        if self.scope(use, name) is not scope:
            return found
        before = [
            made for made in found if position(made.node) < here and made.value not in around
        ]  # not `x = f(x)`
        after = [
            made
            for made in found
            if made not in before and any(n in around for n in self._loops(made.node))
        ]
        for number, made in enumerate(before):
            if (
                made.strong
                and isinstance(made.node, ast.Assign)
                and self.parents.get(made.node) in around
            ):
                return [*before[: number + 1], *(after if self._loops(made.node) else ())]
        return [*before, *after]

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        """The loops of the same scope around a node."""
        return [
            around
            for around in self.around(node)
            if isinstance(around, ast.For | ast.AsyncFor | ast.While)
        ]


def position(node: ast.AST) -> Position:
    """Where a node stands; zeros for one that stands nowhere."""
    line = getattr(node, "lineno", 0)
    column = getattr(node, "col_offset", 0)
    return (
        line,
        column,
        getattr(node, "end_lineno", None) or line,
        getattr(node, "end_col_offset", None) or column,
    )


def is_on_line(node: ast.AST, line: int) -> bool:
    """Whether a node stands on a line, among others."""
    first, _, last, _ = position(node)
    return first <= line <= last


def called_name(call: ast.AST) -> str:
    """The plain name that a call calls, also through `asyncio.to_thread(f, …)`, `executor.submit(f, …)`, `partial`."""
    match call:
        case ast.Call(args=[ast.Name(id=name), *_]) if simple_name(call) in (
            "to_thread",
            "submit",
            "partial",
        ):
            return name
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def simple_name(call: ast.AST) -> str:
    """`f` of `f(…)` and of `module.f(…)`; empty for anything else."""
    func = call.func if isinstance(call, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def constant_step(index: ast.AST | None) -> PathStep:
    """The step that a subscript's index means; EACH where the text does not say."""
    match index:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return EACH


def target_steps(target: ast.AST, name: str) -> JsonPath | None:
    """Where in the value that is bound to `target` the part for `name` is; None when it binds no such name."""
    match target:
        case ast.Name(id=found):
            return () if found == name else None
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for i, part in enumerate(parts):
                if (inner := target_steps(part, name)) is not None:
                    return (i, *inner)
    return None


def _definitions(node: ast.AST) -> Iterator[Definition]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _find_bindings(target, value, node)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield from _find_bindings(target, value, node)
        case ast.AugAssign(target=target, value=value):
            yield from _find_additions(target, value, node, ())
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield from _find_bindings(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value]) if (
            method in _ADDING
        ):
            yield from _find_additions(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[value]) if (
            method in _EXTENDING
        ):
            yield from _find_additions(target, value, node, ())


def _find_bindings(
    target: ast.expr, value: ast.expr, node: ast.AST, steps: JsonPath = ()
) -> Iterator[Definition]:
    match target, value:
        case ast.Name(id=name), _:
            yield Definition(name, value, node, steps)
        case ast.Tuple(elts=parts), ast.Tuple(elts=values) if not steps and len(parts) == len(
            values
        ):
            for part, inner in zip(parts, values, strict=True):
                yield from _find_bindings(part, inner, node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts), _:
            for i, part in enumerate(parts):
                yield from _find_bindings(part, value, node, (*steps, i))
        case ast.Subscript(), _:
            yield from _find_additions(target, value, node, ())


def _find_additions(
    target: ast.expr, value: ast.expr, node: ast.AST, more: JsonPath
) -> Iterator[Definition]:
    """The weak definition that `target` (`x`, `x[k]`, `x.setdefault(k, [])`) gets at `more` from `value`."""
    steps: list[PathStep] = []
    while not isinstance(target, ast.Name):
        match target:
            case (
                ast.Subscript(value=inner, slice=index)
                | ast.Call(
                    func=ast.Attribute(value=inner, attr="setdefault" | "get"), args=[index, *_]
                )
            ):
                steps.append(constant_step(index))
                target = inner
            case _:
                return
    yield Definition(target.id, value, node, (), (*reversed(steps), *more), strong=False)
