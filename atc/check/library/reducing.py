"""`functools.reduce`: what goes in again is what came out."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NEVER, Atom, Function, Null, Type
from atc.check.known.lattice import join, members
from atc.check.library.ordering import apply
from atc.check.operations.iteration import iterate

_FAILING = ("wrong-operand", "not-an-object", "not-a-list", "no-attribute", "wrong-argument-type", "wrong-unpacking")
"""What makes a single step fail: that two values are never equal in one step need not be a fault."""


def reduced(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`reduce(function, items, start)`: the first steps one by one, then what holds for all of them."""
    if len(arguments.values) < 2:
        return ANY
    item = iterate(core, arguments.values[1], arguments.nodes[1])
    function = arguments.values[0]
    if not isinstance(function, Function):
        return ANY if item is ANY else apply(core, function, [item, item], node)
    start = arguments.values[2] if len(arguments.values) > 2 else item
    found = len(core.findings)
    _first_steps(core, function, start, item, node)
    if len(core.findings) > found:
        return ANY
    return _any_step(core, function, start, item, node)


def _first_steps(core: Core, function: Function, start: Type, item: Type, node: ast.Call) -> None:
    """Two steps with what they certainly get, which keeps only findings that make a step fail."""
    if item is ANY or item is NEVER or any(isinstance(member, Null) for member in members(start)):
        # A start of None is there to be told apart.
        return
    known = join(*(Atom(m.name) if isinstance(m, Atom) else m for m in members(start)))
    for _ in range(2):
        if known is ANY or known is NEVER:
            return
        mark = len(core.findings)
        given = known
        known = apply(core, function, [known, item], node)
        kept = [finding for finding in core.findings[mark:] if finding.certain and finding.code in _FAILING]
        core.findings[mark:] = kept
        if kept:
            return
        if join(given, known) == given:
            return


def _any_step(core: Core, function: Function, start: Type, item: Type, node: ast.Call) -> Type:
    known = start
    for _ in range(3):
        mark = len(core.findings)
        found = join(known, apply(core, function, [known, item], node))
        if found == known:
            return known
        del core.findings[mark:]
        known = found
    apply(core, function, [ANY, item], node)
    return ANY
