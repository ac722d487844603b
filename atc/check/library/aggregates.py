"""Builtins that compute one value: `len`, `sum`, `min`, `round` …"""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, INT, NUMBER, SIZED, Atom, Iterating, Record, Type
from atc.check.known.lattice import join, members, not_none
from atc.check.known.nulls import need_value
from atc.check.known.objects import Made
from atc.check.known.words import described
from atc.check.library.ordering import check_keyed, element_of
from atc.check.operations.decimals import check_decimal_sum
from atc.check.operations.iteration import iterate, list_keys
from atc.check.operations.operators import category
from atc.check.report import spelled

Handler = Callable[[Core, ast.Call, Arguments], Type]


_ORDERED: set[str | None] = {"number", "str", "list", "tuple", "dict", "date", "datetime", "timedelta"}


def first_items(core: Core, arguments: Arguments) -> Type:
    """The items of the first argument."""
    first = arguments.first()
    return ANY if first is None else iterate(core, first[0], first[1])


def length(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`len(x)`."""
    first = arguments.first()
    if first is not None:
        value = need_value(core, first[0], first[1], "len() fails on None")
        lazy = isinstance(value, Iterating) and value.kind not in SIZED
        wrong = category(value) in ("number", "function") or lazy
        if wrong and not core.catches("TypeError"):
            what = spelled(first[1])
            core.report("not-a-list", node, f"{what} is {described(members(value)[0])}; it has no len().")
        if isinstance(value, Record) and value.shape.closed and len(lists := list_keys(value)) == 1:
            what = spelled(first[1])
            better = f"{what}[{lists[0]!r}]"
            message = f"len({what}) counts its keys: {value.origin} is an object, not a list. Write len({better})."
            core.report("not-a-list", first[1], message, tool=value.origin.tool, better=better)
    return INT


def to_number(result: Type) -> Handler:
    """`int`, `float` and the like, which give `result`."""

    def handler(core: Core, node: ast.Call, arguments: Arguments) -> Type:
        first = arguments.first()
        if first is None:
            return result
        name = node.func.id if isinstance(node.func, ast.Name) else "it"
        value = need_value(core, first[0], first[1], f"{name}() fails on None")
        wrong = ("dict", "list", "str") if name in ("round", "abs") else ("dict", "list")
        if category(value) in wrong and not core.catches("TypeError"):
            what = f"{spelled(first[1])} is {described(members(value)[0])}"
            core.report("wrong-operand", first[1], f"{what}; {name}() does not take it.")
        return result

    return handler


def rounded(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`round(x)`, `round(x, n)`."""
    value = to_number(NUMBER)(core, node, arguments)
    first = arguments.values[0] if arguments.values else ANY
    if any(isinstance(member, Made) for member in members(first)) or (first is ANY and core.decimals):
        # A Decimal is rounded to a Decimal.
        return ANY
    if len(arguments.values) == 1 and not arguments.named:
        return INT
    # With a number of digits the kind stays: 3.66 becomes 3.7, and 3 stays 3.
    kinds = [m for m in members(not_none(first)) if isinstance(m, Atom)] if arguments.values else []
    digits = arguments.nodes[1] if len(arguments.nodes) == 2 else None
    if not isinstance(digits, ast.Constant) or not isinstance(digits.value, int) or digits.value < 1:
        return value
    same = kinds and all(kind.name in ("int", "float") for kind in kinds)
    return join(*(Atom(kind.name) for kind in kinds)) if same else value


def absolute(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`abs(x)`."""
    to_number(NUMBER)(core, node, arguments)
    value = not_none(arguments.values[0]) if arguments.values else ANY
    return Atom(value.name) if isinstance(value, Atom) else ANY


def total(core: Core, _node: ast.Call, arguments: Arguments) -> Type:
    """`sum(x)`."""
    first = arguments.first()
    if first is None:
        return ANY
    item = iterate(core, first[0], first[1])
    where = element_of(first[1])
    item = need_value(core, item, where, "sum() fails on None")
    for start in (*arguments.values[1:], *arguments.named.values()):
        check_decimal_sum(core, item, start, where)
        if isinstance(start, Made):
            return ANY
    if category(item) in ("str", "dict", "list", "tuple") and len(arguments.values) == 1 and not arguments.named:
        if not core.catches("TypeError"):
            kind = described(members(item)[0])
            core.report("wrong-operand", where, f"{spelled(where)} is {kind}; sum() adds numbers only.")
        return ANY
    names = {member.name for member in members(item) if isinstance(member, Atom)}
    if category(item) != "number":
        return ANY
    return INT if names <= {"int", "bool"} else NUMBER


def extreme(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`min` and `max`, of several values or of the items of one."""
    name = node.func.id if isinstance(node.func, ast.Name) else "it"
    if len(arguments.values) != 1:
        values = [
            need_value(core, v, n, f"{name}() fails on None")
            for v, n in zip(arguments.values, arguments.nodes, strict=True)
        ]
        if "key" not in arguments.named:
            _check_together(core, node, values, arguments.nodes, name)
        return join(*values) if "key" not in arguments.named else ANY
    item = first_items(core, arguments)
    check_keyed(core, item, arguments.nodes[0], arguments, f"{name}()")
    # Without a key the items were compared, so none of them is None.
    item = item if "key" in arguments.named else not_none(item)
    default = arguments.named.get("default")
    return item if default is None else join(item, default)


def _check_together(core: Core, node: ast.Call, values: list[Type], nodes: list[ast.expr], name: str) -> None:
    """Values of several kinds have no order."""
    kinds = {category(value) for value in values}
    if len(kinds) > 1 and kinds <= _ORDERED and not core.catches("TypeError"):
        pairs = zip(values, nodes, strict=True)
        what = " and ".join(f"{spelled(place)} is {described(members(value)[0])}" for value, place in pairs)
        core.report("wrong-operand", node, f"{name}() cannot order these: {what}.")
