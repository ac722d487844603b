"""Types of the results of arithmetic and comparisons, and findings about unsuitable operands."""

from __future__ import annotations

import ast

from atc.core.messages import find_nearest, format_expression, format_list
from atc.pipeline.check import types as t
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import category, constant, describe_value
from atc.pipeline.check.patterns import can_match
from atc.pipeline.check.schema import items_of
from atc.pipeline.check.subscripts import need_value

_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def binary(
    core: Interpreter,
    op: ast.operator,
    left_node: ast.expr,
    left: t.Type,
    right_node: ast.expr,
    right: t.Type,
    node: ast.AST,
) -> t.Type:
    """Return the type of an operation such as `left + right`.

    Operands that the operator does not accept are reported.
    """
    if isinstance(op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.MatMult | ast.LShift | ast.RShift):
        core.escape([left, right])
        return t.INT if category(left) == category(right) == "number" else t.ANY
    formats = isinstance(op, ast.Mod) and category(left) in ("str", None)
    left = need_value(core, left, left_node, "arithmetic fails on None")
    if not formats:
        right = need_value(core, right, right_node, "arithmetic fails on None")
    kinds = category(left), category(right)
    if kinds[0] is None or kinds[1] is None:
        return t.STR if formats and kinds[0] == "str" else t.ANY
    if _is_supported(op, kinds[0], kinds[1]):
        return _arithmetic_type(core, op, left, right, node)
    _report(core, op, left_node, left, right_node, right, node)
    return t.ANY


def _arithmetic_type(
    core: Interpreter, op: ast.operator, left: t.Type, right: t.Type, node: ast.AST
) -> t.Type:
    """Return the type of the result of an arithmetic operation whose operands are acceptable."""
    kinds = {category(left), category(right)}
    if kinds == {"number"}:
        return _number(op, left, right)
    if "str" in kinds:
        return t.STR
    if "list" in kinds and isinstance(op, ast.Add | ast.Mult):
        lists = [value for value in (left, right) if category(value) == "list"]
        return core.add_listing_item(node, t.join_all(map(items_of, lists)))
    return t.ANY


def _is_supported(op: ast.operator, left: str, right: str) -> bool:
    match op:
        case ast.Add():
            return left == right and left not in ("dict", "function")
        case ast.Mult():
            return "number" in (left, right) and not {"dict", "function"} & {left, right}
        case ast.Mod():
            return left == "str" or left == right == "number"
        case _:
            return left == right == "number"


def _number(op: ast.operator, left: t.Type, right: t.Type) -> t.Type:
    """Return the type of the result of an arithmetic operation on two numbers."""
    if isinstance(op, ast.Div):
        return t.FLOAT
    names = {
        member.name
        for value in (left, right)
        for member in t.members(value)
        if isinstance(member, t.Atom)
    }
    if names <= {"int", "bool"}:
        return t.NUMBER if isinstance(op, ast.Pow) else t.INT
    return t.FLOAT if "float" in names else t.NUMBER


def _report(
    core: Interpreter,
    op: ast.AST,
    left_node: ast.expr,
    left: t.Type,
    right_node: ast.expr,
    right: t.Type,
    node: ast.AST,
) -> None:
    """Report an operation whose operator does not accept both operands."""
    if core.catches("TypeError"):
        return
    better = None
    if {category(left), category(right)} == {"str", "number"}:
        first_is_text = category(left) == "str"
        text, number = (left_node, right_node) if first_is_text else (right_node, left_node)
        atoms = [m for m in (*t.members(left), *t.members(right)) if isinstance(m, t.Atom)]
        if isinstance(op, ast.Add) and _is_written_text(text):
            better = f"str({format_expression(number)})"
        elif not any(atom.form for atom in atoms):
            better = f"float({format_expression(text)})"
    then = f" Write {better}." if better else ""
    message = (
        f"{format_expression(left_node)} is {describe_value(left)} and"
        f" {format_expression(right_node)} is {describe_value(right)}:"
        f" `{_SYMBOLS.get(type(op), 'this')}` does not take both.{then}"
    )
    core.report("wrong-operand", node, message, better=better)


def _is_written_text(node: ast.expr) -> bool:
    """Return True if an expression contains a string literal, as `name + ": "` does."""
    parts = (node, getattr(node, "left", None), getattr(node, "right", None))
    return any(isinstance(part, ast.Constant | ast.JoinedStr) for part in parts)


