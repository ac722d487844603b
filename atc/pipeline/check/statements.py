"""Effect of each kind of statement on the interpreter's state, and the run over a whole program."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.core.messages import format_expression
from atc.core.types import Finding
from atc.pipeline.check import expressions
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import OutOfSteps, bounded, spend
from atc.pipeline.check.expressions import binary, bind_target
from atc.pipeline.check.interpreter import Env, Interpreter, ScopeFrame, join_env
from atc.pipeline.check.library import note_function, run_body
from atc.pipeline.check.narrowing import outcomes, refine
from atc.pipeline.check.subscripts import iterate
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

_MOST_PASSES = 6
_OF_NAMES = ("undefined-", "unknown-", "used-", "missing-argument", "positional-", "bad-")
"""Prefixes of the codes of findings that do not depend on the contents of responses."""


class ProgramInterpreter(Interpreter):
    """The complete interpreter: `Interpreter` with statements and expressions."""

    sure = 0
    """Number of findings from parts of the program that were analysed completely."""

    def evaluate(self, node: ast.expr) -> t.Type:
        """Return the type of an expression and report the problems in it."""
        return expressions.evaluate(self, node)

    def execute(self, body: list[ast.stmt]) -> None:
        """Execute statements in the current frame until control leaves it."""
        for statement in body:
            if self.frame.env is None:
                return
            self.step()
            handler = _HANDLERS.get(type(statement))
            if handler is not None:
                handler(self, statement)


def flow_findings(module: ast.Module, hints: SyntaxFacts, tools: Toolbox) -> list[Finding]:
    """Return the findings from following every value through the program."""
    flow = ProgramInterpreter(tools, module, hints)
    elsewhere = _run(flow)
    changed = {name for function in elsewhere for name in find_outer_changes(function)}
    if changed - flow.volatile:
        # Functions that run at unknown times change names that others read: start again, treating
        # these names as unknown.
        flow = ProgramInterpreter(tools, module, hints)
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
    """Analyse the program. Return the functions that are called at a time the check cannot see."""
    elsewhere: list[FunctionNode] = []
    try:
        _follow(flow, elsewhere)
    except (OutOfSteps, RecursionError):
        # Findings of an incomplete pass are not certain.
        del flow.findings[flow.sure :]
    return elsewhere


def _follow(flow: ProgramInterpreter, elsewhere: list[FunctionNode]) -> None:
    """Analyse the program within the work budget. Functions that the program does not visibly call
    are added to `elsewhere`.
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
    """Evaluate an annotation, unless the program postpones that with `from __future__ import
    annotations`.
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
    right = core.evaluate(node.value)
    if isinstance(node.op, ast.BitOr) and any(
        isinstance(member, t.Record | t.Mapped) for member in t.members(left)
    ):
        core.escape([left])
        core.foreign |= any(isinstance(member, t.Record) for member in t.members(left))
        return
    result = binary(core, node.op, node.target, left, node.value, right, node)
    if len(core.findings) == found:
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
    """Execute a class body. Nothing is known about the class itself; its methods are analysed like
    functions that are never called.
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
    after, core.frame.env = core.frame.env, fails
    core.execute(node.orelse)
    core.frame.env = join_env(after, core.frame.env)


def _match(core: Interpreter, node: ast.Match) -> None:
    """Execute a `match` statement. The types of captured names are unknown."""
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


def _leave(core: Interpreter, node: ast.Break | ast.Continue) -> None:
    if core.frame.loops and core.frame.env is not None:
        core.frame.loops[-1][isinstance(node, ast.Continue)].append(core.frame.env)
    core.frame.env = None


def _report_shrinking(core: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    """Report a loop that removes items from the list it iterates over, since the item after each
    removed one is skipped. A loop that contains `break` or `return` is not reported.
    """
    inside = [part for statement in node.body for part in walk_nodes(statement)]
    if any(isinstance(part, ast.Break | ast.Return) for part in inside):
        return
    name = format_expression(node.iter)
    for part in inside:
        match part:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="remove" | "pop"))
                | ast.Delete(targets=[ast.Subscript(value=ast.Name(id=owner))])
            ) if owner == name:
                said = f"{name} loses items while the loop goes through it, so that others are skipped."
                better = f"list({name})"
                core.report(
                    "changed-in-loop", node.iter, f"{said} Loop over {better}.", better=better
                )
                return


