"""Decorated functions: what is bound to their names."""

from __future__ import annotations

import ast

from atc.check.functions.functions import call_function
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, Function, Library, Type

_TRANSPARENT = {"functools.lru_cache", "functools.cache", "functools.wraps", "typing.no_type_check", "typing.override"}
_TRANSPARENT |= {"contextlib.contextmanager"}
"""Decorators of the standard library that leave a function's results as they are; `with` reads generators."""


def decorated(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef, function: Function) -> Type:
    """What `@…` makes of a function."""
    value: Type = function
    for part in reversed(node.decorator_list):
        value = _apply(core, part, value)
    return value


def _apply(core: Core, node: ast.expr, value: Type) -> Type:
    with core.silence():
        named = core.evaluate(node.func if isinstance(node, ast.Call) else node)
    decorator = core.evaluate(node)
    if isinstance(named, Library) and named.name in _TRANSPARENT:
        if named.name in ("functools.lru_cache", "functools.cache") and isinstance(value, Function):
            core.memoised.add(value.node)
        return value
    if isinstance(decorator, Function):
        return call_function(core, decorator, [value], {}, call=node)
    core.escape([value])
    return ANY
