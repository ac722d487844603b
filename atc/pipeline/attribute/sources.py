"""Search for the tool calls from which the value of an expression may come.

A source is such a call with a path in its result. The search goes back through the assignments of
the program. For example, the field `dest` of each item of `rows` leads through
`rows.extend(page["flights"])` to the field `dest` of each item of `flights` in the result of the
call that gave `page`. If the sandbox recorded a hint for an expression (the call and path at which
it found the expression's value), the hint is used. If the program text allows several sources, all
are returned; the recorded responses decide between them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from atc.core.json_paths import EACH, KEY, JsonPath, PathStep, can_overlap
from atc.pipeline.attribute.dataflow import (
    Comprehension,
    Definition,
    FunctionNode,
    Tree,
    called_name,
    constant_step,
    iterated_argument,
    passed_values,
    position,
    returned_values,
    simple_name,
    target_steps,
)
from sandbox.trace import ValueHint

MAX_STEPS = 2_000
"""Maximum number of expressions visited for one program. Sources found until then are kept."""
_DEEPEST = 60
_LONGEST_PATH = 12

_SAME = frozenset(
    """
    list tuple set dict iter copy deepcopy loads run deque sorted reversed filter islice values
    result items
    """.split()  # noqa: SIM905
)
"""Functions and methods that return items of their argument, perhaps fewer or in another order."""
_CHANGES = frozenset(
    "sort reverse append extend insert remove clear update add discard".split()  # noqa: SIM905
)
"""Methods that change their object and return None."""
_MODULES = frozenset({
    "asyncio", "collections", "copy", "heapq", "itertools", "json", "math", "random", "re",
    "statistics",
})  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class CallSource:
    """A part of a tool's result from which an expression of the program may get its value.

    The expression `node` calls `tool`, and `path` leads to the part of the call's result. `index`
    is the number of the recorded call, if it is known. `exact` is False if the program computed
    another value from this part. `filters` are the conditions (`if`) that selected the value.
    """

    node: ast.expr
    tool: str
    path: JsonPath = ()
    exact: bool = True
    filters: tuple[ast.expr, ...] = ()
    index: int | None = None

    def as_derived(self, filters: Sequence[ast.expr] = ()) -> CallSource:
        """Return the source of a value that is computed from this one. `filters` are added."""
        return replace(self, exact=False, filters=(*self.filters, *filters))


class CallSources:
    """Search for the tool results from which expressions of a program get their values.

    `hints` come from the sandbox: for an expression, the call and the path in its response at which
    the sandbox found the expression's value.
    """

    def __init__(self, tree: Tree, tools: Iterable[str], hints: Iterable[ValueHint] = ()) -> None:
        self.tree = tree
        self.tools = frozenset(tools)
        # Hints of inner levels come last and take precedence.
        self._hints = {
            (hint.line, hint.column, hint.end_line, hint.end_column): hint for hint in hints
        }
        self._active: set[tuple[int, JsonPath, int]] = set()
        self._entered: list[tuple[FunctionNode | ast.Lambda, ast.Call]] = []
        """The functions of the program that the search is in, each with the call that led there."""
        self._steps = 0

    def find_sources(self, expr: ast.expr, path: JsonPath = ()) -> list[CallSource]:
        """Return the tool results from which the value at `path` may come, likeliest last."""
        key = (id(expr), path, id(self._entered[-1][1]) if self._entered else 0)
        self._steps += 1
        beyond = (
            self._steps > MAX_STEPS or len(self._active) > _DEEPEST or len(path) > _LONGEST_PATH
        )
        if key in self._active or beyond:
            return []
        self._active.add(key)
        try:
            found = self._find_by_form(expr, path)
        finally:
            self._active.discard(key)
        kept: dict[object, CallSource] = {}
        for source in found:
            same = (source.node, source.path, source.exact, source.index)
            kept.pop(same, None)
            kept[same] = source
        return list(kept.values())

    def find_control(self, expr: ast.expr) -> list[CallSource]:
        """Return the tool results that decide whether a variable gets a new value.

        These are the results that are iterated by the loops around the assignments to the variable.
        """
        if not isinstance(expr, ast.Name):
            return []
        reached = self.tree.find_reaching_definitions(expr.id, expr, self.tree.scope(expr, expr.id))
        return [
            source.as_derived()
            for made in reached[::-1]
            for source in self._find_filling_sources(made)
        ]

    def _find_by_form(self, expr: ast.expr, path: JsonPath) -> list[CallSource]:
        """Return the tool results that may give an expression of any kind its value at `path`."""
        hint = self._hints.get(position(expr))
        if hint is not None and isinstance(expr, ast.Name | ast.Subscript | ast.Call):
            return [CallSource(expr, "", (*hint.path, *path), index=hint.call)]
        match expr:
            case ast.Name():
                return self._name(expr, path)
            case ast.Call():
                return self._call(expr, path)
            case ast.Dict() | ast.Tuple() | ast.List() if path:
                return self._find_display_sources(expr, path)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(expr, path)
            case ast.Await(value=value):
                return self.find_sources(value, path)
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.find_sources(value, _forget_index(path))
            case ast.Subscript(value=value, slice=index):
                return self.find_sources(value, (constant_step(index), *path))
            case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
                return [*self.find_sources(other, path), *self.find_sources(one, path)]
            case ast.BinOp(left=left, right=right, op=ast.Add()) if path:
                rest = _forget_index(path)
                return [*self.find_sources(left, rest), *self.find_sources(right, rest)]
        children = ast.iter_child_nodes(expr)
        return self._find_operand_sources(node for node in children if isinstance(node, ast.expr))

    def _find_display_sources(
        self, expr: ast.Dict | ast.Tuple | ast.List, path: JsonPath
    ) -> list[CallSource]:
        """Return the tool results that may give a literal `{…}` or `[…]` its value at `path`."""
        if isinstance(expr, ast.Dict):
            steps: list[PathStep] = [constant_step(key) for key in expr.keys]
            values = expr.values
        else:
            steps = [*range(len(expr.elts))]
            values = expr.elts
        found: list[CallSource] = []
        for step, value in zip(steps, values, strict=True):
            if can_overlap(step, path[0]):
                found += self.find_sources(value, path[1:])
        return found

    def _find_operand_sources(self, exprs: Iterable[ast.expr]) -> list[CallSource]:
        """Return the tool results from which a value may come that is computed from `exprs`."""
        return [source.as_derived() for expr in exprs for source in self.find_sources(expr)]

    def _name(self, name: ast.Name, path: JsonPath) -> list[CallSource]:
        """Return the tool results from which the value at `path` of a variable may come."""
        for around in self.tree.around(name):
            match around:
                case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                    for generator in around.generators[::-1]:
                        if (steps := target_steps(generator.target, name.id)) is not None:
                            return self._each(generator.iter, (*steps, *path))
                case ast.Lambda() if (at := _parameter(around, name.id)) is not None:
                    return self._find_parameter_sources(around, name.id, at, path)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    reached = self.tree.find_reaching_definitions(name.id, name, around)
                    at = _parameter(around, name.id)
                    if reached or at is not None:
                        given = (
                            self._find_parameter_sources(around, name.id, at, path)
                            if at is not None
                            else []
                        )
                        return [*given, *self._find_definition_sources(reached, path)]
        return self._find_definition_sources(
            self.tree.find_reaching_definitions(name.id, name, self.tree.root), path
        )

    def _each(self, iterated: ast.expr, path: JsonPath) -> list[CallSource]:
        """Return the tool results from which the items of an iterable may come.

        `iterated` is the expression of the iterable, and `path` leads to a part of each item.
        Iterating an object gives its keys.
        """
        return [
            *(() if path else self.find_sources(iterated, (KEY,))),
            *self.find_sources(iterated, (EACH, *path)),
        ]

    def _find_definition_sources(
        self, reached: Sequence[Definition], path: JsonPath
    ) -> list[CallSource]:
        """Return the tool results from which the value at `path` of a variable may come.

        `reached` are the assignments that may give the variable its value.
        """
        found: list[CallSource] = []
        for made in reached[::-1]:
            if all(can_overlap(a, b) for a, b in zip(made.writes, path, strict=False)):
                rest = path[len(made.writes) :]
                if made.steps[:1] == (EACH,):
                    found += self._each(made.value, (*made.steps[1:], *rest))
                elif len(path) >= len(made.writes):
                    found += self.find_sources(made.value, (*made.steps, *rest))
                else:
                    found += self._find_filling_sources(made)
        return found

    def _find_filling_sources(self, made: Definition) -> list[CallSource]:
        """Return the tool results that decide how often the assignment `made` is executed.

        These are the results that the loops around the assignment iterate. The `if` conditions
        around the assignment become filters of these sources; but a condition on the variable of a
        loop becomes a filter only of what this loop iterates.
        """
        found: list[CallSource] = []
        tests: list[ast.expr] = []
        child: ast.AST = made.node
        for around in self.tree.around(made.node):
            match around:
                case ast.If(test=test, body=body) if child in body:
                    tests.append(test)
                case ast.For() | ast.AsyncFor() if child is not around.iter:
                    found += [source.as_derived(tests) for source in self.find_sources(around.iter)]
                    variables = _names_in(around.target)
                    tests = [test for test in tests if not _names_in(test) & variables]
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    break
            child = around
        return found

    def _comprehension(self, expr: Comprehension, path: JsonPath) -> list[CallSource]:
        """Return the tool results from which the value at `path` of a comprehension may come.

        If `path` is not empty, the search follows the element expression, `e` in `[e for …]`.
        Otherwise it follows the iterables, and the `if` conditions become filters of the sources.
        """
        if path:
            return self.find_sources(
                expr.value if isinstance(expr, ast.DictComp) else expr.elt, path[1:]
            )
        tests = [test for generator in expr.generators for test in generator.ifs]
        every = [
            source for generator in expr.generators for source in self.find_sources(generator.iter)
        ]
        return [source.as_derived(tests) for source in every]

    def _find_parameter_sources(
        self, function: FunctionNode | ast.Lambda, name: str, at: int, path: JsonPath
    ) -> list[CallSource]:
        """Return the tool results from which a parameter of a function may get its value."""
        for depth, (entered, call) in reversed([*enumerate(self._entered)]):
            if entered is function:  # the value that this very call passes
                inner = self._entered[depth:]
                del self._entered[depth:]
                found = self._find_in_each(passed_values(call, name, at), path)
                self._entered += inner
                return found
        found = []
        for call in (node for node in ast.walk(self.tree.root) if isinstance(node, ast.Call)):
            if isinstance(function, FunctionNode) and called_name(call) == function.name:
                found += self._find_in_each(passed_values(call, name, at), path)
            if function in (*call.args, *(keyword.value for keyword in call.keywords)):
                passed = iterated_argument(call, function)
                found += self._each(passed, path) if passed is not None else []
        return found

    def _call(self, call: ast.Call, path: JsonPath) -> list[CallSource]:
        """Return the tool results that may give a call of any function its result at `path`."""
        name = called_name(call)
        if name in self.tools:
            return [CallSource(call, name, path)]
        function = self.tree.find_function(name)
        if function is not None:
            self._entered.append((function, call))
            try:
                return self._find_in_each(returned_values(function), path)
            finally:
                self._entered.pop()
        method = simple_name(call)
        if method == "gather" and path:
            return self._find_gathered_sources(call, path)
        if KEY in path[:1] and method in ("values", "items", "most_common"):
            return []
        args = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
        receiver = _receiver(call)
        if receiver is not None:
            if method in _CHANGES:
                return []
            accessed = self._find_accessed_sources(receiver, method, args, path)
            if accessed is not None:
                return accessed
            args = [*args, receiver] if method in _SAME else [receiver, *args]
        return self._find_argument_sources(call, args, path)

    def _find_in_each(self, exprs: Iterable[ast.expr], path: JsonPath) -> list[CallSource]:
        """Return the tool results from which the value at `path` of one of `exprs` may come."""
        return [source for expr in exprs for source in self.find_sources(expr, path)]

    def _find_gathered_sources(self, call: ast.Call, path: JsonPath) -> list[CallSource]:
        """Return the tool results that may be in the list which `asyncio.gather(…)` returns."""
        found: list[CallSource] = []
        for n, arg in enumerate(call.args):
            if isinstance(arg, ast.Starred):
                found += self.find_sources(arg.value, path)
            elif can_overlap(n, path[0]):
                found += self.find_sources(arg, path[1:])
        return found

    def _find_accessed_sources(
        self, receiver: ast.expr, method: str, args: Sequence[ast.expr], path: JsonPath
    ) -> list[CallSource] | None:
        """Return the tool results from which a method call such as `x.get("a")` reads its value.

        Return None for methods other than `get`, `setdefault`, `pop`, `items` and `most_common`.

        Args:
            receiver: the expression before the dot, here `x`.
            method: the name after the dot, here `get`.
            args: the arguments of the method.
            path: the path to the wanted part of what the method returns; empty for all of it.
        """
        if method in ("get", "setdefault", "pop") and args:
            return self.find_sources(receiver, (constant_step(args[0]), *path))
        if method in ("items", "most_common"):
            is_value = len(path) > 1 and path[1] == 1
            return self.find_sources(receiver, (EACH, *path[2:]) if is_value else ())
        return None

    def _find_argument_sources(
        self, call: ast.Call, args: Sequence[ast.expr], path: JsonPath
    ) -> list[CallSource]:
        """Return the tool results from which a call may get its result through its arguments."""
        method = simple_name(call)
        named = [keyword.value for keyword in call.keywords]
        if not args:
            return self._find_operand_sources(named)
        if method in ("max", "min", "next", "choice"):
            item = self.find_sources(args[0], (EACH, *path))
            # If `next` returned its default, the iterable as a whole is to blame.
            has_default = method == "next" and len(args) > 1
            return [*self.find_sources(args[0]), *item] if has_default else item
        if method in _SAME:
            passed = self.find_sources(args[-1], _forget_index(path))
            if isinstance(args[0], ast.Lambda) and not path:
                return [source.as_derived([args[0].body]) for source in passed]
            return passed
        found: list[CallSource] = []
        if not path:
            found += [source.as_derived() for source in self.find_sources(args[-1], (EACH,))]
        return [*found, *self._find_operand_sources([*args, *named])]


def _names_in(node: ast.AST) -> set[str]:
    """Return the names of variables that occur in a part of the program."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _forget_index(path: JsonPath) -> JsonPath:
    """Return a path whose leading list index is replaced by EACH, which matches all items."""
    return (EACH, *path[1:]) if path and isinstance(path[0], int) else path


def _receiver(call: ast.Call) -> ast.expr | None:
    """Return the object `x` of a method call `x.method(…)`; None for `f(…)` or `json.loads(…)`."""
    if not isinstance(call.func, ast.Attribute):
        return None
    return None if getattr(call.func.value, "id", "") in _MODULES else call.func.value


def _parameter(function: FunctionNode | ast.Lambda, name: str) -> int | None:
    """Return the index of the parameter `name` in a function's signature; None if it has none."""
    args = function.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names.index(name) if name in names else None
