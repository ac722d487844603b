"""Values that a program computes and that do not reach its answer.

A value reaches the answer if it is printed, returned, tested, raised or passed on, or if another
variable that does so is computed from it. What a program does with a value is read from its syntax
alone: a variable counts as one, wherever in the program its name occurs.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from atc.pipeline.check.syntax import find_outer_changes
from protocols.toolbox import Toolbox

_READ_BY_NAME = frozenset({"locals", "globals", "vars", "eval", "exec"})
_FILLING = frozenset({"append", "add", "extend", "update", "insert", "appendleft", "setdefault"})
"""Methods that put a value into a container."""
_CONTAINERS = frozenset({"list", "dict", "set", "defaultdict", "Counter", "deque", "OrderedDict"})


class _Flow(NamedTuple):
    """A statement that stores a value in a variable, or in the container that the variable holds.

    The value is computed from the expressions `sources`.
    """

    name: str
    sources: tuple[ast.expr, ...]
    line: int
    is_computed: bool


def find_unused_variables(tree: ast.Module) -> list[tuple[str, int]]:
    """Return the variables that get a computed value which does not reach the answer.

    Each has the line of its value. Constants and names that begin with `_` are left out, and so are
    variables from which another unused one is computed. The result is empty if the program may read
    variables by name, as with `locals()`.
    """
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    if _READ_BY_NAME & {node.id for node in names}:
        return []
    flows, others = _split_by_flow(nodes, names)
    reached = _reach(others, flows)
    unused = [flow for flow in flows if flow.name not in reached]
    fed_on = {name for flow in unused for name in _reads(flow.sources) if name != flow.name}
    found: dict[str, int] = {}
    for flow in unused:
        is_last = flow.name not in fed_on
        if flow.is_computed and is_last and not flow.name.startswith("_"):
            found.setdefault(flow.name, flow.line)
    return list(found.items())


def find_dropped_results(tree: ast.Module, tools: Toolbox) -> list[tuple[str, int]]:
    """Return the reading tools whose result a program drops, each with the line of the call.

    A call in a `try` is left out, because it may test whether something exists, and so is the last
    statement, whose value may be the answer.
    """
    tried = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in node.body}
    return [
        (name, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and node not in tried and node is not tree.body[-1]
        if (name := _called(node.value)) in tools and not tools[name].protocol.writes
    ]


def _called(node: ast.expr) -> str:
    """Return the name of the function that an expression calls, or "" if it is no such call."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
    return ""


def _split_by_flow(nodes: list[ast.AST], names: list[ast.Name]) -> tuple[list[_Flow], set[str]]:
    """Return the flows of a program, and the variables that it reads for anything else."""
    acting = _find_acting_functions(nodes)
    fresh = _find_containers(nodes, names)
    flows = list[_Flow]()
    inside = set[ast.AST]()
    for node in nodes:
        flow = _flow_of(node, fresh)
        if flow is None:
            continue
        parts = [part for source in flow.sources for part in ast.walk(source)]
        called = {_called(part) for part in parts if isinstance(part, ast.expr)}
        if called & acting:
            flows.append(flow._replace(is_computed=False))
        else:
            flows.append(flow)
            inside.update(ast.walk(node))
    reads = [node for node in names if isinstance(node.ctx, ast.Load)]
    return flows, {node.id for node in reads if node not in inside}


def _find_acting_functions(nodes: list[ast.AST]) -> set[str]:
    """Return the functions of a program that do more than return a value."""
    acting = set[str]()
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parts = list(ast.walk(node))
        shares = any(isinstance(part, ast.Global | ast.Nonlocal) for part in parts)
        prints = any(isinstance(part, ast.expr) and _called(part) == "print" for part in parts)
        if shares or prints or find_outer_changes(node):
            acting.add(node.name)
    return acting


def _flow_of(node: ast.AST, fresh: set[str]) -> _Flow | None:
    """Return the flow that a statement is, or None. `fresh` are the containers of the program."""
    match node:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ):
            return _Flow(name, (value,), value.lineno, _is_computed(value))
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return _Flow(name, (value,), node.lineno, is_computed=True)
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value)
            | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=key), value=value)
        ) if name in fresh:
            return _Flow(name, (key, value), node.lineno, is_computed=True)
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method),
                args=args,
                keywords=keywords,
            )
        ) if name in fresh and method in _FILLING:
            values = (*args, *(keyword.value for keyword in keywords))
            return _Flow(name, values, node.lineno, is_computed=True)
    return None


def _is_computed(value: ast.expr) -> bool:
    """Return True if an expression calls something, reads an item, or calculates."""
    kinds = (ast.Call, ast.Subscript, ast.BinOp)
    parts = list(ast.walk(value))
    if not any(isinstance(part, ast.Name) for part in parts) or _called(value) in _CONTAINERS:
        return False
    return any(isinstance(part, kinds) for part in parts)


def _find_containers(nodes: list[ast.AST], names: list[ast.Name]) -> set[str]:
    """Return the variables that only ever hold a container which the program has just created.

    Another variable may hold the container of a third one, and then what is put into it counts.
    """
    stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    created = Counter[str]()
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                literal = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
                created[name] += isinstance(value, literal) or _is_new_container(value)
    passed = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {name for name, count in created.items() if count == stores[name]} - passed


def _is_new_container(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _CONTAINERS
    return False


def _reads(sources: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the variables that expressions read."""
    for source in sources:
        for part in ast.walk(source):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                yield part.id


def _reach(used: set[str], flows: list[_Flow]) -> set[str]:
    """Return the variables of `used`, and those from which their values are computed."""
    sources: dict[str, set[str]] = {}
    for flow in flows:
        sources.setdefault(flow.name, set()).update(_reads(flow.sources))
    reached = set(used)
    waiting = list(used)
    while waiting:
        for name in sources.get(waiting.pop(), set()) - reached:
            reached.add(name)
            waiting.append(name)
    return reached
