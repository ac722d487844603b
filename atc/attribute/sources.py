"""From an expression back to the tool calls that its value may come from, by the definitions on the way.

The search follows access paths: asking for `[]["dest"]` of `rows` leads through `rows.extend(page["flights"])` to
`["flights"][]["dest"]` of the call behind `page`. An expression that the sandbox hinted at is settled: its value stood
at that place. Where the text leaves several possibilities all are given; the recorded responses decide between them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atc.attribute.paths import EACH, KEY, Path, Step, meets
from atc.attribute.tree import (
    Comprehension,
    Definition,
    Function,
    Position,
    Tree,
    called_name,
    constant_step,
    position,
    returned,
    simple_name,
    target_steps,
)
from sandbox.trace import Hint

MAX_STEPS = 20_000
"""Expressions visited for one question; a program that needs more gets what was found so far."""
_DEEPEST, _LONGEST_PATH = 60, 12

_SAME = frozenset(
    "list tuple set frozenset dict iter copy deepcopy loads run deque elements sorted reversed sample filter islice"  # noqa: SIM905
    " takewhile result values nlargest nsmallest".split()
)
_MODULES = frozenset(
    "asyncio json math re statistics itertools functools collections copy random heapq operator".split()  # noqa: SIM905
)


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Where a value may come from.

    `call`: the value at `path` of what the tool call at `node` gave the program, of call `index` where that is known.
    `swallowed`: a value that an `except` put in place of that call's result. `literal`: a constant of the program.
    `made`: a container that it built at `node`. `exact`: it is that value unchanged, not computed from it. `filters`
    are the tests of `if`s that items passed on the way.
    """

    kind: Literal["call", "swallowed", "literal", "made"]
    node: ast.expr
    tool: str = ""
    path: Path = ()
    exact: bool = True
    filters: tuple[ast.expr, ...] = ()
    index: int | None = None

    @property
    def from_call(self) -> bool:
        """Whether a tool call stands behind it."""
        return self.kind in ("call", "swallowed")

    def derived(self, filters: Sequence[ast.expr] = ()) -> Source:
        """The same source, for a value computed from it."""
        return replace(self, exact=False, filters=(*self.filters, *filters))


