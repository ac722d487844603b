"""Arithmetic and comparison: None in them, and kinds that do not go together."""

from __future__ import annotations

import ast

from atc.check.known.containers import certain_keys, overlay
from atc.check.known.core import Core
from atc.check.known.folding import operated
from atc.check.known.kinds import (
    ANY,
    FLOAT,
    INT,
    NUMBER,
    STR,
    Array,
    Atom,
    Function,
    Listing,
    Mapped,
    Record,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import joined, members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Made
from atc.check.known.words import described
from atc.check.operations import moments
from atc.check.operations.decimals import operate_decimal
from atc.check.operations.iteration import iterate_one
from atc.check.report import spelled

_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


_MOMENTS: set[str | None] = {"date", "datetime", "time", "timedelta"}


def category(value: Type) -> str | None:
    """`number`, `str`, `list`, `dict`, `tuple` or a class of moments if every alternative is of it, else None."""
    found = {_category(member) for member in members(value)}
    return found.pop() if len(found) == 1 else None


def _category(member: Type) -> str | None:
    match member:
        case Atom("str"):
            return "str"
        case Atom("int" | "float" | "number" | "bool"):
            return "number"
        case Array() | Listing(kind="list"):
            return "list"
        case Record():
            return "dict"
        case Tuple(kind=kind):
            return kind
        case ToolRef() | Function():
            return "function"
        case Made("date" | "datetime" | "time" | "timedelta" as name):
            return name
        case _:
            return None


def operate(
    core: Core, op: ast.operator, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type, node: ast.AST
) -> Type:
    """The type of `left op right`."""
    kind = _operate(core, op, left_node, left, right_node, right, node)
    return kind if kind is ANY or isinstance(kind, Listing) else operated(op, left, right) or kind


def _operate(
    core: Core, op: ast.operator, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type, node: ast.AST
) -> Type:
    if isinstance(op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.MatMult | ast.LShift | ast.RShift):
        return _merged(core, op, left, right, node)
    text = isinstance(op, ast.Mod) and category(left) in ("str", None)
    left = need_value(core, left, left_node, "arithmetic fails on None")
    if not text:
        right = need_value(core, right, right_node, "arithmetic fails on None")
    kinds = category(left), category(right)
    if isinstance(left, Made) or isinstance(right, Made):
        exact = operate_decimal(core, op, left_node, left, right_node, right, node)
        if exact is not None:
            return exact
    if kinds[0] is None or kinds[1] is None:
        return STR if text and kinds[0] == "str" else _numeric(op, left, right) if kinds == ("number",) * 2 else ANY
    if _MOMENTS & {kinds[0], kinds[1]}:
        result = moments.operate(op, kinds[0], kinds[1])
        if result is None:
            _report(core, op, left_node, left, right_node, right, node)
        return result or ANY
    if not _fits(op, kinds[0], kinds[1]):
        _report(core, op, left_node, left, right_node, right, node)
        return ANY
    return _result(core, op, left, right, kinds[0], kinds[1], node)


def _fits(op: ast.operator, left: str, right: str) -> bool:
    match op:
        case ast.Add():
            return left == right and left != "dict"
        case ast.Mult():
            return "number" in (left, right) and "dict" not in (left, right)
        case ast.Mod():
            return left == "str" or left == right == "number"
        case ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow():
            return left == right == "number"
        case _:
            return "function" not in (left, right)


def _result(core: Core, op: ast.operator, left: Type, right: Type, kind: str, other: str, node: ast.AST) -> Type:
    if kind == other == "number":
        return _numeric(op, left, right)
    if "str" in (kind, other):
        return STR
    if kind == other == "list" and isinstance(op, ast.Add):
        return core.listing(node, joined(iterate_one(core, m) for m in (*members(left), *members(right))))
    if isinstance(op, ast.Mult) and "list" in (kind, other):
        return core.listing(node, joined(iterate_one(core, m) for m in members(left if kind == "list" else right)))
    return ANY


def _numeric(op: ast.operator, left: Type, right: Type) -> Type:
    if isinstance(op, ast.Div):
        return FLOAT
    names = {member.name for value in (left, right) for member in members(value) if isinstance(member, Atom)}
    if names <= {"int", "bool"}:
        return NUMBER if isinstance(op, ast.Pow) else INT
    return FLOAT if "float" in names else NUMBER


def _merged(core: Core, op: ast.operator, left: Type, right: Type, node: ast.AST) -> Type:
    """`a | b` and the like on sets, dicts and numbers."""
    both = (*members(left), *members(right))
    if category(left) == category(right) == "number":
        return INT
    dicts = [isinstance(member, Record | Mapped) for member in both]
    # What stands beside a dict is one too.
    if isinstance(op, ast.BitOr) and any(dicts) and all(dicts[i] or both[i] is ANY for i in range(len(both))):
        made = core.mapped(node)
        result = overlay(core, made, [(None, left), (None, right)])
        core.begin(made.cell, certain_keys(core, left) | certain_keys(core, right))
        return result
    if all(isinstance(member, Listing) and member.kind in ("set", "frozenset") for member in both):
        kept = members(left) if isinstance(op, ast.BitAnd) else both
        return core.listing(node, joined(iterate_one(core, member) for member in kept), "set")
    core.escape([left, right])
    return ANY


def _report(
    core: Core,
    op: ast.AST,
    left_node: ast.expr,
    left: Type,
    right_node: ast.expr,
    right: Type,
    node: ast.AST,
) -> None:
    if core.catches("TypeError"):
        return
    kinds = category(left), category(right)
    better = None
    if kinds in (("str", "number"), ("number", "str")):
        text, number = (left_node, right_node) if kinds[0] == "str" else (right_node, left_node)
        better = (
            f"str({spelled(number)})"
            if isinstance(op, ast.Add) and isinstance(text, ast.Constant | ast.JoinedStr)
            else None
        )
        better = better or f"float({spelled(text)})"
    then = f" Write {better}." if better else ""
    symbol = _SYMBOLS.get(type(op), "this")
    message = (
        f"{spelled(left_node)} is {described(members(left)[0])} and {spelled(right_node)} is "
        f"{described(members(right)[0])}: `{symbol}` does not take both.{then}"
    )
    core.report("wrong-operand", node, message, better=better)


def check_ordered(
    core: Core, op: ast.cmpop, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type, node: ast.AST
) -> None:
    """Report operands of `<` and the like that have no order between them."""
    kinds = category(left), category(right)
    if None in kinds:
        return
    if kinds[0] != kinds[1] or kinds[0] == "dict":
        _report(core, op, left_node, left, right_node, right, node)
