"""`concurrent.futures`: what a pool runs, and what its futures give."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.functions.functions import call_function
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, BOOL, Function, Iterating, ToolRef, Type
from atc.check.known.objects import Made
from atc.check.library.ordering import apply
from atc.check.operations.iteration import iterate
from atc.check.tools.calls import call_tool, report_mapped

EXECUTOR = Made("Executor")


def call_method(core: Core, value: Made, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What a method of a pool or a future gives."""
    match value.name, func.attr:
        case "Executor", "map" if len(arguments.values) > 1 and arguments.sure:
            callee = arguments.values[0]
            if isinstance(callee, ToolRef):
                report_mapped(core, callee, node)
            pairs = zip(arguments.values[1:], arguments.nodes[1:], strict=True)
            place = None if isinstance(callee, ToolRef) else node
            return Iterating(apply(core, callee, [iterate(core, v, where) for v, where in pairs], place), "map")
        case "Executor", "submit" if arguments.values:
            return Made("Future", _submitted(core, arguments, node))
        case "Future", "result":
            return value.inner
        case "Future", "done" | "cancel" | "running" | "cancelled":
            return BOOL
        case _:
            core.escape(arguments.every())
            return ANY


def _submitted(core: Core, arguments: Arguments, node: ast.Call) -> Type:
    callee, values = arguments.values[0], arguments.values[1:]
    if isinstance(callee, ToolRef):
        return call_tool(core, callee.alias, node, skip=1)
    if isinstance(callee, Function):
        return call_function(core, callee, values, arguments.named, sure=arguments.sure, call=node)
    core.escape(arguments.every())
    return ANY
