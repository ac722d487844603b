"""Analysis of statements by the static check, and of a whole program.

The check follows a program with types instead of values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.core.messages import format_expression
from atc.core.types import Finding
from atc.pipeline.check import expressions
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import OutOfSteps, bounded
from atc.pipeline.check.expressions import bind_target
from atc.pipeline.check.functions import note_function, run_body
from atc.pipeline.check.interpreter import Env, Interpreter, ScopeFrame, join_env
from atc.pipeline.check.loops import execute_for, execute_while, leave_loop
from atc.pipeline.check.narrowing import outcomes, refine
from atc.pipeline.check.operators import binary
from atc.pipeline.check.syntax import (
    FunctionNode,
    SyntaxFacts,
    caught_exceptions,
    find_outer_changes,
    names_bound_by,
    parameters,
    walk_nodes,
)
from protocols.toolbox import Toolbox

_OF_NAMES = ("undefined-", "unknown-", "used-", "missing-argument", "positional-", "bad-")
"""Prefixes of the codes of findings that do not depend on the contents of responses."""


class ProgramInterpreter(Interpreter):
    """The complete interpreter of the static check.

    It adds the analysis of statements and expressions to the state in `Interpreter`.
    """

    sure = 0
    """Number of findings in the parts of the program that were analysed completely."""

    def evaluate(self, node: ast.expr) -> t.Type:
        """Return the type of an expression and report the problems in it."""
        return expressions.evaluate(self, node)

    def execute(self, body: list[ast.stmt]) -> None:
        """Analyse statements one after another, until one of them leaves the current frame."""
        for statement in body:
            if self.frame.env is None:
                return
            self.step()
            handler = _HANDLERS.get(type(statement))
            if handler is not None:
                handler(self, statement)


def flow_findings(
    module: ast.Module, hints: SyntaxFacts, tools: Toolbox, *, lenient: bool = False
) -> list[Finding]:
    """Return the findings about the values of a whole program, by following their types through it.

    If `lenient` is True, weak evidence about responses is ignored.
    """
    flow = ProgramInterpreter(tools, module, hints, lenient=lenient)
    elsewhere = _run(flow)
    changed = {name for function in elsewhere for name in find_outer_changes(function)}
    if changed - flow.volatile:
        # Functions that run at unknown times change names that others read: start again, treating
        # these names as unknown.
        flow = ProgramInterpreter(tools, module, hints, lenient=lenient)
        flow.volatile |= changed
        _run(flow)
    found = [one for one in flow.findings if one.code.startswith(_OF_NAMES) or not flow.foreign]
    # A program that tests some value of a tool for None is aware of nulls: do not report nullable
    # arguments from that tool.
    return [
        o
        for o in found
        if o.certain or o.argument is None or o.code != "none-value" or o.tool not in flow.tested
    ]


def _run(flow: ProgramInterpreter) -> list[FunctionNode]:
    """Analyse the program, and return its functions that no analysed call has reached.

    If the work budget is used up, findings of incompletely analysed parts are dropped.
    """
    elsewhere: list[FunctionNode] = []
    try:
        _follow(flow, elsewhere)
    except (OutOfSteps, RecursionError):
        # Findings of an incomplete pass are not certain.
        del flow.findings[flow.sure :]
    return elsewhere


def _follow(flow: ProgramInterpreter, elsewhere: list[FunctionNode]) -> None:
    """Analyse the module, then the functions that no analysed call has reached.

    These functions are added to `elsewhere`. The work is charged to the budget of the check.
    """
    with bounded():
        for statement in flow.module.body:
            flow.execute([statement])
            flow.sure = len(flow.findings)
        outer = ScopeFrame(flow.module, env=flow.frame.env, detached=True)
        for node in flow.hints.functions:
            if node not in flow.analysed:
                # No visible call: the parameters may have any value.
                elsewhere.append(node)
                flow.analysed.add(node)
                flow.shielded.clear()
                parent = flow.defined_in.get(node, outer)
                frame = ScopeFrame(
                    node, parent, Env(dict.fromkeys(parameters(node), t.ANY)), detached=True
                )
                run_body(flow, t.Function(node, parent), frame)
                flow.sure = len(flow.findings)


def _assign(core: Interpreter, node: ast.Assign) -> None:
    value = core.evaluate(node.value)
    for target in node.targets:
        bind_target(core, target, value, node.value)


def _annotation(core: Interpreter, node: ast.expr | None) -> None:
    """Evaluate a type annotation, unless Python itself would not evaluate it.

    With `from __future__ import annotations`, annotations are not evaluated.
    """
    postponed = any(
        isinstance(part, ast.ImportFrom) and part.module == "__future__"
        for part in core.module.body[:3]
    )
    if node is not None and not postponed:
        core.evaluate(node)


def _ann_assign(core: Interpreter, node: ast.AnnAssign) -> None:
    if isinstance(core.frame.scope, ast.Module):
        _annotation(core, node.annotation)
    if node.value is not None:
        bind_target(core, node.target, core.evaluate(node.value), node.value)


def _aug_assign(core: Interpreter, node: ast.AugAssign) -> None:
    found = len(core.findings)
    left = core.evaluate(node.target)
    is_usable = len(core.findings) == found
    right = core.evaluate(node.value)
    found = len(core.findings)
    if isinstance(node.op, ast.BitOr) and any(
        isinstance(member, t.Record | t.Mapped) for member in t.members(left)
    ):
        core.escape([left])
        core.foreign |= any(isinstance(member, t.Record) for member in t.members(left))
        return
    result = binary(core, node.op, node.target, left, node.value, right, node)
    if is_usable and len(core.findings) == found:
        bind_target(core, node.target, result, node.value)


def _return(core: Interpreter, node: ast.Return) -> None:
    core.frame.returns.append(core.evaluate(node.value) if node.value is not None else t.NONE)
    core.frame.env = None


def _raise(core: Interpreter, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            core.evaluate(part)
    core.frame.env = None


def _assert(core: Interpreter, node: ast.Assert) -> None:
    core.evaluate(node.test)
    refine(core, node.test, True)


def _function(core: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    made = note_function(core, node)
    for part in walk_nodes(node.args):
        _annotation(core, part.annotation if isinstance(part, ast.arg) else None)
    _annotation(core, node.returns)
    for decorator in node.decorator_list:
        core.evaluate(decorator)
    names = {
        format_expression(part.func if isinstance(part, ast.Call) else part).split(".")[-1]
        for part in node.decorator_list
    }
    core.bind(node.name, made if names <= {"cache", "lru_cache", "wraps"} else t.ANY)


def _class(core: Interpreter, node: ast.ClassDef) -> None:
    """Analyse a class definition of the program.

    Nothing is known about the class itself; its methods are analysed like functions that are never
    called.
    """
    for part in (*node.decorator_list, *node.bases):
        core.evaluate(part)
    outer = core.frame
    core.frame = ScopeFrame(node, outer, Env({}, core.env.null_checked))
    core.execute(node.body)
    core.frame = outer
    core.bind(node.name, t.ANY)


def _import(core: Interpreter, node: ast.Import) -> None:
    for alias in node.names:
        top = alias.name.split(".")[0]
        core.bind(alias.asname or top, t.Library(alias.name if alias.asname else top))


def _import_from(core: Interpreter, node: ast.ImportFrom) -> None:
    for alias in node.names:
        core.bind(alias.asname or alias.name, t.Library(f"{node.module}.{alias.name}"))


def _delete(core: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name) and core.frame.env is not None:
            core.frame.env.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            core.escape(
                m for m in t.members(core.evaluate(target.value)) if isinstance(m, t.Mapped)
            )


def _if(core: Interpreter, node: ast.If) -> None:
    core.evaluate(node.test)
    holds, fails = outcomes(core, node.test)
    core.frame.env = holds
    core.execute(node.body)
    after = core.frame.env
    core.frame.env = fails
    core.execute(node.orelse)
    core.frame.env = join_env(after, core.frame.env)


def _match(core: Interpreter, node: ast.Match) -> None:
    """Analyse a `match` statement. The types of captured names are unknown."""
    core.evaluate(node.subject)
    start = core.frame.env
    result = None
    names = {part.id for part in walk_nodes(node.subject) if isinstance(part, ast.Name)}
    for case in node.cases:
        core.frame.env = start.copy() if start is not None else None
        for part in walk_nodes(case.pattern):
            names |= set(names_bound_by(part))
        for name in names:
            core.bind(name, t.ANY)
        if case.guard is not None:
            core.evaluate(case.guard)
            refine(core, case.guard, True)
        core.execute(case.body)
        result = join_env(result, core.frame.env)
    core.frame.env = join_env(result, start)


def _try(core: Interpreter, node: ast.Try) -> None:
    frame = core.frame
    before = frame.env
    if before is None:
        return
    core.shielded.append(
        frozenset(name for handler in node.handlers for name in caught_exceptions(handler))
    )
    frame.env = before.copy()
    core.execute(node.body)
    core.shielded.pop()
    broken = before.copy()
    bound = {
        n.id
        for part in node.body
        for n in walk_nodes(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    broken.names |= dict.fromkeys(bound, t.ANY)
    core.execute(node.orelse)
    result: Env | None = frame.env
    for handler in node.handlers:
        frame.env = broken.copy()
        if handler.name:
            core.bind(
                handler.name, t.TOOL_ERROR if caught_exceptions(handler) == {"ToolError"} else t.ANY
            )
        core.execute(handler.body)
        result = join_env(result, frame.env)
    frame.env = result if result is not None or not node.finalbody else broken.copy()
    core.execute(node.finalbody)
    if result is None:
        frame.env = None


def _with(core: Interpreter, node: ast.With | ast.AsyncWith) -> None:
    suppressed = any("suppress(" in format_expression(item.context_expr) for item in node.items)
    for item in node.items:
        value = core.evaluate(item.context_expr)
        if item.optional_vars is not None:
            made = (
                value.item
                if isinstance(value, t.Iterating) and value.kind == "generator"
                else t.ANY
            )
            bind_target(
                core,
                item.optional_vars,
                value if isinstance(value, t.Library) else made,
                item.context_expr,
            )
    before = core.frame.env.copy() if core.frame.env is not None and suppressed else None
    core.shielded.append(frozenset({"Exception", "NameError"} if suppressed else ()))
    core.execute(node.body)
    core.shielded.pop()
    core.frame.env = join_env(before, core.frame.env)


_HANDLERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: lambda core, node: core.evaluate(node.value),
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.Raise: _raise,
    **dict.fromkeys([ast.Break, ast.Continue], leave_loop),
    ast.If: _if,
    ast.Assert: _assert,
    **dict.fromkeys([ast.For, ast.AsyncFor], execute_for),
    ast.While: execute_while,
    **dict.fromkeys([ast.Try, ast.TryStar], _try),
    **dict.fromkeys([ast.With, ast.AsyncWith], _with),
    **dict.fromkeys([ast.FunctionDef, ast.AsyncFunctionDef], _function),
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Match: _match,
}
