"""`itertools`, `functools` and `heapq`: iterators over items, and functions made of functions."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NONE, NUMBER, Iterating, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.objects import Made, Partial
from atc.check.library.aggregates import Handler, first_items
from atc.check.library.ordering import apply, check_keyed
from atc.check.library.reducing import reduced
from atc.check.narrowing.narrowing_calls import kept_by
from atc.check.operations.iteration import iterate


def _items_at(position: int, kind: str = "iterator") -> Handler:
    """An iterator over items of one of the arguments."""

    def handler(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
        if len(arguments.values) <= position:
            return ANY
        return Iterating(iterate(core, arguments.values[position], arguments.nodes[position]), kind)

    return handler


def _all_items(core: Core, arguments: Arguments) -> list[Type]:
    return [iterate(core, v, where) for v, where in zip(arguments.values, arguments.nodes, strict=True)]


def _kept(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`takewhile`, `dropwhile`, `filterfalse`: a test and items."""
    if len(arguments.values) != 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    apply(core, arguments.values[0], [item], node)
    # What stops or starts the run is judged by the test; the items are only known to have met it at some time.
    return Iterating(kept_by(core, arguments.values[0], item))


def _false(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) != 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    apply(core, arguments.values[0], [item], node)
    return Iterating(kept_by(core, arguments.values[0], item, truth=False))


def _grouped(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    key = arguments.named.get("key", arguments.values[1] if len(arguments.values) > 1 else NONE)
    label = item if key == NONE else apply(core, key, [item], node)
    return Iterating(Tuple((label, Iterating(item, "group"))))


def _chosen(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`combinations(items, n)` and `permutations(items, n)`."""
    item = first_items(core, arguments)
    match node.args:
        case [_, ast.Constant(value=int(count))] if 0 < count <= 8:
            return Iterating(Tuple((item,) * count))
        case _:
            return Iterating(ANY)


def _pairs(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    return Iterating(Tuple((item, item)))


def _product(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    items = _all_items(core, arguments)
    return Iterating(ANY if arguments.named else Tuple(tuple(items)))


def _starmap(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    if len(arguments.values) != 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    function = arguments.values[0]
    if isinstance(item, Tuple):
        return Iterating(apply(core, function, list(item.items), node))
    core.escape([function])
    return Iterating(ANY)


def _accumulated(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    core.escape(arguments.values[1:])
    return Iterating(item if len(arguments.values) == 1 and not arguments.named else ANY)


def _largest(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`heapq.nlargest(n, items, key=…)`."""
    if len(arguments.values) < 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    name = node.func.attr if isinstance(node.func, ast.Attribute) else "it"
    check_keyed(core, item, arguments.nodes[1], arguments, f"{name}()")
    return core.listing(node, item)


def _one_item(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    return first_items(core, arguments)


def _some_items(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    return core.listing(node, first_items(core, arguments))


def _mean(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    item = first_items(core, arguments)
    if any(isinstance(member, Made) for member in members(item)) or (item is ANY and core.decimals):
        return ANY
    return NUMBER


def _partial(_core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    if not arguments.values:
        return ANY
    return Partial(arguments.values[0], tuple(arguments.values[1:]), tuple(arguments.named.items()))


def _compared(_core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    """`cmp_to_key(function)`, as a key."""
    return Made("cmp_to_key", arguments.values[0]) if arguments.values else ANY


def _count(_core: Core, _node: ast.Call, _arguments: Arguments) -> Type:
    return Iterating(NUMBER, "count")


STREAMS: dict[str, Handler] = {
    **{f"itertools.{name}": _items_at(0) for name in ("islice", "cycle", "compress")},
    **{f"itertools.{name}": _kept for name in ("takewhile", "dropwhile")},
    **{f"itertools.{name}": _chosen for name in ("combinations", "permutations", "combinations_with_replacement")},
    "itertools.filterfalse": _false,
    "itertools.groupby": _grouped,
    "itertools.pairwise": _pairs,
    "itertools.product": _product,
    "itertools.starmap": _starmap,
    "itertools.accumulate": _accumulated,
    "itertools.count": _count,
    "functools.reduce": reduced,
    "functools.partial": _partial,
    "functools.cmp_to_key": _compared,
    **{f"heapq.{name}": _largest for name in ("nlargest", "nsmallest")},
    "random.choice": _one_item,
    "random.sample": _some_items,
    "concurrent.futures.as_completed": _items_at(0),
    "statistics.mode": _one_item,
}
"""By full name; each takes arguments of which it is certain which is which."""
