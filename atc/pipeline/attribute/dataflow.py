"""Data flow in a program: which assignments may give a name its value where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from atc.core.json_paths import EACH, JsonPath, PathStep

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Position = tuple[int, int, int, int]
"""Line, column, last line and last column of a node, counted as in `ast` and tracebacks."""

_EXTENDING = frozenset({"extend", "update", "extendleft"})
_ADDING = frozenset({"append", "add", "appendleft", "insert"})


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """One assignment to a name, or to a part of the name's value.

    The assignment stores a part of the expression `value` in a part of the value of `name`. The
    path `steps` leads to the part of `value` that is stored, and the path `writes` to the part of
    the name's value that is replaced. For `a, b = pair`, the definition of `b` has `steps` (1,). A
    strong definition replaces the name's whole value. A weak one, as in `rows.append(x)`,
    `d[k] = x` and `n += x`, adds to it.
    """

    name: str
    value: ast.expr
    node: ast.AST
    steps: JsonPath = ()
    writes: JsonPath = ()
    strong: bool = True


class Tree:
    """Syntax tree of a program, with the parent of each node and the assignments to each name.

    The tree is empty if the source is not valid Python.
    """

    def __init__(self, root: ast.Module) -> None:
        self.root = root
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
        """Yield the syntax nodes that contain `node`, innermost first; at most 200.

        The limit is for programs that are nested extremely deeply.
        """
        for _ in range(200):
            if node not in self.parents:
                return
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST, name: str = "") -> ast.Module | FunctionNode:
        """Return the function or module whose variable `name` is, if it is used at `node`."""
        for around in self.around(node):
            if isinstance(around, FunctionNode):
                declared = (n for n in ast.walk(around) if isinstance(n, ast.Global | ast.Nonlocal))
                if not any(name in n.names for n in declared):
                    return around
        return self.root

    def find_reaching_definitions(
        self, name: str, use: ast.AST, scope: ast.AST
    ) -> list[Definition]:
        """Return the assignments that may give `name` its value at the node `use`, nearest first.

        `scope` is the function or module whose variable `name` is. The search goes back from the
        use and stops at an assignment that certainly replaces the whole value. If the use is inside
        a loop, the assignments in the loop that follow the use are included, because they take
        effect in the next iteration.
        """
        found = self._definitions.get((scope, name), [])[::-1]
        here = position(use)
        around = {use, *self.around(use), self.root}
        if self.scope(use, name) is not scope:
            return found
        # Exclude the use inside its own definition, as in `x = f(x)`.
        before = [made for made in found if position(made.node) < here and made.value not in around]
        after = [
            made
            for made in found
            if made not in before and not around.isdisjoint(self._loops(made.node))
        ]
        for number, made in enumerate(before):
            if (
                made.strong
                and isinstance(made.node, ast.Assign)
                and self.parents.get(made.node) in around
            ):
                return [*before[: number + 1], *(after if self._loops(made.node) else ())]
        return [*before, *after]

    def find_function(self, name: str) -> FunctionNode | ast.Lambda | None:
        """Return the function of this name that the program defines, or None.

        `items = lambda page: page["items"]` defines a function, too.
        """
        for node in ast.walk(self.root):
            match node:
                case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found):
                    if found == name:
                        return node
                case ast.Assign(targets=[ast.Name(id=found)], value=ast.Lambda() as function):
                    if found == name:
                        return function
        return None

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        """Return the `for` and `while` loops that contain a node."""
        return [
            around
            for around in self.around(node)
            if isinstance(around, ast.For | ast.AsyncFor | ast.While)
        ]


def returned_values(function: FunctionNode | ast.Lambda) -> list[ast.expr]:
    """Return the expressions whose values a function returns."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
    return [node.value for node in returns if node.value]


def passed_values(call: ast.Call, name: str, at: int) -> list[ast.expr]:
    """Return the expression that a call passes for a parameter, as a list of one, or [].

    `name` is the name of the parameter, and `at` its position.
    """
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named or call.args[at : at + 1]


def iterated_argument(call: ast.Call, function: ast.AST) -> ast.expr | None:
    """Return what a call such as `map(function, rows)` or `rows.sort(key=…)` iterates, or None."""
    items = [arg for arg in call.args if arg is not function]
    iterated = items[-1] if items else getattr(call.func, "value", None)
    return iterated if isinstance(iterated, ast.expr) else None


def position(node: ast.AST) -> Position:
    """Return where a syntax node begins and ends in the source: lines and columns.

    All numbers are 0 for a node that has no position, such as the module.
    """
    line = getattr(node, "lineno", 0)
    column = getattr(node, "col_offset", 0)
    return (
        line,
        column,
        getattr(node, "end_lineno", None) or line,
        getattr(node, "end_col_offset", None) or column,
    )


def is_on_line(node: ast.AST, line: int) -> bool:
    """Return True if a syntax node is on the line with this number, or spans it."""
    first, _, last, _ = position(node)
    return first <= line <= last


def called_name(call: ast.AST) -> str:
    """Return the name of the function that a call calls; "" if it is not a plain name.

    A function that is called through `asyncio.to_thread(f, …)`, `executor.submit(f, …)` or
    `partial(f, …)` counts, too.
    """
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
    """Return `f` for a call `f(…)` or `module.f(…)`, and "" for anything else."""
    func = call.func if isinstance(call, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def constant_step(index: ast.AST | None) -> PathStep:
    """Return the index of a subscript as a step of a JSON path: `"a"` for `d["a"]`, 0 for `xs[0]`.

    If the index is not a constant, return EACH, the step that matches all elements.
    """
    match index:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return EACH


def target_steps(target: ast.AST, name: str) -> JsonPath | None:
    """Return the path, within an assigned value, of the part that the name `name` gets.

    For the target `a, b` and the name `b`, the path is `(1,)`. Return None if the target does not
    bind the name.
    """
    match target:
        case ast.Name(id=found):
            return () if found == name else None
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for i, part in enumerate(parts):
                if (inner := target_steps(part, name)) is not None:
                    return (i, *inner)
    return None


def _definitions(node: ast.AST) -> Iterator[Definition]:
    """Yield the assignments (`Definition`) that a single statement, loop or call makes."""
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
    """Yield a definition for each name in `target`, the left side of an assignment.

    For example, `a, b = call()` defines `a` and `b`. The value of `a` is the part of the expression
    `call()` at the path `(0,)`. `value` is the expression on the right side, and `steps` the path
    of the part of it that `target` gets. `node` is the assignment.
    """
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
    """Yield the definition for code that adds `value` to a container, or nothing.

    `target` is the expression of the container: `x`, `x[k]` or `x.setdefault(k, [])`. `more` is the
    path in the container at which the value is added.
    """
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
