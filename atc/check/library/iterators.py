"""Builtins that go through items: `sorted`, `zip`, `enumerate`, `map`, `filter` and the like."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    STR,
    Iterating,
    Library,
    Null,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, joined, members, not_none
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.library.aggregates import Handler, first_items
from atc.check.library.ordering import apply, check_keyed, element_of
from atc.check.narrowing.narrowing_calls import kept_by
from atc.check.narrowing.turns import counted, each_item, range_of
from atc.check.operations.iteration import iterate, iterate_one, some_item
from atc.check.operations.operators import category
from atc.check.report import spelled
from atc.check.tools.calls import report_mapped


def _sorted(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    if arguments.first() is not None:
        check_keyed(core, item, arguments.nodes[0], arguments, "sorted()")
        item = each_item(arguments.values[0], item)
    return core.listing(node, item)


def _iterator(kind: str) -> Handler:
    def handler(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
        item = first_items(core, arguments)
        item = each_item(arguments.values[0], item) if kind == "reversed" and arguments.values else item
        return Iterating(item, kind)

    return handler


def _iter(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`iter(items)`, or `iter(function, last)`, which calls until `last` comes."""
    if len(arguments.values) == 2:
        return Iterating(apply(core, arguments.values[0], []))
    return _iterator("iterator")(core, node, arguments)


def _enumerate(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    start = arguments.values[1] if len(arguments.values) > 1 else arguments.named.get("start", ANY)
    item = first_items(core, arguments)
    if arguments.values:
        item = each_item(arguments.values[0], item)
    return Iterating(Tuple((counted(start) or INT, item)), "enumerate")


def _zip(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    pairs = zip(arguments.values, arguments.nodes, strict=True)
    return Iterating(Tuple(tuple(iterate(core, value, where) for value, where in pairs)), "zip")


def _any(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    first_items(core, arguments)
    return BOOL


def _zip_longest(_core: Core, _node: ast.Call, _arguments: Arguments) -> Type:
    return Iterating(ANY)


def _range(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    for value, where in zip(arguments.values, arguments.nodes, strict=True):
        need_value(core, value, where, "range() fails on None")
    return Iterating(range_of(arguments.values) or INT, "range")


def _next(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    if not arguments.values:
        return ANY
    kind = category(arguments.values[0])
    if kind in ("list", "dict", "str", "tuple", "number") and not core.catches("TypeError"):
        what = spelled(arguments.nodes[0])
        better = f"iter({what})" if kind != "number" else None
        then = f" Write next({better})." if better else ""
        message = f"next() takes an iterator, and {what} is {described(members(arguments.values[0])[0])}.{then}"
        core.report("wrong-operand", arguments.nodes[0], message, better=better)
        return ANY
    found = joined(
        settled(some_item(m.item)) if isinstance(m, Iterating) else ANY for m in members(arguments.values[0])
    )
    return join(found, *arguments.values[1:])


def _map(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) < 2:
        return ANY
    function = arguments.values[0]
    items = [iterate(core, v, n) for v, n in zip(arguments.values[1:], arguments.nodes[1:], strict=True)]
    if isinstance(function, ToolRef):
        report_mapped(core, function, node)
    if isinstance(function, Library):
        known = {"int": INT, "float": FLOAT, "str": STR}.get(function.name, ANY)
        if function.name in ("int", "float"):
            need_value(core, items[0], element_of(arguments.nodes[1]), f"{function.name}() fails on None")
        return Iterating(known, "map")
    return Iterating(apply(core, function, items, None if isinstance(function, ToolRef) else node), "map")


def _filter(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) != 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    function = arguments.values[0]
    if isinstance(function, Null):
        return Iterating(not_none(item), "filter")
    apply(core, function, [item], node)
    return Iterating(kept_by(core, function, item), "filter")


def _chain(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    pairs = zip(arguments.values, arguments.nodes, strict=True)
    return Iterating(joined(iterate(core, value, where) for value, where in pairs), "itertools.chain")


def _chain_all(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    inner = first_items(core, arguments)
    return Iterating(joined(iterate_one(core, member) for member in members(inner)), "itertools.chain")


ITERATORS: dict[str, Handler] = {
    "sorted": _sorted,
    "any": _any,
    "all": _any,
    "reversed": _iterator("reversed"),
    "iter": _iter,
    "enumerate": _enumerate,
    "zip": _zip,
    "itertools.zip_longest": _zip_longest,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_all,
    "range": _range,
    "next": _next,
    "map": _map,
    "filter": _filter,
}
