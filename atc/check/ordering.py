"""Ordering items, as `sorted`, `min`, `max` and `list.sort` do: None among them fails."""

from __future__ import annotations

import ast

from atc.check.access import read
from atc.check.arguments import Arguments
from atc.check.core import Core
from atc.check.functions import call_function
from atc.check.iteration import some_item
from atc.check.kinds import ANY, NONE, Function, Getter, Record, ToolRef, Tuple, Type
from atc.check.lattice import members
from atc.check.nulls import need_value
from atc.check.objects import Made
from atc.check.operators import category
from atc.check.report import spelled


def check_keyed(core: Core, item: Type, where: ast.expr, arguments: Arguments, use: str) -> None:
    """Check the values by which items are ordered: those of `key=`, or the items themselves."""
    key = arguments.named.get("key")
    if key is None or key == NONE:
        item = need_value(core, item, element_of(where), f"{use} fails on None")
        _check_order(core, item, where, f"the items of {spelled(where)}", use)
        return
    if isinstance(key, Made) and key.name == "cmp_to_key":
        apply(core, key.inner, [item, item])
        return
    result = apply(core, key, [item])
    place = key.node.body if isinstance(key, Function) and isinstance(key.node, ast.Lambda) else None
    place = key.node if isinstance(key, Getter) else place
    if isinstance(result, Tuple) and result.items and isinstance(place, ast.Tuple):
        result, place = result.items[0], place.elts[0]
    if place is not None:
        result = need_value(core, result, place, f"{use} fails on None")
        _check_order(core, result, place, spelled(place), use)


def _check_order(core: Core, value: Type, place: ast.expr, what: str, use: str) -> None:
    """Objects have no order of their own."""
    if category(value) != "dict" or core.catches("TypeError", "Exception", "BaseException"):
        return
    first = members(value)[0]
    keys = list(first.shape.properties) if isinstance(first, Record) else []
    then = f" Say which value to go by: key=lambda x: x[{keys[0]!r}]." if keys else ""
    core.report("wrong-operand", place, f"{what} are objects, which {use} cannot order.{then}")


def apply(core: Core, function: Type, values: list[Type]) -> Type:
    """What calling `function` with these gives; for anything but the program's own functions, unknown."""
    values = [some_item(value) for value in values]
    results: list[Type] = []
    for member in members(function):
        match member:
            case Function():
                results.append(call_function(core, member, values, {}))
            case ToolRef(alias):
                results.append(core.tool_result(alias))
            case Getter(key, node) if len(values) == 1:
                results.append(read(core, values[0], key, node))
            case _:
                results.append(ANY)
    return results[0] if len(results) == 1 else ANY


def element_of(node: ast.expr) -> ast.expr:
    """The expression that gives the items, where `node` is a comprehension."""
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) else node
