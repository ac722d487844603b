"""Values that may be None where None fails."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.frames import Frame
from atc.check.known.kinds import ANY, NONE, Null, Type, Union
from atc.check.known.lattice import members, not_none
from atc.check.report import spelled


def need_value(core: Core, value: Type, node: ast.expr, use: str) -> Type:
    """`value` without None; reports a None that a response schema allows and no test has ruled out."""
    if not isinstance(value, Null | Union):
        return value
    for member in members(value):
        if isinstance(member, Null) and member.lapse and isinstance(value, Union):
            _report_lapse(core, member.lapse, node, use)
        if not isinstance(member, Null) or member.origin is None or member.origin in core.env.calm:
            continue
        if core.catches("TypeError", "AttributeError", "told"):
            continue
        text = spelled(node)
        message = f"{text} may be None here ({member.origin} can be null); {use}. Test `is not None` first."
        better = f"if {text} is not None"
        core.report("none-value", node, message, tool=member.origin.tool, better=better, certain=False)
        break
    if (value == NONE and isinstance(node, ast.Name | ast.Call)) or (isinstance(value, Null) and value.shown):
        _report_none(core, node, use)
        return ANY
    return not_none(value)


def _report_lapse(core: Core, function: str, node: ast.expr, use: str) -> None:
    """What a function of the program gives on some of its ways only."""
    if core.catches("TypeError", "AttributeError", "told"):
        return
    text = spelled(node)
    message = f"{text} may be None here ({function}() returns nothing on one of its ways); {use}. Return a value there."
    core.report("none-value", node, message, better=f"if {text} is not None", certain=False)


def _report_none(core: Core, node: ast.expr, use: str) -> None:
    """Something that the program itself makes None every time."""
    if core.catches("TypeError", "AttributeError", "told"):
        return
    if isinstance(node, ast.Name) and _parameter(core, node.id):
        return
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            better: str | None = spelled(owner)
            then = f" {method}() changes {better} in place: call it by itself, then use {better}."
        case _:
            better, then = None, ""
    core.report("none-value", node, f"{spelled(node)} is always None here; {use}.{then}", better=better)


def _parameter(core: Core, name: str) -> bool:
    """Whether a call left it out: other parameters may say whether it is used."""
    frame: Frame | None = core.frame
    while frame is not None:
        if name in core.defaults.get(frame.scope, ()):
            return True
        frame = frame.parent
    return False