def evaluate_comparison(core: Interpreter, node: ast.Compare) -> t.Type:
    """Check a chain of comparisons such as `a < b <= c`. Return the type `BOOL`."""
    left_node = node.left
    left = core.evaluate(node.left)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = core.evaluate(right_node)
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            left = need_value(core, left, left_node, "comparing None fails")
            right = need_value(core, right, right_node, "comparing None fails")
            kinds = category(left), category(right)
            if None not in kinds and (kinds[0] != kinds[1] or kinds[0] in ("dict", "function")):
                _report(core, op, left_node, left, right_node, right, node)
        elif isinstance(op, ast.In | ast.NotIn):
            right = need_value(core, right, right_node, "`in` fails on None")
            if len(node.ops) == 1 and node not in core.hints.alternative:
                _check_in(core, node, left, right)
        elif (
            len(node.ops) == 1
            and isinstance(op, ast.Eq | ast.NotEq)
            and node not in core.hints.alternative
        ):
            _check_equal(core, node, left, right)
        left_node = right_node
        left = right
    return t.BOOL


def _check_equal(core: Interpreter, node: ast.Compare, left: t.Type, right: t.Type) -> None:
    """Report a comparison `left == right` that can never be true.

    This follows from the types of the operands, or from the values that a schema allows.
    """
    sides = [(node.left, left), (node.comparators[0], right)]
    if isinstance(node.left, ast.Constant):
        sides.reverse()
    (left_node, left), (right_node, right) = sides
    equal = isinstance(node.ops[0], ast.Eq)
    kinds = (category(left), category(right))
    if None not in kinds and kinds[0] != kinds[1]:
        if equal and set(kinds) != {"tuple", "list"}:
            first = f"{format_expression(left_node)} is {describe_value(left)}"
            second = f"{format_expression(right_node)} is {describe_value(right)}"
            core.report("never-equal", node, f"{first} and {second}: they are never equal.")
        return
    possible = [member for member in t.members(left) if not isinstance(member, t.Null)]
    text = constant(right)
    if isinstance(text, str) and possible and all(_is_never(member, text) for member in possible):
        wanted, better = _describe_allowed_values(text, possible)
        if equal or better:
            then = f" Did you mean {better}?" if better else ""
            message = f"{format_expression(left_node)} is never {text!r}: it {wanted}.{then}"
            core.report("never-equal", node, message, better=better)


def _describe_allowed_values(text: str, possible: list[t.Type]) -> tuple[str, str | None]:
    """Describe the strings that a schema allows for a value of one of the types `possible`.

    Also return the allowed value that is similar to `text`, or None.
    """
    atoms = [member for member in possible if isinstance(member, t.Atom)]
    values = [value for atom in atoms for value in atom.values or () if isinstance(value, str)]
    if not values:
        return f"matches the pattern {atoms[0].pattern!r}", None
    near = find_nearest(text, values, cutoff=0.75)
    return f"is one of {format_list(map(repr, values))}", repr(near) if near else None


def _is_never(member: t.Type, text: str) -> bool:
    """Return True if a value of this type can never be the string `text`.

    The schema from which the type was derived tells which strings are possible.
    """
    if not isinstance(member, t.Atom) or member.name != "str":
        return False
    if member.values is not None:
        return member.listed and len(member.values) > 1 and text not in member.values
    return member.pattern is not None and not can_match(member.pattern, text)


def _check_in(core: Interpreter, node: ast.Compare, left: t.Type, right: t.Type) -> None:
    """Report a test `left in right` if all items of `right` are of another kind than `left`."""
    if not all(isinstance(member, t.Listing | t.Array) for member in t.members(right)):
        return
    container = format_expression(node.comparators[0])
    held = items_of(right)
    kinds = (category(left), category(held))
    what = format_expression(node.left)
    words = {"dict": "objects", "str": "strings", "number": "numbers"}.get(kinds[1] or "")
    if kinds[0] in ("str", "number") and words and kinds[0] != kinds[1]:
        message = (
            f"{what} is {describe_value(left)}, and {container} holds {words}: it is never in it."
        )
        core.report("never-equal", node, message)
