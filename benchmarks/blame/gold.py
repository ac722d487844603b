"""Observation of a gold program: the values of each expression, and where responses contain them.

The program runs in this process with a probe around every expression. A value is recognized in a
response by its identity (`id`). Python shares None and small numbers, so these values are traced
only where the program reads them from a response.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from atc.core.json_paths import JsonPath, format_json_path, generalize, get_at_path
from protocols.errors import ToolError
from protocols.python_source import parse_python
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from toolflow_bench.task import Task

_PLAIN = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.BinOp,
    ast.IfExp,
    ast.Compare,
    ast.BoolOp,
    ast.GeneratorExp,
)
_MOST_VALUES = 48  # observed values of one expression


class NoObservation(Exception):
    """A gold program failed when it ran with probes, that is, while its values were recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A true location of a fault: a path in the response or the arguments of a call.

    `[]` in `path` matches any index. `call` is the index of the call if the fault always shows at
    this call. If it is None, any call of `tool` on the lines `first_line` to `last_line` is right.
    """

    tool: str
    path: str
    first_line: int
    last_line: int
    call: int | None = None

    def is_met_by(self, call: ToolCall) -> bool:
        here = (
            call.index == self.call
            if self.call is not None
            else self.first_line <= call.line <= self.last_line
        )
        return call.tool == self.tool and here


Edit = tuple[ast.expr, str, str, Sequence[Truth]]
"""An expression, its replacement, the variant of the fault, and the true locations of the fault."""


@dataclass(frozen=True, slots=True)
class GoldCall:
    tool: str
    arguments: dict[str, Json]
    result: Json
    failed: bool
    site: ast.Call


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """One value of an expression, with its path in a call's full response.

    `call` is the index of the call, or None if the origin is unknown. `order` numbers all values of
    the run. `size` is the length of a list or object, and None for other values.
    """

    order: int
    call: int | None
    path: JsonPath
    value: Any
    size: int | None


def can_be_id(value: Json) -> bool:
    return (isinstance(value, str) and len(value) > 1) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


@dataclass
class ObservedGold:
    """A parsed gold program and what `observe` recorded while it ran."""

    task: Task
    toolbox: Toolbox
    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST]
    calls: list[GoldCall] = field(default_factory=list)
    observed_values: dict[ast.AST, list[ObservedValue]] = field(default_factory=dict)

    def values(self, node: ast.AST) -> list[ObservedValue]:
        """Return the first recorded values of an expression; empty if the expression never ran."""
        return self.observed_values.get(node, [])

    def traced_values(self, node: ast.AST) -> list[ObservedValue]:
        """Return the expression's values that come from a response, except whole responses."""
        return [one for one in self.values(node) if one.call is not None and one.path]

    def response(self, call: int, path: JsonPath) -> Json:
        return get_at_path(self.calls[call].result, path)

    def sites(self) -> Iterator[tuple[ast.Call, Tool]]:
        """Yield each expression that called a tool, together with the tool, in source order."""
        found = {made.site: self.toolbox[made.tool] for made in self.calls}
        yield from sorted(found.items(), key=lambda pair: (pair[0].lineno, pair[0].col_offset))

    def place(self, call: int, path: JsonPath, *, sure: bool = False) -> Truth:
        """Return the true location (`Truth`) of a fault at a path in a call's response.

        `sure` means that the fault always shows at this call and never at a later one.
        """
        made = self.calls[call]
        lines = {
            "first_line": made.site.lineno,
            "last_line": made.site.end_lineno or made.site.lineno,
        }
        return Truth(
            tool=made.tool,
            path=format_json_path(generalize(path)),
            call=call if sure else None,
            **lines,
        )

    def argument(self, site: ast.Call, name: str, *, sure: bool = False) -> Truth:
        return self.place(self.calls_of(site)[0], (name,), sure=sure)

    def calls_of(self, site: ast.Call) -> list[int]:
        return [index for index, made in enumerate(self.calls) if made.site is site]

    def empty_answers(self, site: ast.Call) -> list[Truth]:
        """Return the locations of the lists in the response to a call expression.

        The benchmark makes a program wrong, for example by a wrong argument in this expression.
        These lists may then be empty, because the service finds nothing. So their locations are
        right answers, too, when a diagnosis is asked where the fault shows.
        """
        first, *more = self.calls_of(site)
        result = self.calls[first].result
        keys = (
            [key for key, value in result.items() if isinstance(value, list)]
            if isinstance(result, dict)
            else []
        )
        return [self.place(first, (key,), sure=not more) for key in keys]


