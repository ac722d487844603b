"""`wrong_unit`: a number in another unit than the one that its name speaks of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from protocols.schema import resolve, types
from toolflow_bench.mutants.making import Edit, empty_answers, in_response, mutant_of, of_argument
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold, Seen


class _Unit(NamedTuple):
    other: str
    factor: float
    """How many of `other` make one."""


UNITS: Mapping[str, tuple[_Unit, ...]] = {
    "minutes": (_Unit("seconds", 60), _Unit("hours", 1 / 60)),
    "hours": (_Unit("minutes", 60),),
    "seconds": (_Unit("milliseconds", 1000),),
    "miles": (_Unit("kilometres", 1.609), _Unit("metres", 1609)),
    "km": (_Unit("metres", 1000), _Unit("miles", 0.6214)),
    "ft": (_Unit("metres", 0.3048),),
    "in": (_Unit("centimetres", 2.54),),
    "lb": (_Unit("kilograms", 0.4536),),
    "mph": (_Unit("kilometres per hour", 1.609),),
    "kt": (_Unit("kilometres per hour", 1.852), _Unit("miles per hour", 1.151)),
    "usd": (_Unit("cents", 100), _Unit("thousands", 0.001), _Unit("millions", 1e-6)),
    "percent": (_Unit("shares", 0.01),),
    "f": (_Unit("degrees Celsius", 5 / 9),),
}
"""By the last word of a field's or an argument's name."""


def wrong_units(gold: Gold, _rng: object) -> Iterator[Mutant]:
    """A mutant for each unit that may be confused.

    `argument`: what an argument is given. `compared`: the number that a field of a response is compared with.
    """
    for site in gold.tool_calls():
        for keyword in site.keywords:
            if keyword.arg is not None and isinstance(_number(keyword.value), int | float):
                yield from _of_argument(gold, site, keyword.arg, keyword.value)
    for node in ast.walk(gold.tree):
        match node:
            case ast.Compare(left=field, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[bound]) if (
                isinstance(_number(bound), int | float)
            ):
                yield from _compared(gold, field, bound)


def _of_argument(gold: Gold, site: ast.Call, argument: str, given: ast.expr) -> Iterator[Mutant]:
    tool = gold.toolbox[gold.alias(site) or ""]
    schema = resolve(tool.protocol.parameters.get(tool.arguments.get(argument, ""), {}), tool.protocol.input_schema)
    once = len(gold.values(site)) == 1
    for unit in UNITS.get(argument.rpartition("_")[2], ()):
        text = _converted(_number(given), unit, whole="number" not in types(schema))
        edit = Edit(node=given, text=text, variant="argument")
        truth = of_argument(gold, site, argument, sure=once)
        made = mutant_of(gold, "wrong_unit", edit, truth, empty_answers(gold, site))
        if made is not None:
            yield made


def _compared(gold: Gold, field: ast.expr, bound: ast.expr) -> Iterator[Mutant]:
    seen: list[Seen] = [one for one in gold.traced(field) if one.path]
    if not seen or not isinstance(seen[0].path[-1], str):
        return
    first = seen[0]
    assert first.call is not None
    truth = in_response(gold, first.call, first.path, sure=len({one.call for one in gold.values(field)}) == 1)
    for unit in UNITS.get(str(first.path[-1]).rpartition("_")[2], ()):
        text = _converted(_number(bound), unit, whole=False)
        made = mutant_of(gold, "wrong_unit", Edit(node=bound, text=text, variant="compared"), truth)
        if made is not None:
            yield made


def _number(node: ast.expr) -> int | float | None:
    """The number that an expression writes out."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


def _converted(value: float | None, unit: _Unit, *, whole: bool) -> str:
    number = float(value or 0) * unit.factor
    return repr(max(round(number), 1) if whole or number.is_integer() else round(number, 4)) if value else "0"
