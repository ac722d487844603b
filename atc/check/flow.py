"""Runs a whole program over types and collects what is wrong with its values."""

from __future__ import annotations

import ast

from atc.check.functions.functions import run_body, unknown_parameters
from atc.check.interpret import expressions, statements
from atc.check.known.core import Core, OutOfSteps
from atc.check.known.frames import Frame
from atc.check.known.kinds import Array, Atom, Function, Listing, Mapped, Null, Record, Type
from atc.check.known.lattice import members
from atc.check.source.elsewhere import changed_attributes, changed_keys, touched_names
from atc.check.source.hints import Hints
from atc.check.source.memo import walk
from atc.check.source.scopes import FunctionNode, Scopes
from atc.types import Finding
from protocols.toolbox import Toolbox

_ABOUT_VALUES = {
    "missing-key",
    "not-an-object",
    "not-a-list",
    "no-attribute",
    "none-value",
    "wrong-argument-type",
    "wrong-operand",
    "wrong-unpacking",
}


_DATA = (Record, Array, Atom, Null, Listing, Mapped)


class Flow(Core):
    """The analysis itself: `Core` with its statements and expressions."""

    evaluate = expressions.evaluate
    execute = statements.execute


def flow_findings(scopes: Scopes, hints: Hints, tools: Toolbox) -> list[Finding]:
    """What following every value through the program finds."""
    flow = Flow(tools, scopes, hints)
    elsewhere = _run(flow)
    changed = changed_keys(elsewhere)
    touched = touched_names(elsewhere, scopes)
    attributes = flow.untracked | changed_attributes(elsewhere)
    settled = _settled(flow, touched)
    if changed or touched or attributes or settled:
        # Functions that run at a time unknown to us change what others read: begin again, knowing that.
        flow = Flow(tools, scopes, hints)
        flow.overwritten |= changed
        flow.volatile |= touched
        flow.untracked |= attributes
        flow.settled |= settled
        _run(flow)
    found = [*flow.findings, *flow.lasting]
    return [finding for finding in found if finding.code not in _ABOUT_VALUES] if flow.foreign else found


def _settled(flow: Flow, touched: set[str]) -> dict[str, Type]:
    """What names that functions share may be at any time, where that is data alone."""
    if not flow.recorded:
        return {}
    parameters = {part.arg for node in flow.scopes.functions for part in walk(node.args) if isinstance(part, ast.arg)}
    return {
        name: kind
        for name, kind in flow.recorded.items()
        if name not in touched | parameters and all(isinstance(member, _DATA) for member in members(kind))
    }


def _run(flow: Flow) -> list[FunctionNode]:
    """Run the program; gives the functions that run when we do not see it."""
    mark = 0
    elsewhere: list[FunctionNode] = []
    try:
        flow.execute(flow.scopes.module.body)
        mark = len(flow.findings)
        for node in flow.scopes.functions:
            if node not in flow.analysed:
                elsewhere.append(node)
                _run_detached(flow, node)
                mark = len(flow.findings)
    except (OutOfSteps, RecursionError):
        # Findings of a pass that did not end are not sure.
        del flow.findings[mark:]
    else:
        flow.findings += [finding for holds, finding in flow.deferred if not flow.foreign and holds()]
    return [*elsewhere, *flow.given_away]


def _run_detached(flow: Flow, node: FunctionNode) -> None:
    """A function that the program does not call where we see it: its parameters may be anything."""
    flow.analysed.add(node)
    outer = Frame(flow.scopes.module, env=flow.frame.env, detached=True)
    frame = _frames(flow, node, outer)
    parameters = unknown_parameters(node.args)
    if node in flow.owners and parameters:
        parameters[next(iter(parameters))] = flow.owners[node]
    frame.env = flow.env.__class__(parameters)
    flow.shielded.clear()
    run_body(flow, Function(node, frame.parent or outer), frame)


def _frames(flow: Flow, node: ast.AST, outer: Frame) -> Frame:
    """Frames for the scopes that enclose `node`, nothing known in them."""
    scope = flow.scopes.by_node[node]
    parent = scope.parent
    if parent is None or isinstance(parent.node, ast.Module):
        return Frame(node, outer, detached=True)
    inner = _frames(flow, parent.node, outer)
    inner.env = None
    return Frame(node, inner, detached=True)
