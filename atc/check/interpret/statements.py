"""How each kind of statement changes what is known."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.check.functions.classes import class_statement
from atc.check.functions.decorators import decorated
from atc.check.functions.functions import note_defaults
from atc.check.interpret.loops import for_loop, while_loop
from atc.check.interpret.patterns import match_statement
from atc.check.interpret.targets import bind_target
from atc.check.interpret.trying import try_statement, with_statement
from atc.check.known.constants import settled, widened
from atc.check.known.core import Core
from atc.check.known.frames import join_env
from atc.check.known.kinds import ANY, NONE, Array, Function, Library, Listing, Mapped, Record
from atc.check.known.lattice import join, members
from atc.check.library.dicts import update
from atc.check.narrowing.narrow import apart, refine
from atc.check.narrowing.turns import reunited
from atc.check.operations.iteration import iterate, iterate_items
from atc.check.operations.operators import operate


def execute(core: Core, body: list[ast.stmt]) -> None:
    """Run statements in the current frame, as far as control gets."""
    for statement in body:
        if core.frame.env is None:
            return
        core.step()
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            handler(core, statement)


def _expr(core: Core, node: ast.Expr) -> None:
    core.evaluate(node.value)


def _assign(core: Core, node: ast.Assign) -> None:
    value = core.evaluate(node.value)
    for target in node.targets:
        bind_target(core, target, value, node.value)
    match node.value:
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=judged)]):
            # What is kept of its kind may be asked later.
            core.bind(judged, ANY)


def _ann_assign(core: Core, node: ast.AnnAssign) -> None:
    if node.value is not None:
        bind_target(core, node.target, core.evaluate(node.value), node.value)


def _aug_assign(core: Core, node: ast.AugAssign) -> None:
    found = len(core.findings)
    left_node = _as_load(node.target)
    left = core.evaluate(left_node)
    right = core.evaluate(node.value)
    if isinstance(node.op, ast.Add) and all(isinstance(m, Listing | Array) for m in members(left)):
        item = iterate(core, right, node.value)
        for member in members(left):
            if isinstance(member, Listing):
                core.add(member.cell, item)
            elif join(iterate_items(core, member), item) != iterate_items(core, member):
                core.foreign = True
        return
    if isinstance(node.op, ast.BitOr) and all(isinstance(m, Record | Mapped) for m in members(left)):
        for member in members(left):
            if isinstance(member, Record | Mapped):
                update(core, member, right)
        return
    result = operate(core, node.op, left_node, left, node.value, right, node)
    if len(core.findings) == found:
        # In a loop it grows from turn to turn.
        result = widened(result) if core.frame.loops else result
        bind_target(core, node.target, result, node.value)


def _as_load(target: ast.expr) -> ast.expr:
    """The target of `x += 1`, to be read."""
    match target:
        case ast.Name(id=name):
            made: ast.expr = ast.Name(name, ast.Load())
        case ast.Subscript(value=value, slice=index):
            made = ast.Subscript(value, index, ast.Load())
        case ast.Attribute(value=value, attr=attr):
            made = ast.Attribute(value, attr, ast.Load())
        case _:
            return target
    return ast.copy_location(made, target)


def _return(core: Core, node: ast.Return) -> None:
    core.frame.returns.append(core.evaluate(node.value) if node.value is not None else NONE)
    core.frame.last = join_env(core.frame.last, core.frame.env)
    core.frame.env = None


def _raise(core: Core, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            core.evaluate(part)
    core.frame.env = None


def _break(core: Core, _node: ast.Break) -> None:
    if core.frame.loops and core.frame.env is not None:
        core.frame.loops[-1].breaks.append(core.frame.env)
    core.frame.env = None


def _continue(core: Core, _node: ast.Continue) -> None:
    if core.frame.loops and core.frame.env is not None:
        core.frame.loops[-1].continues.append(core.frame.env)
    core.frame.env = None


def _if(core: Core, node: ast.If) -> None:
    core.evaluate(node.test)
    before = core.frame.env
    before = before.copy() if before is not None else None
    holds, fails = apart(core, node.test)
    core.frame.env = holds
    with core.condition():
        core.execute(node.body)
        after = core.frame.env
        core.frame.env = fails
        core.execute(node.orelse)
    core.frame.env = join_env(after, core.frame.env)
    reunited(before, core.frame.env, node)


def _assert(core: Core, node: ast.Assert) -> None:
    core.evaluate(node.test)
    refine(core, node.test, True)


def _function(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    note_defaults(core, node)
    core.bind(node.name, decorated(core, node, Function(node, core.frame)))


def _import(core: Core, node: ast.Import) -> None:
    for alias in node.names:
        core.bind(
            alias.asname or alias.name.split(".")[0], Library(alias.name if alias.asname else alias.name.split(".")[0])
        )


def _import_from(core: Core, node: ast.ImportFrom) -> None:
    for alias in node.names:
        core.bind(alias.asname or alias.name, Library(f"{node.module}.{alias.name}"))


def _delete(core: Core, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            core.unbind(target.id)
        elif isinstance(target, ast.Subscript):
            for member in members(core.evaluate(target.value)):
                if isinstance(member, Mapped):
                    core.shrink(member.cell)
                elif isinstance(member, Listing):
                    core.add(member.cell, settled(member.cell.item))


_HANDLERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.If: _if,
    ast.Assert: _assert,
    ast.For: for_loop,
    ast.AsyncFor: for_loop,
    ast.While: while_loop,
    ast.Try: try_statement,
    ast.TryStar: try_statement,
    ast.With: with_statement,
    ast.AsyncWith: with_statement,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: class_statement,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Match: match_statement,
}