def observe(task: Task, toolbox: Toolbox) -> ObservedGold:
    """Run the gold program while its values are recorded (with probes), and return the record.

    The services are not reset.

    Raises:
        NoObservation: the program fails.
    """
    tree = parse_python(task.program)
    nodes = list(ast.walk(tree))
    gold = ObservedGold(
        task, toolbox, tree, {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    )
    run = _Run(gold, nodes)
    copy = parse_python(task.program)
    probed = ast.fix_missing_locations(_Probing(copy, frozenset(toolbox)).visit(copy))
    names: dict[str, Any] = {"__name__": "__main__", "ToolError": ToolError, "_probe": run.probes()}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(probed, "gold", "exec"), names)
    except Exception as error:
        raise NoObservation(
            f"{task.id}: with probes it fails: {type(error).__name__}: {error}"
        ) from error
    return gold


class _Run:
    def __init__(self, gold: ObservedGold, nodes: list[ast.AST]) -> None:
        self._gold = gold
        self._nodes = nodes
        self._order = 0
        self._at: dict[int, tuple[int, JsonPath]] = {}
        self._kept: list[Any] = []  # keeps all values alive, so that no `id` is reused

    def probes(self) -> dict[str, Callable[..., Any]]:
        return {"value": self._value, "item": self._item, "call": self._call}

    def _value(self, number: int, value: Any) -> Any:
        return self._note(number, value, self._at.get(id(value)))

    def _item(self, number: int, container: Any, index: Any) -> Any:
        value = container[index]
        origin = self._at.get(id(value))
        around = self._at.get(id(container))
        if origin is None and around is not None and type(index) in (str, int):
            step = (
                index % len(container)
                if isinstance(index, int) and isinstance(container, list)
                else index
            )
            origin = around[0], (*around[1], step)
        return self._note(number, value, origin)

    def _call(self, number: int, alias: str, /, **arguments: Any) -> Any:
        tool = self._gold.toolbox[alias]
        site = cast("ast.Call", self._nodes[number])
        call = len(self._gold.calls)
        own = json.loads(json.dumps(arguments))
        try:
            result = json.loads(json.dumps(tool.call(tool.original_arguments(arguments))))
        except ToolError:
            self._gold.calls.append(GoldCall(alias, own, None, True, site))
            raise
        self._gold.calls.append(GoldCall(alias, own, result, False, site))
        value = tool.unwrap(result)
        hidden = () if value is result or tool.wrapper is None else (tool.wrapper,)
        self._learn(value, call, hidden)
        return self._note(number, value, (call, hidden))

    def _learn(self, value: Any, call: int, path: JsonPath) -> None:
        stack: list[tuple[JsonPath, Any]] = [(path, value)]
        while stack:
            here, inner = stack.pop()
            if isinstance(inner, dict | list):
                below = inner.items() if isinstance(inner, dict) else enumerate(inner)
                stack += [((*here, step), one) for step, one in below]
            elif not (isinstance(inner, float) or can_be_id(inner)) or (
                isinstance(inner, int) and abs(inner) <= 300
            ):
                continue  # Python shares these values
            self._at[id(inner)] = call, here
            self._kept.append(inner)

    def _note(self, number: int, value: Any, origin: tuple[int, JsonPath] | None) -> Any:
        self._order += 1
        found = self._gold.observed_values.setdefault(self._nodes[number], [])
        nothing = value is None or value is False or value == []
        if len(found) < _MOST_VALUES or (nothing and len(found) < 2 * _MOST_VALUES):
            size = len(value) if isinstance(value, list | dict | set | tuple) else None
            call, path = origin or (None, ())
            found.append(
                ObservedValue(self._order, call, path, value if size is None else None, size)
            )
        return value


class _Probing(ast.NodeTransformer):
    """Wraps every expression in a probe, which reports its value and the number of its node."""

    def __init__(self, tree: ast.Module, tools: frozenset[str]) -> None:
        self._tools = tools
        self._numbers = {node: number for number, node in enumerate(ast.walk(tree))}

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.pattern):
            return node
        function = (
            node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        )
        name = function.id if function else ""
        self.generic_visit(node)
        if isinstance(node, ast.Call) and function is not None:
            node.func = function  # the name of a function is not probed
        number = self._numbers[node]
        match node:
            case ast.Name(id=alias) if alias in self._tools or not isinstance(node.ctx, ast.Load):
                return node
            case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if not isinstance(
                index, ast.Slice
            ):
                return _probe("item", number, value, index)
            case ast.Call(args=[]) if name in self._tools:
                call = _probe("call", number, ast.Constant(name))
                call.keywords = node.keywords
                return call
            case _ if isinstance(node, _PLAIN) and isinstance(
                getattr(node, "ctx", ast.Load()), ast.Load
            ):
                return _probe("value", number, node)
        return node


def _probe(kind: str, number: int, *parts: ast.expr) -> ast.Call:
    probe = ast.Subscript(ast.Name("_probe", ast.Load()), ast.Constant(kind), ast.Load())
    return ast.Call(probe, [ast.Constant(number), *parts], [])
