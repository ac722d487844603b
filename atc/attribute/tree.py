"""A program as a tree: parents, functions, and the definitions of a name that may reach a use of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from atc.attribute.paths import EACH, Path, Step
from protocols.parsing import parse

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Position = tuple[int, int, int, int]
"""Line, column, last line and end of a node, as `ast` and tracebacks count them."""

_EXTENDING = frozenset({"extend", "update", "extendleft"})
_ADDING = frozenset({"append", "add", "appendleft", "insert"})


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """One way a name gets (a part of) its value: what is at `writes` of the name is what is at `steps` of `value`.

    A strong one replaces the name's value, the others (`rows.append(x)`, `d[k] = x`, `n += x`) add to it. `key` is what
    gave the first of `writes`, where that is a key.
    """

    name: str
    value: ast.expr
    node: ast.AST
    steps: Path = ()
    writes: Path = ()
    strong: bool = True
    key: ast.expr | None = None


@dataclass
class Tree:
    """A parsed program; `Tree.of` makes one."""

    root: ast.Module
    parents: dict[int, ast.AST] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    _definitions: dict[tuple[int, str], list[Definition]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: str) -> Tree:
        """The tree of a program, an empty one of what Python cannot read."""
        try:
            tree = cls(parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = cls(ast.Module([], []))
        nodes = list(ast.walk(tree.root))
        for parent in nodes:
            for child in ast.iter_child_nodes(parent):
                tree.parents[id(child)] = parent
        for node in nodes:
            if isinstance(node, Function):
                tree.functions[node.name] = node
            for made in _definitions(node):
                tree._definitions.setdefault((id(tree.scope(node, made.name)), made.name), []).append(made)
        for found in tree._definitions.values():
            found.sort(key=lambda made: position(made.node))
        return tree

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the program."""
        return ast.walk(self.root)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def scope(self, node: ast.AST, name: str = "") -> ast.Module | Function:
        """The function (or module) whose variable `name` is at `node`."""
        for around in self.around(node):
            if isinstance(around, Function):
                declared = (n for n in ast.walk(around) if isinstance(n, ast.Global | ast.Nonlocal))
                if not any(name in n.names for n in declared):
                    return around
        return self.root

    def loops(self, node: ast.AST) -> list[ast.AST]:
        """Loops and comprehensions of the same scope that `node` is repeated by, innermost first."""
        found, child = [], node
        for around in self.around(node):
            if isinstance(around, Function):
                break
            first = around.generators[0] if isinstance(around, Comprehension) else getattr(around, "iter", None)
            if isinstance(around, (*LOOPS, *Comprehension.__args__)) and child is not first:
                found.append(around)
            child = around
        return found

    def reaching(self, name: str, use: ast.AST, scope: ast.AST) -> list[Definition]:
        """Definitions of `name` in `scope` that a use may see, nearest first."""
        found = self._definitions.get((id(scope), name), [])[::-1]
        if self.scope(use, name) is not scope:
            return found
        here, block, own = position(use), self._block(use), {id(use), *(id(n) for n in self.around(use))}
        reached: list[Definition] = []
        killer: Definition | None = None
        for made in found:
            home = self._block(made.node)
            if isinstance(made.node, ast.For | ast.AsyncFor):
                home = (*home, (id(made.node), "body"))
            within = id(made.node) in own and id(made.value) in own  # `x = f(x)`
            if position(made.node) >= here or within or self._exclusive(home, block):
                continue
            reached.append(made)
            if made.strong and block[: len(home)] == home:
                killer = made
                break
        loops = {id(loop) for loop in self.loops(use)}
        for made in found:
            shared = next((loop for loop in self.loops(made.node) if id(loop) in loops), None)
            if made not in reached and shared and (killer is None or shared not in self.loops(killer.node)):
                reached.append(made)
        return reached

    def _block(self, node: ast.AST) -> tuple[tuple[int, str], ...]:
        """The compound statements around a node's statement, and in which of their parts it stands, outermost first."""
        chain: list[tuple[int, str]] = []
        child = node
        for around in self.around(node):
            for part, held in ast.iter_fields(around):
                if isinstance(held, list) and child in held and isinstance(child, ast.stmt | ast.ExceptHandler):
                    chain.insert(0, (id(around), part))
            if isinstance(around, Function):
                break
            child = around
        return tuple(chain)

    def _exclusive(self, one: Sequence[tuple[int, str]], other: Sequence[tuple[int, str]]) -> bool:
        """Whether two blocks are different branches of one statement."""
        return any(
            node == node2 and {part, part2} == {"body", "orelse"}
            for (node, part), (node2, part2) in zip(one, other, strict=False)
        )