def _for(core: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    value = core.evaluate(node.iter)
    _report_shrinking(core, node)
    items = t.ANY if isinstance(node, ast.AsyncFor) else iterate(core, value, node.iter)

    def start() -> Env | None:
        # The loop body may have added items to the list.
        grown = t.join_all(
            member.cell.item for member in t.members(value) if isinstance(member, t.Listing)
        )
        bind_target(
            core,
            node.target,
            items if isinstance(node, ast.AsyncFor) else t.join(items, grown),
            node.iter,
        )
        return None

    _loop(core, node.body, node.orelse, start, always=False)


def _while(core: Interpreter, node: ast.While) -> None:
    def start() -> Env | None:
        core.evaluate(node.test)
        core.frame.env, fails = outcomes(core, node.test)
        return fails

    _loop(core, node.body, node.orelse, start, always=True)


def _loop(
    core: Interpreter,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    start: Callable[[], Env | None],
    *,
    always: bool,
) -> None:
    """Execute a loop's body until nothing new is learned. Only findings of the last pass are kept.

    `start` begins an iteration and returns the environment in which the loop condition fails.
    `always` is True if the loop can only end there or with `break`; a `for` loop may end at any
    iteration.
    """
    frame = core.frame
    breaks = list[Env]()
    continues = list[Env]()
    entry = frame.env
    ends = None
    frame.loops.append((breaks, continues))
    for attempt in range(_MOST_PASSES):
        mark = len(core.findings)
        version = core.version
        breaks.clear()
        continues.clear()
        frame.env = entry.copy() if entry is not None else None
        ends = start()
        core.execute(body)
        again = frame.env
        for env in continues:
            again = join_env(again, env)
        after = join_env(entry, again)
        spend(len(after.names) if after is not None else 0)
        if version == core.version and (
            after == entry or (len(core.findings) == mark and _is_stable(entry, after))
        ):
            entry = after
            break
        del core.findings[mark:]
        entry = _widen(entry, after) if attempt else after
    frame.loops.pop()
    if ends is not None and entry is not None:
        ends.names = entry.names | ends.names
    frame.env = ends if always else entry
    core.execute(orelse)
    for env in breaks:
        frame.env = join_env(frame.env, env)


def _is_stable(old: Env | None, new: Env | None) -> bool:
    """Return True if everything that was known before an iteration still holds after it."""
    if old is None or new is None:
        return old is new
    spend(len(old.names))
    return old.null_checked == new.null_checked and all(
        new.names.get(name) == value for name, value in old.names.items()
    )


def _widen(old: Env | None, new: Env | None) -> Env | None:
    """Return `new` with a wider type for each variable that still changes: constants lose their
    values, all others become `ANY`.
    """
    if old is None or new is None:
        return new
    spend(4 * len(new.names))
    names: dict[str, t.Type] = {}
    for name, value in new.names.items():
        before = old.names.get(name, t.NEVER)
        names[name] = (
            value
            if before == value
            else t.forget_constants(value)
            if t.forget_constants(value) == t.forget_constants(before)
            else t.ANY
        )
    return Env(names, new.null_checked)


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
    **dict.fromkeys([ast.Break, ast.Continue], _leave),
    ast.If: _if,
    ast.Assert: _assert,
    **dict.fromkeys([ast.For, ast.AsyncFor], _for),
    ast.While: _while,
    **dict.fromkeys([ast.Try, ast.TryStar], _try),
    **dict.fromkeys([ast.With, ast.AsyncWith], _with),
    **dict.fromkeys([ast.FunctionDef, ast.AsyncFunctionDef], _function),
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Match: _match,
}
