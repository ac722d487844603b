"""Calls: of tools, of the program's own functions, of methods, builtins and the standard library."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments, read_arguments
from atc.check.functions.classes import attribute_of, call_bound, construct
from atc.check.functions.functions import call_function
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NEVER, Function, Getter, Library, ToolRef, Type
from atc.check.known.lattice import joined, members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Bound, Class, Instance, Partial
from atc.check.known.paths import release
from atc.check.library.getters import apply_getter
from atc.check.library.methods import call_method
from atc.check.library.pools import EXECUTOR
from atc.check.library.results import call_library
from atc.check.operations.hashing import check_hashable
from atc.check.reading.attributes import check_attribute
from atc.check.tools.calls import call_tool, report_mapped


def call(core: Core, node: ast.Call) -> Type:
    """The type of a call."""
    func = node.func
    if isinstance(func, ast.Attribute):
        result = _call_attribute(core, func, node)
    else:
        result = _call_value(core, core.evaluate(func), node)
    release(core, node)
    return result


def _call_value(core: Core, callee: Type, node: ast.Call) -> Type:
    if isinstance(callee, ToolRef):
        return call_tool(core, callee.alias, node)
    if isinstance(callee, Library):
        return call_library(core, callee.name, node)
    arguments = read_arguments(core, node)
    if isinstance(callee, Function):
        if callee.node in core.memoised:
            for value, place in zip(arguments.values, arguments.nodes, strict=True):
                check_hashable(core, value, place)
        result = call_function(core, callee, arguments.values, arguments.named, sure=arguments.sure, call=node)
        _die_if_endless(core, callee, result)
        return result
    if isinstance(callee, Class):
        return construct(core, callee.shape, arguments, node)
    if isinstance(callee, Bound):
        return call_bound(core, callee, arguments, node)
    if isinstance(callee, Getter) and arguments.sure and len(arguments.values) == 1:
        return apply_getter(core, callee, arguments.values[0])
    if isinstance(callee, Partial):
        return _call_partial(core, callee, arguments, node)
    if all(isinstance(member, ToolRef) for member in members(callee)):
        return joined(core.tool_result(member.alias) for member in members(callee) if isinstance(member, ToolRef))
    _run_detached(core, callee, arguments)
    core.escape(arguments.every())
    return ANY


def _call_partial(core: Core, callee: Partial, arguments: Arguments, node: ast.Call) -> Type:
    """A call of `partial(f, …)`: what was passed before comes first."""
    match callee.callee:
        case ToolRef(alias):
            return call_tool(core, alias, node, before=callee.known)
        case Function() as function:
            values = [*callee.positional, *arguments.values]
            named = dict(callee.known) | arguments.named
            return call_function(core, function, values, named, sure=arguments.sure, call=node)
        case _:
            core.escape(arguments.every())
            return ANY


def _run_detached(core: Core, callee: Type, arguments: Arguments) -> None:
    """Functions among the alternatives of a callee run with arguments that we do not follow."""
    for member in members(callee):
        if isinstance(member, Function):
            call_function(core, member, arguments.values, arguments.named, sure=False)


def _die_if_endless(core: Core, callee: Function, result: Type) -> None:
    """A function that never returns (it raises, or exits) ends this way of the program."""
    if result is NEVER and not isinstance(callee.node, ast.AsyncFunctionDef):
        core.frame.env = None


def _call_attribute(core: Core, func: ast.Attribute, node: ast.Call) -> Type:
    value = core.evaluate(func.value)
    if isinstance(value, Library):
        return call_library(core, f"{value.name}.{func.attr}", node)
    value = need_value(core, value, func.value, f"it has no method {func.attr!r}")
    if isinstance(value, Instance | Class):
        return _call_value(core, attribute_of(core, value, func), node)
    if not check_attribute(core, value, func):
        read_arguments(core, node)
        return ANY
    if func.attr == "map" and node.args and isinstance(callee := core.evaluate(node.args[0]), ToolRef):
        report_mapped(core, callee, node)
    if value != EXECUTOR and func.attr in ("submit", "run_in_executor", "apply_async") and _submits_tool(core, node):
        return ANY
    return call_method(core, value, func, node, read_arguments(core, node))


def _submits_tool(core: Core, node: ast.Call) -> bool:
    """`pool.submit(tool, x=1)` is a call of the tool."""
    for position, argument in enumerate(node.args[:2]):
        callee = core.evaluate(argument)
        if isinstance(callee, ToolRef):
            call_tool(core, callee.alias, node, skip=position + 1)
            return True
    return False
