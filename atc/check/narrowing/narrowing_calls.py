"""What `filter(test, items)` shows of the items that it keeps."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.fields import calmed
from atc.check.known.frames import Env, Frame
from atc.check.known.kinds import Function, Type
from atc.check.narrowing.narrow import refine


def kept_by(core: Core, function: Type, item: Type, *, truth: bool = True) -> Type:
    """The type of the items for which a function of the program is true, or false."""
    if not isinstance(function, Function):
        return calmed(item)
    node = function.node
    if not isinstance(node, ast.Lambda) or len(node.args.args) != 1:
        return calmed(item)
    name = node.args.args[0].arg
    outer = core.frame
    core.frame = Frame(node, function.frame, Env({name: item}, core.env.calm))
    try:
        with core.silence():
            refine(core, node.body, truth)
        return core.frame.env.names[name] if core.frame.env is not None else item
    finally:
        core.frame = outer
