"""Evaluation of expressions by the static check: their types, and the problems in them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from atc.core.messages import format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.functions import call_function, note_function, read_arguments
from atc.pipeline.check.interpreter import Env, Interpreter
from atc.pipeline.check.kinds import assume_not_none, constant, type_of_constant
from atc.pipeline.check.library import call_library, reject_kinds
from atc.pipeline.check.methods import call_method
from atc.pipeline.check.narrowing import outcomes, refine
from atc.pipeline.check.objects import library_part
from atc.pipeline.check.operators import binary, evaluate_comparison
from atc.pipeline.check.pending import awaited
from atc.pipeline.check.read_findings import rows_of_page
from atc.pipeline.check.schema import field_type
from atc.pipeline.check.subscripts import (
    check_hashable,
    has_attribute,
    iterate,
    need_value,
    read_attribute,
    read_subscript,
)
from atc.pipeline.check.syntax import children, walk_nodes
from atc.pipeline.check.toolcalls import call_tool
from atc.pipeline.check.truth import check_alternative, check_truth

_LONGEST_KNOWN = 10_000
"""Maximum number of characters of a string whose value the check knows.

Without a limit, f-strings that each contain the previous one twice would grow exponentially."""


def evaluate(core: Interpreter, node: ast.expr) -> t.Type:
    """Return the type of an expression and report the problems in it."""
    core.step()
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        found = handler(core, node)
        check_truth(core, node, found)
        return found if t.size(found) <= t.MOST_SIZE else t.ANY
    for child in children(node):
        if isinstance(child, ast.expr):
            core.evaluate(child)
    return t.ANY


def bind_target(core: Interpreter, target: ast.expr, value: t.Type, source: ast.expr) -> None:
    """Give the names in a target such as `x` or `a, b` the types of the values assigned to them."""
    match target:
        case ast.Name(id=name):
            core.bind(name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(core, parts, value, source)
        case ast.Starred(value=inner):
            bind_target(core, inner, value, source)
        case ast.Subscript():
            _store(core, target, value)
        case ast.Attribute(value=owner):
            core.evaluate(owner)
            core.escape([value])


def _unpack(core: Interpreter, parts: list[ast.expr], value: t.Type, source: ast.expr) -> None:
    """Give the targets `parts`, as in `a, b = source`, the types of the items of `source`."""
    value = need_value(core, value, source, "it cannot be unpacked")
    starred = any(isinstance(part, ast.Starred) for part in parts)
    if isinstance(value, t.Tuple) and not starred and len(value.items) == len(parts):
        for part, item in zip(parts, value.items, strict=True):
            bind_target(core, part, item, source)
        return
    if not core.catches("ValueError"):
        _report_unpacking(core, parts, value, source, starred=starred)
    item = t.ANY if isinstance(value, t.Record | t.Atom) else iterate(core, value, source)
    for part in parts:
        listed = core.add_listing_item(part, item) if isinstance(part, ast.Starred) else item
        bind_target(core, part, listed, source)


def _report_unpacking(
    core: Interpreter, parts: list[ast.expr], value: t.Type, source: ast.expr, *, starred: bool
) -> None:
    """Report an unpacking such as `a, b = source` that cannot work or that gives dict keys.

    `value` is the type of `source`. `starred` is True if one of the targets is `*rest`.
    """
    text = format_expression(source)
    match value:
        case t.Atom("str", None) if not starred and isinstance(core.peek(source), t.Mapped):
            better = f"{text}.items()"
            message = f"iterating {text} gives its keys alone. Write {better}."
            core.report("wrong-unpacking", parts[0], message, better=better)
        case t.Tuple(items) if not starred:
            message = f"{len(items)} values of {text} cannot be unpacked into {len(parts)} names."
            core.report("wrong-unpacking", parts[0], message)
        case t.Record(shape=shape) if shape.is_closed:
            keys = list(shape.properties)
            names = ", ".join(map(format_expression, parts))
            message = (
                f"{value.origin} is an object with keys {', '.join(keys)}: unpacking it into"
                f" {names} gives its keys, not its values. Take them by name, such as"
                f" item[{keys[0]!r}]."
            )
            core.report("not-a-list", parts[0], message, tool=value.origin.tool)


def _store(core: Interpreter, target: ast.Subscript, value: t.Type) -> None:
    """Record what the assignment `owner[index] = value` adds to the contents of `owner`."""
    owner = core.evaluate(target.value)
    index = t.ANY if isinstance(target.slice, ast.Slice) else core.evaluate(target.slice)
    for member in t.members(owner):
        match member:
            case t.Mapped(cell):
                check_hashable(core, index, target.slice)
                core.set_item(cell, index, value)
            case t.Listing(cell):
                core.add(cell, t.ANY if isinstance(target.slice, ast.Slice) else value)
            case _:
                # Values under the constant keys in `hints.stored` are unknown everywhere.
                known = isinstance(target.slice, ast.Constant) and isinstance(
                    target.slice.value, str
                )
                core.foreign |= not known and not isinstance(member, t.Extreme | t.Atom)
                core.escape([value])


def _joined_str(core: Interpreter, node: ast.JoinedStr) -> t.Type:
    known: list[str] = []
    for part in node.values:
        value = core.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
        if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
            core.evaluate(part.format_spec)
            if (
                part.conversion == -1
                and isinstance(part.format_spec, ast.JoinedStr)
                and part.format_spec.values
            ):
                need_value(core, value, part.value, "a format such as ':.2f' fails on None")
        elif isinstance(text := constant(value), str | int | float) and _is_short(text):
            known.append(str(text))
    text = sum(map(len, known)) if len(known) == len(node.values) else _LONGEST_KNOWN + 1
    return type_of_constant("".join(known)) if text <= _LONGEST_KNOWN else t.STR


def _is_short(value: Any) -> bool:
    """Return False for integers of so many digits that converting them to text would take long."""
    return value.bit_length() <= _LONGEST_KNOWN if isinstance(value, int) else True


def _bool_op(core: Interpreter, node: ast.BoolOp) -> t.Type:
    """Return the type of `a or b`, or of `a and b`.

    Each operand is evaluated under the condition that the earlier ones were false (`or`) or true
    (`and`).
    """
    start = core.frame.env
    if start is None:
        return t.ANY
    parts: list[t.Type] = []
    stops = isinstance(node.op, ast.Or)
    for operand in node.values:
        value = core.evaluate(operand)
        if operand is not node.values[-1]:
            # `a or b` only returns a if it is truthy, hence not None.
            value = assume_not_none(value) if stops else value
            if stops and isinstance(value, t.Record) and value.shape.is_always_true:
                check_alternative(core, node, operand, value)
                parts.append(value)
                break
            if core.frame.env is not None:
                core.frame.env = core.frame.env.copy()
                refine(core, operand, not stops)
        parts.append(value)
    _restore_names(core, start, core.frame.env)
    return t.join(*parts)


def _restore_names(core: Interpreter, before: Env, after: Env | None) -> None:
    """Restore the types of variables in `before`, except of names that were bound with `:=`."""
    spend(2 * len(after.names) if after is not None else 0)
    for name, value in after.names.items() if after is not None else ():
        before.names[name] = t.join(before.names.get(name, value), value)
    core.frame.env = before


def _if_exp(core: Interpreter, node: ast.IfExp) -> t.Type:
    core.evaluate(node.test)
    start = core.frame.env
    parts = []
    for env, branch in zip(outcomes(core, node.test), (node.body, node.orelse), strict=True):
        if env is not None:
            core.frame.env = env
            parts.append(core.evaluate(branch))
    core.frame.env = start
    return t.join_all(parts) if start is not None else t.ANY


def _named_expr(core: Interpreter, node: ast.NamedExpr) -> t.Type:
    value = core.evaluate(node.value)
    bind_target(core, node.target, value, node.value)
    return value


def _await(core: Interpreter, node: ast.Await) -> t.Type:
    return awaited(core.evaluate(node.value))


def _yield(core: Interpreter, node: ast.Yield | ast.YieldFrom) -> t.Type:
    value = core.evaluate(node.value) if node.value is not None else t.ANY
    core.frame.yields.append(
        iterate(core, value, node.value) if isinstance(node, ast.YieldFrom) else value
    )
    return t.ANY


def _unary(core: Interpreter, node: ast.UnaryOp) -> t.Type:
    value = core.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return t.BOOL
    kinds = ("str", "dict", "list", "tuple")
    end = "; a sign needs a number."
    value = reject_kinds(core, value, node.operand, kinds, "arithmetic", end)
    if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return type_of_constant(-number) if isinstance(number, int | float) else t.ANY
    return t.join_all(t.Atom(m.name) if isinstance(m, t.Atom) else t.ANY for m in t.members(value))


def _element(core: Interpreter, part: ast.expr) -> t.Type:
    if isinstance(part, ast.Starred):
        return iterate(core, core.evaluate(part.value), part.value)
    return core.evaluate(part)


def _list(core: Interpreter, node: ast.List | ast.Set) -> t.Type:
    items = [_element(core, part) for part in node.elts]
    for item, part in zip(items, node.elts, strict=True) if isinstance(node, ast.Set) else ():
        check_hashable(core, item, part)
    return core.add_listing_item(
        node, t.join_all(items), "list" if isinstance(node, ast.List) else "set"
    )


def _tuple(core: Interpreter, node: ast.Tuple) -> t.Type:
    items = tuple(_element(core, part) for part in node.elts)
    if any(isinstance(part, ast.Starred) for part in node.elts):
        return core.add_listing_item(node, t.join(*items), "tuple")
    return t.Tuple(items)


def _dict(core: Interpreter, node: ast.Dict) -> t.Type:
    made = core.create_dict(node)
    known: dict[Any, t.Type] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        index = core.evaluate(key) if key is not None else None
        match index, core.evaluate(value):
            case None, t.Record(shape=shape) as spread if shape.is_closed:
                spend(8 * len(shape.properties))
                known |= {name: field_type(spread, name) or t.ANY for name in shape.properties}
            case None, t.Mapped(cell, refined) if not cell.open:
                spend(len(cell.keys) + len(refined))
                known |= cell.keys | dict(refined)
            case None, _:
                core.set_item(made.cell, t.ANY, t.ANY)
            case t.Atom(values=(name,)), item:
                known[name] = item
            case t.Type() as index, item:
                check_hashable(core, index, key or node)
                core.set_item(made.cell, index, item)
    spend(8 * len(known))
    for name, kind in known.items():
        core.set_item(made.cell, type_of_constant(name), kind)
    made.cell.first = frozenset(key for key in known if isinstance(key, str))
    return made


def _comprehension(
    core: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> t.Type:
    start = core.frame.env
    if start is None:
        return t.ANY
    core.frame.env = start.copy()
    targets: set[str] = set()
    for generator in node.generators:
        value = core.evaluate(generator.iter)
        item = t.ANY if generator.is_async else iterate(core, value, generator.iter)
        targets |= {part.id for part in walk_nodes(generator.target) if isinstance(part, ast.Name)}
        bind_target(core, generator.target, item, generator.iter)
        for test in generator.ifs:
            core.evaluate(test)
            refine(core, test, True)
    result: t.Type
    if isinstance(node, ast.DictComp):
        made = core.create_dict(node)
        key = core.evaluate(node.key)
        value = core.evaluate(node.value)
        check_hashable(core, key, node.key)
        core.set_item(made.cell, t.join(key, t.ANY) if constant(key) is not None else key, value)
        result = made
    elif isinstance(node, ast.GeneratorExp):
        result = t.Iterating(core.evaluate(node.elt), "generator")
    else:
        item = core.evaluate(node.elt)
        if isinstance(node, ast.SetComp):
            check_hashable(core, item, node.elt)
        result = core.add_listing_item(
            node, item, "set" if isinstance(node, ast.SetComp) else "list"
        )
    inner = core.frame.env
    for name in targets if inner is not None else ():
        inner.names.pop(name, None)
    _restore_names(core, start, inner)
    return result


def _call(core: Interpreter, node: ast.Call) -> t.Type:
    func = node.func
    if not isinstance(func, ast.Attribute):
        callee = (
            core.lookup(func, called=True) if isinstance(func, ast.Name) else core.evaluate(func)
        )
        return _call_value(core, callee, node)
    value = core.evaluate(func.value)
    if isinstance(value, t.Library):
        return call_library(core, library_part(core, value, func).name, node)
    value = need_value(core, value, func.value, f"it has no method {func.attr!r}")
    if not has_attribute(core, value, func):
        keys = [constant(one) for one in read_arguments(core, node).values]
        return rows_of_page(core, value, keys[0]) if func.attr == "get" and keys else t.ANY
    return call_method(core, value, func, node, read_arguments(core, node))


def _call_value(core: Interpreter, callee: t.Type, node: ast.Call) -> t.Type:
    if isinstance(callee, t.ToolRef):
        return call_tool(core, callee.alias, node)
    if isinstance(callee, t.Library):
        return call_library(core, callee.name, node)
    arguments = read_arguments(core, node)
    if isinstance(callee, t.Function):
        result = call_function(
            core, callee, arguments.values, arguments.named, sure=arguments.sure, call=node
        )
        if result is t.NEVER:  # the function always raises or exits
            core.frame.env = None
        return result
    tools = [member.alias for member in t.members(callee) if isinstance(member, t.ToolRef)]
    if len(tools) == len(t.members(callee)):
        return t.join_all(map(core.tool_result, tools))
    for member in t.members(callee):
        if isinstance(member, t.Function):
            call_function(core, member, arguments.values, arguments.named, sure=False)
    core.escape(arguments.every())
    return t.ANY


_HANDLERS: dict[type[ast.expr], Callable[..., t.Type]] = {
    ast.Constant: lambda _core, node: type_of_constant(node.value),
    ast.Name: lambda core, node: core.lookup(node),
    ast.JoinedStr: _joined_str,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.NamedExpr: _named_expr,
    ast.List: _list,
    ast.Set: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    **dict.fromkeys([ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp], _comprehension),
    ast.Lambda: note_function,
    ast.Await: _await,
    **dict.fromkeys([ast.Yield, ast.YieldFrom], _yield),
    ast.BinOp: lambda core, node: binary(
        core,
        node.op,
        node.left,
        core.evaluate(node.left),
        node.right,
        core.evaluate(node.right),
        node,
    ),
    ast.UnaryOp: _unary,
    ast.Compare: evaluate_comparison,
    ast.Attribute: read_attribute,
    ast.Subscript: read_subscript,
    ast.Call: _call,
}
