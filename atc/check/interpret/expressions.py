"""The type of each kind of expression."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from atc.check.functions.functions import note_defaults
from atc.check.interpret.building import comprehension, dict_display, list_display, restore_names, tuple_display
from atc.check.interpret.invoke import call
from atc.check.interpret.targets import bind_target
from atc.check.known.constants import chosen, computed
from atc.check.known.core import Core
from atc.check.known.folding import put_together, spec_of, written
from atc.check.known.kinds import ANY, BOOL, NEVER, Atom, Awaitable, Function, Null, Record, ToolRef, Type
from atc.check.known.lattice import join, literal, members, not_none
from atc.check.known.lookup import lookup, lookup_silent
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.library.templates import check_percent
from atc.check.narrowing.narrow import apart, refine
from atc.check.operations.comparing import compare
from atc.check.operations.formats import check_format
from atc.check.operations.iteration import iterate
from atc.check.operations.operators import category, operate
from atc.check.reading.access import subscript
from atc.check.reading.attributes import attribute
from atc.check.report import spelled
from atc.check.source.memo import children

_SIGNS: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}


def evaluate(core: Core, node: ast.expr) -> Type:
    """The type of an expression; what is wrong in it is reported."""
    core.step()
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        result: Type = handler(core, node)
        return result
    for child in children(node):
        if isinstance(child, ast.expr):
            core.evaluate(child)
    return ANY


def _constant(_core: Core, node: ast.Constant) -> Type:
    return literal(node.value)


def _name(core: Core, node: ast.Name) -> Type:
    return lookup(core, node)


def _joined_str(core: Core, node: ast.JoinedStr) -> Type:
    return put_together(
        [
            _formatted(core, part) if isinstance(part, ast.FormattedValue) else core.evaluate(part)
            for part in node.values
        ]
    )


def _formatted(core: Core, node: ast.FormattedValue) -> Type:
    value = core.evaluate(node.value)
    spec = spec_of(node)
    if node.format_spec is not None:
        core.evaluate(node.format_spec)
        if node.conversion == -1 and not _empty(node.format_spec):
            value = need_value(core, value, node.value, "a format such as ':.2f' fails on None")
            check_format(core, value, node)
    return written(value, node.conversion, spec)


def _empty(spec: ast.expr) -> bool:
    return isinstance(spec, ast.JoinedStr) and not spec.values


def _bool_op(core: Core, node: ast.BoolOp) -> Type:
    """`a or b`, `a and b`: later operands are evaluated knowing how the earlier ones came out."""
    start = core.frame.env
    if start is None:
        return ANY
    parts: list[Type] = []
    stops = isinstance(node.op, ast.Or)
    for index, operand in enumerate(node.values):
        with core.condition() if index else nullcontext():
            value = core.evaluate(operand)
        if index < len(node.values) - 1:
            # `a or b` gives a only if it is true, hence not None.
            value = not_none(value) if stops else value
            value = NEVER if stops and isinstance(value, Null) else value
            if stops and isinstance(value, Record) and value.shape.filled:
                parts.append(value)
                break
            _branch(core, operand, truth=not stops)
        parts.append(value)
    restore_names(core, start, core.frame.env)
    return join(*parts)


def _branch(core: Core, test: ast.expr, *, truth: bool) -> None:
    if core.frame.env is not None:
        core.frame.env = core.frame.env.copy()
        refine(core, test, truth)


def _if_exp(core: Core, node: ast.IfExp) -> Type:
    core.evaluate(node.test)
    start = core.frame.env
    if start is None:
        return ANY
    parts = []
    for env, branch in zip(apart(core, node.test), (node.body, node.orelse), strict=True):
        if env is not None:
            core.frame.env = env
            with core.condition():
                parts.append(core.evaluate(branch))
    core.frame.env = start
    return chosen(parts)


def _named(core: Core, node: ast.NamedExpr) -> Type:
    value = core.evaluate(node.value)
    bind_target(core, node.target, value, node.value)
    return value


def _lambda(core: Core, node: ast.Lambda) -> Type:
    note_defaults(core, node)
    return Function(node, core.frame)


def _await(core: Core, node: ast.Await) -> Type:
    if isinstance(node.value, ast.Call):
        func = node.value.func
        if isinstance(func, ast.Name) and isinstance(lookup_silent(core, func), ToolRef):
            name = func.id
            core.evaluate(node.value)
            message = f"{name} is an ordinary function: its result cannot be awaited. Leave out `await`."
            core.report("not-awaitable", node, message, tool=name, better="without await")
            return core.tool_result(name)
    value = core.evaluate(node.value)
    return join(*(member.result if isinstance(member, Awaitable) else ANY for member in members(value)))


def _yield(core: Core, node: ast.Yield) -> Type:
    core.frame.yields.append(core.evaluate(node.value) if node.value is not None else ANY)
    return ANY


def _yield_from(core: Core, node: ast.YieldFrom) -> Type:
    core.frame.yields.append(iterate(core, core.evaluate(node.value), node.value))
    return ANY


def _bin_op(core: Core, node: ast.BinOp) -> Type:
    left, right = core.evaluate(node.left), core.evaluate(node.right)
    if isinstance(node.op, ast.Mod):
        check_percent(core, node.left, left, node.right, right)
    return operate(core, node.op, node.left, left, node.right, right, node)


def _unary(core: Core, node: ast.UnaryOp) -> Type:
    value = core.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return BOOL
    value = need_value(core, value, node.operand, "arithmetic fails on None")
    if category(value) in ("str", "list", "dict", "tuple", "function") and not core.catches("TypeError"):
        what = f"{spelled(node.operand)} is {described(members(value)[0])}"
        core.report("wrong-operand", node, f"{what}: `{_SIGNS[type(node.op)]}` takes a number.")
        return ANY
    if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number: Any = node.operand.value
        return literal(-number) if isinstance(number, int | float) else value
    if isinstance(node.op, ast.USub) and (found := computed(operator.neg, [value])) is not None:
        return found
    return join(*(Atom(m.name) if isinstance(m, Atom) else ANY for m in members(value)))


def _attribute(core: Core, node: ast.Attribute) -> Type:
    return attribute(core, core.evaluate(node.value), node)


def _starred(core: Core, node: ast.Starred) -> Type:
    core.evaluate(node.value)
    return ANY


_HANDLERS: dict[type[ast.expr], Callable[..., Type]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.JoinedStr: _joined_str,
    ast.FormattedValue: _formatted,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.NamedExpr: _named,
    ast.List: list_display,
    ast.Set: list_display,
    ast.Tuple: tuple_display,
    ast.Dict: dict_display,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.DictComp: comprehension,
    ast.Lambda: _lambda,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary,
    ast.Compare: compare,
    ast.Attribute: _attribute,
    ast.Subscript: subscript,
    ast.Call: call,
    ast.Starred: _starred,
}
