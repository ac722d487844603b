"""Ordering items, as `sorted`, `min`, `max` and `list.sort` do: None among them fails."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.functions.functions import call_function
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NEVER, NONE, Function, Getter, Mapped, Record, ToolRef, Tuple, Type, Union
from atc.check.known.lattice import join, members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Bound, Looking, Made, Partial
from atc.check.library.getters import apply_getter, sole_place
from atc.check.operations.iteration import some_item
from atc.check.operations.operators import category
from atc.check.report import spelled
from atc.check.source.memo import walk
from atc.check.tools.calls import report_passed


def check_keyed(core: Core, item: Type, where: ast.expr, arguments: Arguments, use: str) -> None:
    """Check the values by which items are ordered: those of `key=`, or the items themselves."""
    key = arguments.named.get("key")
    if key is None or key == NONE:
        item = need_value(core, item, element_of(where), f"{use} fails on None")
        _check_order(core, item, where, f"the items of {spelled(where)}", use)
        return
    if isinstance(key, Made) and key.name == "cmp_to_key":
        apply(core, key.inner, [item, item], where)
        return
    result = apply(core, key, [item], where)
    place = _given(key.node) if isinstance(key, Function) else None
    place = sole_place(key) or place
    place = _looked_up(where) if isinstance(key, Looking) else place
    if isinstance(result, Tuple) and result.items and isinstance(place, ast.Tuple):
        result, place = result.items[0], place.elts[0]
    if place is not None:
        result = need_value(core, result, place, f"{use} fails on None")
        _check_order(core, result, place, spelled(place), use)


def _given(function: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """The expression that a function gives, where there is only one."""
    if isinstance(function, ast.Lambda):
        return function.body
    returns = [part.value for part in walk(function) if isinstance(part, ast.Return)]
    return returns[0] if len(returns) == 1 else None


def _looked_up(where: ast.expr) -> ast.expr:
    """What `key=d.get` goes by, where the keys of `d` are ordered."""
    owner = where.func.value if isinstance(where, ast.Call) and isinstance(where.func, ast.Attribute) else where
    return ast.copy_location(ast.Subscript(owner, ast.Name("…"), ast.Load()), where)


def _check_order(core: Core, value: Type, place: ast.expr, what: str, use: str) -> None:
    """Objects have no order of their own."""
    if category(value) != "dict" or core.catches("TypeError"):
        return
    first = members(value)[0]
    keys = list(first.shape.properties) if isinstance(first, Record) else []
    then = f" Say which value to go by: key=lambda x: x[{keys[0]!r}]." if keys else ""
    core.report("wrong-operand", place, f"{what} are objects, which {use} cannot order.{then}")


def apply(core: Core, function: Type, values: list[Type], call: ast.expr | None = None) -> Type:
    """What calling `function` with these gives; for anything but the program's own functions, unknown.

    `call` is where that they do not fit its parameters is reported.
    """
    values = [some_item(value) for value in values]
    if isinstance(function, ToolRef) and values and call is not None:
        report_passed(core, function, call)
    call = None if isinstance(function, Union) else call
    results: list[Type] = []
    for member in members(function):
        match member:
            case Bound(method, owner):
                results.append(call_function(core, method, [owner, *values], {}, call=call))
            case Partial(Function() as inner, before, named):
                results.append(call_function(core, inner, [*before, *values], dict(named), call=call))
            case Function():
                results.append(call_function(core, member, values, {}, call=call))
            case ToolRef(alias):
                results.append(core.tool_result(alias))
            case Looking(Mapped(cell)) if cell.default is None:
                found = join(*cell.keys.values(), cell.value)
                results.append(ANY if found is NEVER else found)
            case Getter() if len(values) == 1:
                results.append(apply_getter(core, member, values[0]))
            case _:
                results.append(ANY)
    return results[0] if len(results) == 1 else ANY


def element_of(node: ast.expr) -> ast.expr:
    """The expression that gives the items, where `node` is a comprehension."""
    return node.elt if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) else node
