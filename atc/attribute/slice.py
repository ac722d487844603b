"""The backward definition-use slice: from an expression to the tool calls that its value may come from.

The slice follows access paths: asking for `[]["dest"]` of `rows` leads through `rows.extend(page["flights"])` to
`["flights"][]["dest"]` of the call behind `page`. Where the text leaves several possibilities all are given; the
recorded responses decide between them later (`atc.attribute.blame`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from atc.attribute.definitions import Definition, constant_step, field_name
from atc.attribute.flow import through_call, through_comprehension, through_constant, through_display
from atc.attribute.layout import Comprehension, Function, Layout
from atc.attribute.paths import EACH, KEY, Dot, Path, Step, meets
from atc.attribute.picking import with_pick
from atc.attribute.source import Context, Pick, Source, once
from atc.attribute.syntax import (
    argument_of,
    callback_iterable,
    called_name,
    default_of,
    names_in,
    position_of,
    returned,
    target_steps,
)
from sandbox.trace import Frame

MAX_STEPS = 20_000
"""Expressions visited for one question; a program that needs more gets what was found so far."""
_MAX_PATH = 12
_MAX_DEPTH = 100
"""Expressions within expressions; each takes a handful of frames of Python's stack."""


class Slicer:
    """Answers `sources` for one program and the traceback with which it failed."""

    def __init__(self, layout: Layout, tools: Iterable[str], frames: Sequence[Frame] = ()) -> None:
        self.layout = layout
        self.tools = frozenset(tools)
        self.frames = tuple(frames)
        self._active: set[tuple[int, Path, tuple[int, ...]]] = set()
        self._steps = 0

    def sources(self, expr: ast.expr, path: Path = (), context: Context = ()) -> list[Source]:
        """Where the value at `path` of `expr`'s value may come from, nearest last, each once."""
        if not self._active:
            self._steps = 0
        key = (id(expr), path, tuple(map(id, context)))
        self._steps += 1
        if key in self._active or self._steps > MAX_STEPS or len(path) > _MAX_PATH or len(context) > _MAX_PATH:
            return []
        if len(self._active) > _MAX_DEPTH:
            return []
        self._active.add(key)
        try:
            found = self._of(expr, path, context)
        finally:
            self._active.discard(key)
        return once(found)

    def derived(self, exprs: Iterable[ast.expr | None], context: Context) -> list[Source]:
        """Sources of a value that is computed from `exprs`."""
        return [source.derived() for expr in exprs if expr is not None for source in self.sources(expr, (), context)]

    def control(self, expr: ast.expr, context: Context = ()) -> list[Source]:
        """Sources of what decides whether and how often a variable was filled: the loops and tests around that."""
        if not isinstance(expr, ast.Name):
            return []
        reached = self.layout.reaching(expr.id, expr, self.layout.scope(expr, expr.id))
        return once([s for d in reversed(reached) for s in self._built(d, context) if s.from_call])

    def _of(self, expr: ast.expr, path: Path, context: Context) -> list[Source]:
        match expr:
            case ast.Name():
                return self._name(expr, path, context)
            case ast.Constant():
                return through_constant(self, expr, path)
            case ast.Call():
                return self._call(expr, path, context)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return through_display(self, expr, path, context)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return through_comprehension(self, expr, path, context)
            case ast.Await(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.sources(value, path, context)
            case ast.Lambda():
                return []
        return self._access(expr, path, context)

    def _access(self, expr: ast.expr, path: Path, context: Context) -> list[Source]:
        """Through subscripts, attributes and operators."""
        match expr:
            case ast.Subscript(value=value, slice=ast.Slice()):
                head: Path = (EACH,) if path and isinstance(path[0], int) else path[:1]
                return self.sources(value, (*head, *path[1:]), context)
            case ast.Subscript(value=value, slice=index):
                step = self._step(index, context)
                found = self.sources(value, (step, *path), context)
                return [with_pick(s, Pick(None, False, (), len(path))) for s in found] if step is EACH else found
            case ast.Attribute(value=value, attr=attr):
                fields = self.layout.definitions.get((id(self.layout.tree), field_name(attr)), [])
                return self._defined(fields[::-1], path, ()) or self.sources(value, (Dot(attr), *path), context)
            case ast.IfExp(body=one, orelse=other):
                return [*self.sources(other, path, context), *self.sources(one, path, context)]
            case ast.BoolOp(values=values):
                return [source for value in reversed(values) for source in self.sources(value, path, context)]
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.BitOr()) if path:
                loose: Path = (EACH, *path[1:]) if isinstance(path[0], int) else path
                return [*self.sources(left, loose, context), *self.sources(right, loose, context)]
        parts = [node for node in ast.iter_child_nodes(expr) if isinstance(node, ast.expr)]
        return self.derived(parts, context)

    def _step(self, index: ast.expr, context: Context) -> Step:
        """The step of a subscript; a name that can only be one constant counts as that constant."""
        step = constant_step(index)
        if step is EACH and isinstance(index, ast.Name):
            known = self.sources(index, (), context)
            if len(known) == 1 and known[0].exact and isinstance(known[0].node, ast.Constant):
                return constant_step(known[0].node)
        return step

    def _name(self, name: ast.Name, path: Path, context: Context) -> list[Source]:
        """Walk out of the scopes around the name until one binds it."""
        use: ast.AST = name
        child: ast.AST = name
        for around in self.layout.ancestors(name):
            match around:
                case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                    bound = self._generator(around, child, name.id, path, context)
                    if bound is not None:
                        return bound
                case ast.Lambda(args=args) if position_of(args, name.id) is not None:
                    return self._parameter(around, name.id, path, context)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    reached = self.layout.reaching(name.id, use, around)
                    is_parameter = position_of(around.args, name.id) is not None
                    if reached or is_parameter:
                        found = self._defined(reached, path, context)
                        settled = reached and reached[-1].strong and not is_parameter
                        return found if settled else [*self._parameter(around, name.id, path, context), *found]
                    if context and self._callee(context[-1]) is around:
                        use, context = context[-1], context[:-1]
            child = around
        return self._defined(self.layout.reaching(name.id, use, self.layout.tree), path, context)

    def _defined(self, reached: list[Definition], path: Path, context: Context) -> list[Source]:
        found: list[Source] = []
        dicts = any(
            isinstance(definition.value, ast.Dict | ast.DictComp) for definition in reached if definition.strong
        )
        for definition in reversed(reached):
            wanted = definition.writes
            if path and path[0] is KEY and wanted:  # `d[k] = x` gives the dict the key k
                if definition.key is not None:
                    found += self.sources(definition.key, path[1:], context)
                continue
            if not all(meets(a, b) for a, b in zip(wanted, path, strict=False)):
                continue
            if path and path[0] is EACH and definition.key is not None and dicts:  # going through a dict gives keys
                found += self.sources(definition.key, path[1:], context)
            if len(path) >= len(wanted):
                found += self.sources(definition.value, (*definition.steps, *path[len(wanted) :]), context)
            else:
                found += self._built(definition, context)
        return found

    def _built(self, definition: Definition, context: Context) -> list[Source]:
        """What decides how many items a container that is filled step by step has: the loops around, their tests."""
        found = [Source("made", definition.value)]
        tests: list[ast.expr] = []
        child: ast.AST = definition.node
        for around in self.layout.ancestors(definition.node):
            match around:
                case ast.If(test=test, body=body) if child in body:
                    tests.append(test)
                case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable) if child is not iterable:
                    found += [source.derived(tests) for source in self.sources(iterable, (), context)]
                    found += self._given_up(around, context)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    break
            child = around
        return found or self.derived([definition.value], context)

    def _given_up(self, loop: ast.For | ast.AsyncFor, context: Context) -> list[Source]:
        """The calls in a loop after whose failure an `except` goes on with the next item."""
        tries = [node for node in ast.walk(loop) if isinstance(node, ast.Try) and node.handlers]
        nodes = [n for t in tries for stmt in t.body for n in ast.walk(stmt) if isinstance(n, ast.Call)]
        tools = [node for node in nodes if called_name(node) in self.tools]
        return [Source("swallowed", node, called_name(node), exact=False, context=context) for node in tools]

    def _generator(
        self, around: Comprehension, child: ast.AST, name: str, path: Path, context: Context
    ) -> list[Source] | None:
        """The element that a comprehension's `for` binds to `name`; None when it binds no such name there."""
        for generator in reversed(around.generators):
            if child is generator and generator is around.generators[0] and name not in names_in(generator.target):
                return None
            steps = target_steps(generator.target, name)
            if steps is not None:
                return self.sources(generator.iter, (EACH, *steps, *path), context)
        return None

    def _parameter(self, function: Function | ast.Lambda, name: str, path: Path, context: Context) -> list[Source]:
        position = position_of(function.args, name)
        found: list[Source] = []
        if context and self._callee(context[-1]) is function:
            calls, outer = [context[-1]], context[:-1]
        else:
            calls, outer = self._callers(function), context
        for call in calls:
            given = argument_of(call, name, position, bound=function in self.layout.methods.values())
            if given is not None:
                found += self.sources(given, path, outer)
        if not calls or not found:
            iterable = callback_iterable(self.layout, function, position or 0)
            if iterable is not None:
                found += self.sources(iterable, (EACH, *path), context)
            elif (default := default_of(function.args, name)) is not None:
                found += self.sources(default, path, context)
        return found

    def _callers(self, function: Function | ast.Lambda) -> list[ast.Call]:
        """Calls of a function: the one on the traceback where it tells, else all in the program."""
        if isinstance(function, ast.Lambda):
            return []
        every = [n for n in ast.walk(self.layout.tree) if isinstance(n, ast.Call) and self._callee(n) is function]
        lines = {
            outer.line
            for outer, inner in zip(self.frames, self.frames[1:], strict=False)
            if inner.function == function.name
        }
        active = [call for call in every if any(call.lineno <= line <= (call.end_lineno or 0) for line in lines)]
        return active or every

    def _callee(self, call: ast.Call) -> Function | None:
        """The program's own function that a call runs."""
        if isinstance(call.func, ast.Attribute) and not called_name(call):
            return self.layout.methods.get(call.func.attr)
        name = called_name(call)
        return self.layout.functions.get(name) if name not in self.tools else None

    def _call(self, call: ast.Call, path: Path, context: Context) -> list[Source]:
        name = called_name(call)
        if name in self.tools:
            return [Source("call", call, name, path, context=context)]
        function = self._callee(call)
        if function is not None and call not in context:
            inner = (*context, call)
            found = [s for value in returned(function) for s in self.sources(value, path, inner)]
            yielded = [n for n in ast.walk(function) if isinstance(n, ast.Yield | ast.YieldFrom) and n.value]
            for node in yielded:
                rest = path[1:] if isinstance(node, ast.Yield) else path
                found += self.sources(node.value or call, rest, inner)
            return found
        if isinstance(call.func, ast.Name) and (held := self._held(call.func)):
            return [Source("call", call, held, path, context=context)]
        return through_call(self, call, path, context)

    def _held(self, name: ast.Name) -> str:
        """The tool that a variable holds (`fetch = get_plane`), if it can hold but one."""
        values = [d.value for d in self.layout.definitions.get((id(self.layout.scope(name, name.id)), name.id), [])]
        held = {value.id for value in values if isinstance(value, ast.Name) and value.id in self.tools}
        return next(iter(held)) if len(held) == 1 else ""
