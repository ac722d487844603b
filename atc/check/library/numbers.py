"""Functions of numbers in the standard library: what they give, and None among what they take."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, BOOL, FLOAT, INT, NUMBER, NUMBERS, Atom, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.library.aggregates import Handler, first_items
from atc.check.library.ordering import element_of
from atc.check.operations.operators import category
from atc.check.report import spelled


def _of_numbers(result: Type) -> Handler:
    """`math.sqrt`, `math.floor` and the like, whose arguments are numbers."""

    def handler(core: Core, node: ast.Call, arguments: Arguments) -> Type:
        for value, where in zip(arguments.values, arguments.nodes, strict=True):
            need_value(core, value, where, f"{_spelled(node)}() fails on None")
        return result

    return handler


def _of_items(result: Type) -> Handler:
    """`statistics.mean` and the like, which compute something of the items of their first argument."""

    def handler(core: Core, node: ast.Call, arguments: Arguments) -> Type:
        item = first_items(core, arguments)
        if arguments.nodes:
            place = element_of(arguments.nodes[0])
            item = need_value(core, item, place, f"{_spelled(node)}() fails on None")
            if category(item) in ("str", "list", "dict") and not core.catches("TypeError"):
                what = f"an item of {spelled(place)} is {described(members(item)[0])}"
                core.report("wrong-operand", place, f"{_spelled(node)}() takes numbers, and {what}.")
        # Of fractions, decimals or durations these give such again.
        plain = all(isinstance(member, Atom) for member in members(item))
        return result if plain or result is FLOAT else ANY

    return handler


def _divided(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`divmod(a, b)`."""
    _of_numbers(ANY)(core, node, arguments)
    names = {getattr(m, "name", "") if isinstance(m, Atom) else "" for v in arguments.values for m in members(v)}
    if not names <= set(NUMBERS):
        return ANY
    return Tuple((INT, INT) if names <= {"int", "bool"} else (NUMBER, NUMBER))


def _spelled(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "it")


COMPUTED: dict[str, Handler] = {
    "divmod": _divided,
    "pow": _of_numbers(NUMBER),
    **dict.fromkeys(["math.floor", "math.ceil", "math.trunc"], _of_numbers(INT)),
    **dict.fromkeys(["math.isnan", "math.isclose", "math.isfinite"], _of_numbers(BOOL)),
    **dict.fromkeys(
        ["math.sqrt", "math.log", "math.log10", "math.log2", "math.exp", "math.hypot", "math.radians", "math.degrees"],
        _of_numbers(FLOAT),
    ),
    **dict.fromkeys(["math.sin", "math.cos", "math.tan", "math.asin", "math.atan2", "math.fabs"], _of_numbers(FLOAT)),
    **dict.fromkeys(["math.fsum", "statistics.fmean"], _of_items(FLOAT)),
    **dict.fromkeys(["statistics.mean", "statistics.median"], _of_items(NUMBER)),
    **dict.fromkeys(["statistics.median_low", "statistics.median_high"], _of_items(NUMBER)),
    **dict.fromkeys(["statistics.stdev", "statistics.pstdev"], _of_items(FLOAT)),
    **dict.fromkeys(["statistics.variance", "statistics.pvariance"], _of_items(NUMBER)),
}
"""By the name of a function."""
