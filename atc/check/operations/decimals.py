"""`Decimal`, which goes with whole numbers and its own kind only."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.kinds import ANY, STR, Atom, Type
from atc.check.known.lattice import members
from atc.check.known.objects import Made
from atc.check.known.words import described
from atc.check.report import spelled

DECIMAL = Made("Decimal")


def operate_decimal(
    core: Core, op: ast.operator, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type, node: ast.AST
) -> Type | None:
    """The type of `left op right` where one of them is a Decimal; None where none is."""
    if left == DECIMAL:
        other, other_node = right, right_node
    elif right == DECIMAL:
        other, other_node = left, left_node
        if isinstance(op, ast.Mod) and all(isinstance(m, Atom) and m.name == "str" for m in members(left)):
            return STR
    else:
        return None
    return DECIMAL if other == DECIMAL else _with(core, other, other_node, node)


def _with(core: Core, other: Type, other_node: ast.expr, node: ast.AST) -> Type:
    names = {member.name if isinstance(member, Atom) else "" for member in members(other)}
    if names <= {"int", "bool"}:
        return DECIMAL
    if "" in names or not names <= {"int", "bool", "float", "number", "str"}:
        return ANY
    if not core.catches("TypeError"):
        text = spelled(other_node)
        certain = names <= {"float", "str"}
        what = "is" if certain else "may be"
        kind = "a float" if names & {"float", "number"} else described(members(other)[0])
        message = f"{text} {what} {kind}, which no Decimal takes in arithmetic. Write Decimal(str({text}))."
        core.report("wrong-operand", node, message, better=f"Decimal(str({text}))", certain=certain)
    return DECIMAL


def check_decimal_sum(core: Core, item: Type, start: Type, where: ast.expr) -> None:
    """`sum(prices, Decimal(0))`."""
    if start == DECIMAL and item != DECIMAL:
        _with(core, item, where, where)