class Sources:
    """Answers `of` for one program; `hints` are those of its failure, with the tools' aliases by index of the call."""

    def __init__(
        self, tree: Tree, tools: Iterable[str], hints: Iterable[Hint] = (), aliases: Mapping[int, str] | None = None
    ) -> None:
        self.tree, self.tools = tree, frozenset(tools)
        self._aliases = aliases or {}
        self._hints: dict[Position, Hint] = {}
        for hint in hints:  # those of inner levels last: they stand
            self._hints[hint.line, hint.column, hint.end_line, hint.end_column] = hint
        self._active: set[tuple[int, Path]] = set()
        self._steps = 0

    def of(self, expr: ast.expr, path: Path = ()) -> list[Source]:
        """Where the value at `path` of `expr`'s value may come from, nearest last, each once."""
        if not self._active:
            self._steps = 0
        key = (id(expr), path)
        self._steps += 1
        if key in self._active or self._steps > MAX_STEPS or len(path) > _LONGEST_PATH or len(self._active) > _DEEPEST:
            return []
        self._active.add(key)
        try:
            found = self._of(expr, path)
        finally:
            self._active.discard(key)
        kept: dict[object, Source] = {}
        for source in found:
            same = (source.kind, id(source.node), source.path, source.exact, source.index)
            kept.pop(same, None)
            kept[same] = source
        return list(kept.values())

    def control(self, expr: ast.expr) -> list[Source]:
        """Sources of what decides whether and how often a variable was filled: the loops and tests around that."""
        if not isinstance(expr, ast.Name):
            return []
        reached = self.tree.reaching(expr.id, expr, self.tree.scope(expr, expr.id))
        return [source.derived() for made in reached[::-1] for source in self._filling(made) if source.from_call]

    def _of(self, expr: ast.expr, path: Path) -> list[Source]:
        hint = self._hints.get(position(expr))
        if hint is not None and isinstance(expr, ast.Name | ast.Subscript | ast.Call):
            return [Source("call", expr, self._aliases[hint.call], (*hint.path, *path), index=hint.call)]
        match expr:
            case ast.Name():
                return self._name(expr, path)
            case ast.Constant():
                return self._constant(expr, path)
            case ast.Call():
                return self._call(expr, path)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._display(expr, path)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(expr, path)
            case ast.Lambda():
                return []
        return self._through(expr, path)

    def _through(self, expr: ast.expr, path: Path) -> list[Source]:
        """Through subscripts and operators."""
        match expr:
            case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.of(value, path)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.of(value, _reordered(path))
            case ast.Subscript(value=value, slice=index):
                return self.of(value, (self._step(index), *path))
            case ast.IfExp(body=one, orelse=other):
                return [*self.of(other, path), *self.of(one, path)]
            case ast.BoolOp(values=values):
                return [source for value in values[::-1] for source in self.of(value, path)]
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.BitOr()) if path:
                return [*self.of(left, _reordered(path)), *self.of(right, _reordered(path))]
        return self._derived(node for node in ast.iter_child_nodes(expr) if isinstance(node, ast.expr))

    def _derived(self, exprs: Iterable[ast.expr | None]) -> list[Source]:
        """Sources of a value that is computed from `exprs`."""
        return [source.derived() for expr in exprs if expr is not None for source in self.of(expr)]

    def _step(self, index: ast.expr) -> Step:
        """The step of a subscript; a name that can only be one constant counts as that constant."""
        known = self.of(index) if isinstance(index, ast.Name) else []
        return constant_step(known[0].node if len(known) == 1 and known[0].kind == "literal" else index)

    def _name(self, name: ast.Name, path: Path) -> list[Source]:
        """Walk out of the scopes around the name until one binds it."""
        child: ast.AST = name
        for around in self.tree.around(name):
            match around:
                case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                    for generator in around.generators[::-1]:
                        if child is generator and target_steps(generator.target, name.id) is None:
                            continue
                        if (steps := target_steps(generator.target, name.id)) is not None:
                            return self.of(generator.iter, (EACH, *steps, *path))
                case ast.Lambda() if (at := _parameter(around, name.id)) is not None:
                    return self._given(around, name.id, at, path)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    reached = self.tree.reaching(name.id, name, around)
                    at = _parameter(around, name.id)
                    if reached or at is not None:
                        found = self._defined(reached, path)
                        settled = at is None or (reached and reached[-1].strong)
                        return found if settled else [*self._given(around, name.id, at or 0, path), *found]
            child = around
        return self._defined(self.tree.reaching(name.id, name, self.tree.root), path)

    def _defined(self, reached: Sequence[Definition], path: Path) -> list[Source]:
        found: list[Source] = []
        is_dict = any(isinstance(made.value, ast.Dict | ast.DictComp) for made in reached if made.strong)
        for made in reached[::-1]:
            if path and path[0] is KEY and made.writes:  # `d[k] = x` gives the dict the key k
                found += self.of(made.key, path[1:]) if made.key is not None else []
            elif all(meets(a, b) for a, b in zip(made.writes, path, strict=False)):
                if path and path[0] is EACH and made.key is not None and is_dict:  # going through a dict gives keys
                    found += self.of(made.key, path[1:])
                if len(path) >= len(made.writes):
                    found += self.of(made.value, (*made.steps, *path[len(made.writes) :]))
                else:
                    found += self._filling(made)
        return found

    def _filling(self, made: Definition) -> list[Source]:
        """What decides how many items a container that is filled step by step has: the loops around, their tests."""
        found = [Source("made", made.value)]
        tests: list[ast.expr] = []
        child: ast.AST = made.node
        for around in self.tree.around(made.node):
            match around:
                case ast.If(test=test, body=body) if child in body:
                    tests.append(test)
                case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable) if child is not iterable:
                    found += [source.derived(tests) for source in self.of(iterable)]
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    break
            child = around
        return found

    def _swallowed(self, node: ast.Try) -> list[Source]:
        """The tool calls of a `try` after whose failure an `except` goes on."""
        calls = [n for stmt in node.body for n in ast.walk(stmt) if isinstance(n, ast.Call)]
        return [Source("swallowed", call, called_name(call)) for call in calls if called_name(call) in self.tools]

    def _constant(self, constant: ast.Constant, path: Path) -> list[Source]:
        """A constant of the program; one in an `except` stands for the results of the calls in its `try`."""
        child: ast.AST = constant
        for around in self.tree.around(constant):
            if isinstance(around, ast.Try) and child in around.handlers and (found := self._swallowed(around)):
                return found
            child = around
        return [Source("literal", constant, path=path)]

    def _display(self, expr: ast.expr, path: Path) -> list[Source]:
        """Through a list, tuple, set or dict that the program writes out."""
        found = [Source("made", expr, path=path)]
        match expr:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        found += self.of(value, path)
                    elif not path:
                        found += self._derived([value])
                    elif path[0] is KEY:
                        found += self.of(key, path[1:])
                    elif meets(constant_step(key), path[0]):
                        found += self.of(value, path[1:])
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                counted = path and isinstance(path[0], int) and not any(isinstance(p, ast.Starred) for p in parts)
                for i, part in enumerate(parts):
                    if isinstance(part, ast.Starred):
                        found += self.of(part.value, path)
                    elif not path:
                        found += self._derived([part])
                    elif not counted or path[0] in (i, i - len(parts)):
                        found += self.of(part, path[1:])
        return found

    def _comprehension(self, expr: Comprehension, path: Path) -> list[Source]:
        """Through a comprehension: its element; for the whole, what it loops over and the tests that items passed."""
        if isinstance(expr, ast.DictComp) and path:
            return [Source("made", expr), *self.of(expr.key if path[0] is KEY else expr.value, path[1:])]
        if not isinstance(expr, ast.DictComp) and path:
            return self.of(expr.elt, path[1:])
        tests = [test for generator in expr.generators for test in generator.ifs]
        every = [source for generator in expr.generators for source in self.of(generator.iter)]
        return [Source("made", expr), *(source.derived(tests) for source in every)]

    def _given(self, function: Function | ast.Lambda, name: str, at: int, path: Path) -> list[Source]:
        """What the calls of a function give for a parameter; the items that `sorted(key=…)`, `map`, … pass to it."""
        found: list[Source] = []
        uses: list[ast.AST] = [function]
        if isinstance(function, Function):
            calls = [n for n in self.tree.nodes() if isinstance(n, ast.Call) and called_name(n) == function.name]
            for call in calls:
                args = call.args if simple_name(call) == function.name else call.args[1:]
                named = [keyword.value for keyword in call.keywords if keyword.arg == name]
                found += [s for arg in named or args[at : at + 1] for s in self.of(arg, path)]
            uses = [n for n in self.tree.nodes() if isinstance(n, ast.Name) and n.id == function.name]
        for use in uses if not found else ():
            parent = self.tree.parents.get(id(use))
            parent = self.tree.parents.get(id(parent)) if isinstance(parent, ast.keyword) else parent
            if isinstance(parent, ast.Call) and parent.func is not use:
                others = [arg for arg in parent.args if arg is not use]
                if not others and isinstance(parent.func, ast.Attribute):  # rows.sort(key=…)
                    others = [parent.func.value]
                found += self.of(others[-1], (EACH, *path)) if others else []
        return found

    def _call(self, call: ast.Call, path: Path) -> list[Source]:
        name = called_name(call)
        if name in self.tools:
            return [Source("call", call, name, path)]
        if (function := self.tree.functions.get(name)) is not None:
            return [s for value, one in returned(function) for s in self.of(value, path[1:] if one else path)]
        match call.func:
            case ast.Attribute(value=receiver, attr=attr) if getattr(receiver, "id", "") not in _MODULES:
                return self._method(attr, receiver, call, path)
        return self._function(simple_name(call), call, path)

    def _method(self, name: str, receiver: ast.expr, call: ast.Call, path: Path) -> list[Source]:
        match name, call.args:
            case "get" | "setdefault" | "pop", [index, *rest]:
                default = [source for arg in rest for source in self.of(arg, path)]
                return [*default, *self.of(receiver, (constant_step(index), *path))]
            case "pop" | "popleft", _:
                return self.of(receiver, (-1 if name == "pop" else 0, *path))
            case "items" | "most_common", _:
                inner: Path = () if len(path) < 2 else (KEY,) if path[1] == 0 else (EACH, *path[2:])
                return self.of(receiver, inner)
            case "keys", _:
                return self.of(receiver, (KEY, *path[1:]) if path else ())
        if name in _SAME:
            return self.of(receiver, _reordered(path) if name == "values" else path)
        joined = call.args if name == "join" else []
        items = [source.derived() for arg in joined for source in self.of(arg, (EACH,))]
        return items or self._derived([receiver, *call.args, *(keyword.value for keyword in call.keywords)])

    def _function(self, name: str, call: ast.Call, path: Path) -> list[Source]:
        """Through a builtin or a function of the standard library."""
        args: list[ast.expr] = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
        starred = any(isinstance(arg, ast.Starred) for arg in call.args)
        if name == "enumerate":
            args = [ast.Constant(0), *args]
        if not args:
            return self._derived(keyword.value for keyword in call.keywords)
        if name in ("max", "min", "next", "anext", "choice") and (len(args) == 1 or name == "next"):
            return [*(s for arg in args[1:] for s in self.of(arg, path)), *self.of(args[0], (EACH, *path))]
        if name in ("enumerate", "zip") and len(path) > 1 and isinstance(path[1], int) and path[1] < len(args):
            return self.of(args[path[1]], (EACH, *path[2:]))
        if name == "gather" and not starred:
            at = path[0] if path and isinstance(path[0], int) and path[0] < len(args) else None
            return [source for arg in (args if at is None else [args[at]]) for source in self.of(arg, path[1:])]
        if name in ("max", "min", "chain", "gather"):
            return [source for arg in args for source in self.of(arg, path if not starred else _reordered(path))]
        if name in _SAME:
            first = args[0 if name in ("islice", "sample") or len(args) == 1 else -1]
            tests = [args[0].body] if isinstance(args[0], ast.Lambda) and not path else []
            found = self.of(first, path if len(args) == 1 and name not in ("sorted", "reversed") else _reordered(path))
            return [source.derived(tests) for source in found] if tests else found
        each = [source.derived() for source in self.of(args[-1], (EACH,))] if name in ("sum", "map") else []
        return each + self._derived([*args, *(keyword.value for keyword in call.keywords)])


def _reordered(path: Path) -> Path:
    """The path with a leading index forgotten, since the order changed."""
    return (EACH, *path[1:]) if path and isinstance(path[0], int) else path


def _parameter(function: Function | ast.Lambda, name: str) -> int | None:
    """The position of a parameter; None when there is none of this name."""
    args = function.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names.index(name) if name in names else None