def position(node: ast.AST) -> Position:
    """Where a node stands; zeros for one that stands nowhere."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return line, column, getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column


def covers(node: ast.AST, line: int) -> bool:
    """Whether a node stands on a line, among others."""
    first, _, last, _ = position(node)
    return first <= line <= last


def called_name(call: ast.AST) -> str:
    """The plain name that a call calls, also through `asyncio.to_thread(f, …)`, `executor.submit(f, …)`, `partial`."""
    match call:
        case ast.Call(func=ast.Call() as inner) if simple_name(inner) == "partial":
            return called_name(inner)
        case ast.Call(args=[ast.Name(id=name), *_]) if simple_name(call) in ("to_thread", "submit", "partial"):
            return name
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def simple_name(call: ast.AST) -> str:
    """`f` of `f(…)` and of `module.f(…)`; empty for anything else."""
    func = call.func if isinstance(call, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def constant_step(index: ast.AST | None) -> Step:
    """The step that a subscript's index means; EACH where the text does not say."""
    match index:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return EACH


def returned(function: Function) -> Iterator[tuple[ast.expr, bool]]:
    """The values that a function returns, and those that it yields one by one (True)."""
    stack: list[ast.AST] = [*function.body[::-1]]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return | ast.YieldFrom | ast.Yield) and node.value is not None:
            yield node.value, isinstance(node, ast.Yield)
        if not isinstance(node, Function | ast.Lambda):
            stack.extend([*ast.iter_child_nodes(node)][::-1])


def target_steps(target: ast.AST, name: str) -> Path | None:
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
                yield from _bound(target, value, node)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _bound(target, value, node)
        case ast.AugAssign(target=target, value=value):
            yield from _written(target, value, node, ())
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield from _bound(target, value, node, (EACH,))
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from _bound(target, value, value)
        case ast.Call(func=ast.Attribute(attr="heappush"), args=[target, value]):
            yield from _written(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value]) if method in _ADDING:
            yield from _written(target, value, node, (EACH,))
        case ast.Call(func=ast.Attribute(value=target, attr=method), args=[value]) if method in _EXTENDING:
            yield from _written(target, value, node, ())


def _bound(target: ast.expr, value: ast.expr, node: ast.AST, steps: Path = ()) -> Iterator[Definition]:
    match target, value:
        case ast.Name(id=name), _:
            yield Definition(name, value, node, steps)
        case ast.Tuple(elts=parts) | ast.List(elts=parts), ast.Tuple(elts=values) if not steps and len(parts) == len(
            values
        ):
            for part, inner in zip(parts, values, strict=True):
                yield from _bound(part, inner, node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts), _:
            for i, part in enumerate(parts):
                step: Step = EACH if any(isinstance(p, ast.Starred) for p in parts[:i]) else i
                yield from _bound(part, value, node, (*steps, step))
        case ast.Starred(value=ast.Name(id=name)), _:
            yield Definition(name, value, node, steps[:-1])
        case ast.Subscript(), _:
            yield from (replace(written, steps=steps) for written in _written(target, value, node, ()))


def _written(target: ast.expr, value: ast.expr, node: ast.AST, more: Path) -> Iterator[Definition]:
    """The weak definition that `target` (`x`, `x[k]`, `x.setdefault(k, [])`) gets at `more` from `value`."""
    steps: list[Step] = []
    key: ast.expr | None = None
    while not isinstance(target, ast.Name):
        match target:
            case (
                ast.Subscript(value=inner, slice=index)
                | ast.Call(func=ast.Attribute(value=inner, attr="setdefault" | "get"), args=[index, *_])
            ):
                steps.append(constant_step(index))
                target, key = inner, index
            case _:
                return
    yield Definition(target.id, value, node, (), (*reversed(steps), *more), strong=False, key=key)
