"""Analysis of loops by the static check.

A loop body is analysed repeatedly until the types of all variables are stable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.core.messages import format_expression
from atc.core.types import Finding
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.expressions import bind_target
from atc.pipeline.check.interpreter import Env, Interpreter, join_env
from atc.pipeline.check.kinds import forget_constants
from atc.pipeline.check.narrowing import outcomes
from atc.pipeline.check.subscripts import iterate
from atc.pipeline.check.syntax import walk_nodes

_MOST_PASSES = 6
_MOST_CONSTANTS = 8


def leave_loop(core: Interpreter, node: ast.Break | ast.Continue) -> None:
    """Analyse a `break` or `continue` statement.

    What is known about the variables there is recorded for the loop, and the code after the
    statement is unreachable.
    """
    if core.frame.loops and core.frame.env is not None:
        core.frame.loops[-1][isinstance(node, ast.Continue)].append(core.frame.env)
    core.frame.env = None


def _report_shrinking(core: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    """Report a `for` loop that removes items from the list over which it iterates.

    Such a loop skips the item after each removed one. A loop that contains `break` or `return` is
    not reported.
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
                better = f"list({name})"
                message = (
                    f"{name} loses items while the loop goes through it, so that others are"
                    f" skipped. Loop over {better}."
                )
                core.report("changed-in-loop", node.iter, message, better=better)
                return


def execute_for(core: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    """Analyse a `for` loop as if it were executed, with types instead of values."""
    value = core.evaluate(node.iter)
    if (constants := _few_constants(node)) is not None:
        _execute_each(core, node, constants)
        return
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


def _few_constants(node: ast.For | ast.AsyncFor) -> list[ast.Constant] | None:
    """Return the items of a loop over a short literal tuple or list of texts; None otherwise."""
    match node.iter:
        case ast.Tuple(elts=items) | ast.List(elts=items) if 0 < len(items) <= _MOST_CONSTANTS:
            found = [item for item in items if isinstance(item, ast.Constant)]
            is_text = all(isinstance(item.value, str) for item in found)
            return found if is_text and len(found) == len(items) else None
    return None


def _execute_each(
    core: Interpreter, node: ast.For | ast.AsyncFor, constants: list[ast.Constant]
) -> None:
    """Analyse the body of a loop once for each item, because all items are known.

    A problem (finding) is reported only if it occurs for every item. A loop that tries several keys
    may fail for some of them, as long as it does not fail for all.
    """
    frame = core.frame
    begin = len(core.findings)
    kept: list[Finding] | None = None
    breaks = list[Env]()
    continues = list[Env]()
    frame.loops.append((breaks, continues))
    for item in constants:
        if frame.env is None:
            break
        bind_target(core, node.target, core.evaluate(item), item)
        core.execute(node.body)
        found = core.findings[begin:]
        del core.findings[begin:]
        places = {(one.code, one.line, one.column) for one in found}
        so_far = found if kept is None else kept
        kept = [one for one in so_far if (one.code, one.line, one.column) in places]
        frame.env = _join_envs(frame.env, continues)
        continues.clear()
    core.findings += kept or ()
    frame.loops.pop()
    core.execute(node.orelse)
    frame.env = _join_envs(frame.env, breaks)


def execute_while(core: Interpreter, node: ast.While) -> None:
    """Analyse a `while` loop as if it were executed, with types instead of values."""

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
    """Analyse a loop's body again and again until a pass changes no type of a variable.

    Only findings of the last pass are kept. `start` begins an iteration. It returns the environment
    for the case that the loop ends instead, because its condition is false or no item is left.
    `always` is True for a `while` loop, which only ends if its condition is false or with `break`;
    a `for` loop may end after any iteration.
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
        after = join_env(entry, _join_envs(frame.env, continues))
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
    frame.env = _join_envs(frame.env, breaks)


def _join_envs(first: Env | None, others: list[Env]) -> Env | None:
    for env in others:
        first = join_env(first, env)
    return first


def _is_stable(old: Env | None, new: Env | None) -> bool:
    """Return True if a pass through a loop left the known types of all variables unchanged.

    `old` is what was known before the pass and `new` what is known after it.
    """
    if old is None or new is None:
        return old is new
    spend(len(old.names))
    return old.null_checked == new.null_checked and all(
        new.names.get(name) == value for name, value in old.names.items()
    )


def _widen(old: Env | None, new: Env | None) -> Env | None:
    """Return the environment `new` with wider types for the variables that a loop pass has changed.

    The types of constants lose their known values; all other types become `ANY`. So the analysis of
    the loop ends soon.
    """
    if old is None or new is None:
        return new
    spend(4 * len(new.names))
    names: dict[str, t.Type] = {}
    for name, value in new.names.items():
        before = old.names.get(name, t.NEVER)
        if before == value:
            names[name] = value
            continue
        kind = forget_constants(value)
        names[name] = kind if kind == forget_constants(before) else t.ANY
    return Env(names, new.null_checked)
