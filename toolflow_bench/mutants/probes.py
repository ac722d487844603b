"""A program rewritten so that it tells where its values came from; the rewritten one runs in the sandbox as any does.

Every object, list and telling text or number of a response is known by identity, so a value is traced through any
assignment, loop or function that passes it on unchanged. None and small numbers have no identity: they are traced
where they are read from an object that has.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from protocols.parsing import parse
from toolflow_bench.mutants.edit import numbered

MARK = "~~ what the probes saw: "
"""Begins the line that the rewritten program prints last."""

MOST = 24
"""Values that are told of one expression, and as many again of None, False and empty ones."""

PRELUDE = f"""
def _mutants_probes():
    from json import dumps
    from builtins import print as show

    holding = list, dict, set, tuple

    at, formed, kept, latest, seen, sites, counts = {{}}, {{}}, [], {{}}, [], [], {{"order": 0}}

    def learn(value, call):
        stack = [((), value)]
        while stack:
            path, inner = stack.pop()
            if isinstance(inner, dict):
                stack += [((*path, key), one) for key, one in inner.items()]
            elif isinstance(inner, list):
                stack += [((*path, i), one) for i, one in enumerate(inner)]
            elif not (isinstance(inner, str) and len(inner) > 1 or isinstance(inner, float)):
                if not (isinstance(inner, int) and abs(inner) > 300):
                    continue
            at[id(inner)] = call, path
            kept.append(inner)

    def brief(value):
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return value[:200]
        return [type(value).__name__, len(value) if isinstance(value, holding) else None]

    def note(number, value, origin):
        counts["order"] += 1
        latest[number] = origin
        nothing = value is None or value is False or (isinstance(value, holding) and not value)
        key = number, nothing
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= {MOST}:
            seen.append([number, counts["order"], *(origin or (None, None)), brief(value)])
        return value

    def value_at(number, value):
        return note(number, value, at.get(id(value)) or formed.get(id(value)))

    def item_at(number, container, index):
        value = container[index]
        origin = None if id(value) in at else at.get(id(container))
        if origin is not None and isinstance(index, (str, int)) and not isinstance(index, bool):
            step = index % len(container) if isinstance(index, int) and isinstance(container, list) else index
            return note(number, value, (origin[0], (*origin[1], step)))
        return note(number, value, at.get(id(value)) or formed.get(id(value)))

    def made_at(number, source, value):
        origin = at.get(id(value)) or formed.get(id(value)) or latest.get(source)
        if origin is not None and isinstance(value, holding) and id(value) not in at:
            formed[id(value)] = origin
            kept.append(value)
        return note(number, value, origin)

    def call_at(number, function, /, **arguments):
        call = len(sites)
        sites.append(number)
        try:
            result = function(**arguments)
        except Exception:
            note(number, "failed", (call, ()))
            raise
        learn(result, call)
        return note(number, result, (call, ()))

    def told():
        show()
        show({MARK!r} + dumps([sites, seen]))

    return value_at, item_at, made_at, call_at, told


_mutants_value, _mutants_item, _mutants_made, _mutants_call, _mutants_told = _mutants_probes()
"""

_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.IfExp, ast.Compare, ast.BoolOp, ast.GeneratorExp)
_COPIES = frozenset({"list", "sorted", "set", "tuple", "reversed", "dict"})


def probed(source: str, tools: Mapping[str, object]) -> str:
    """`source` with a probe around every expression, which reports under the node's number in the original's tree.

    Raises:
        SyntaxError: it is no program.
    """
    tree = parse(source)
    numbers = {id(node): number for number, node in enumerate(numbered(tree))}
    changed = ast.fix_missing_locations(_Probing(numbers, frozenset(tools)).visit(tree))
    return f"{PRELUDE}\n{ast.unparse(changed)}\n_mutants_told()\n"


class _Probing(ast.NodeTransformer):
    def __init__(self, numbers: Mapping[int, int], tools: frozenset[str]) -> None:
        self._numbers, self._tools = numbers, tools

    def visit(self, node: ast.AST) -> Any:
        """The node with probes within and around it."""
        if isinstance(node, ast.pattern):
            return node
        number = self._numbers.get(id(node))
        if isinstance(node, ast.Call):
            return self._call(node, number)
        source = self._source(node)
        super().generic_visit(node)
        if number is None or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        match node:
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                return _probe("item", number, value, index)
            case ast.Subscript() | ast.ListComp() | ast.SetComp() | ast.DictComp() if source is not None:
                return _probe("made", number, ast.Constant(source), node)
            case _ if isinstance(node, _PLAIN):
                return _probe("value", number, node)
        return node

    def _source(self, node: ast.AST) -> int | None:
        """The number of the expression whose items a new container has."""
        match node:
            case ast.ListComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
                return self._numbers.get(id(first.iter))
            case ast.DictComp(generators=[first, *_]):
                return self._numbers.get(id(first.iter))
            case ast.Subscript(value=value) | ast.Call(func=ast.Name(), args=[value, *_]):
                return self._numbers.get(id(value))
        return None

    def _call(self, node: ast.Call, number: int | None) -> ast.expr:
        source = self._source(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if number is None or name in ("locals", "globals", "vars", "super"):
            return node
        if name in self._tools and not node.args:
            call = _probe("call", number, node.func)
            call.keywords = node.keywords
            return call
        if name in _COPIES and source is not None:
            return _probe("made", number, ast.Constant(source), node)
        return _probe("value", number, node)


def _probe(kind: str, number: int, *parts: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(f"_mutants_{kind}", ast.Load()), [ast.Constant(number), *parts], [])
