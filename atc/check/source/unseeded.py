"""Plain dicts whose items are added to (`d[k] += 1`, `d[k].append(x)`) though nothing ever puts one there.

Python fails at the first of them: a `defaultdict` was meant, or a first value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from atc.check.report import finding, spelled
from atc.check.source.memo import children
from atc.check.source.scopes import Scopes
from atc.types import Finding

_READING = {"get", "items", "keys", "values", "copy"}
_LOOKING = {
    "len", "print", "sorted", "sum", "max", "min", "list", "tuple", "set", "dict", "bool", "enumerate", "zip", "repr",
    "str", "dumps",
}  # fmt: skip
"""Functions that put nothing into what they are given."""
_CAUGHT = {"KeyError", "LookupError", "Exception", "BaseException"}
_FIRST = {"append": "[]", "extend": "[]", "add": "set()", "update": "{}"}


def unseeded_dicts(scopes: Scopes, nodes: list[ast.AST]) -> list[Finding]:
    """A finding for the first item that is read of each dict which the program makes empty and never fills."""
    made = {name for name in _made_empty(nodes) if sum(name in s.bound for s in scopes.by_node.values()) == 1}
    if not made or scopes.opaque:
        return []
    uses: dict[str, list[ast.Name]] = {name: [] for name in made}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in uses:
            uses[node.id].append(node)
    parents = {child: node for node in nodes for child in children(node)}
    found: list[Finding] = []
    for name, names in uses.items():
        if sum(not isinstance(node.ctx, ast.Load) for node in names) > 1:
            continue
        loads = [node for node in names if isinstance(node.ctx, ast.Load)]
        reads = [node for node in loads if isinstance(parents.get(node), ast.Subscript)]
        if reads and all(_puts_nothing(node, parents) for node in loads):
            found += _report(name, min(reads, key=lambda node: (node.lineno, node.col_offset)), parents)
    return found


def _made_empty(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                match value:
                    case ast.Dict(keys=[]) | ast.Call(func=ast.Name(id="dict"), args=[], keywords=[]):
                        yield name


def _puts_nothing(node: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether this use of a dict leaves it as it is; unknown counts as not."""
    match parents.get(node):
        case ast.Subscript(value=value, ctx=ast.Load()) if value is node:
            return True
        case ast.Subscript(value=value, ctx=ast.Store()) as place if value is node:
            return isinstance(parents.get(place), ast.AugAssign)
        case ast.Attribute(attr=attr):
            return attr in _READING
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            return called in _LOOKING
        case ast.For(iter=head) | ast.comprehension(iter=head):
            return head is node
        case ast.FormattedValue():
            return True
        case _:
            return False


def _report(name: str, node: ast.Name, parents: dict[ast.AST, ast.AST]) -> Iterator[Finding]:
    place = parents[node]
    if not isinstance(place, ast.Subscript) or _allowed(place, parents):
        return
    item = spelled(place)
    better: str | None = None
    match parents.get(place):
        case ast.AugAssign():
            better = f"{item} = {name}.get({spelled(place.slice)}, 0)"
        case ast.Attribute(attr=attr) if attr in _FIRST:
            better = f"{name}.setdefault({spelled(place.slice)}, {_FIRST[attr]})"
    then = f" Write {better} first, or make it a defaultdict." if better else ""
    message = f"{name!r} is an empty dict, and nothing in the program puts a key into it: {item} fails.{then}"
    yield finding("missing-key", place.slice, message, better=better)


def _allowed(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the program deals with a key that is not there."""
    step: ast.AST | None = node
    while step is not None:
        match step:
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                names = [part.id for handler in handlers for part in _classes(handler.type)]
                if len(names) < len(handlers) or _CAUGHT & {*names}:
                    return True
            case ast.With():
                return True
        step = parents.get(step)
    return False


def _classes(node: ast.expr | None) -> list[ast.Name]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [part for part in parts if isinstance(part, ast.Name)]
