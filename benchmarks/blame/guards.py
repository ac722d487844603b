"""Edits that disable a guard in a gold program: a test for None or for items, or an `except`."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from benchmarks.blame.gold import Edit, ObservedGold


def missing_guards(gold: ObservedGold, _rng: random.Random) -> Iterator[Edit]:
    """Yield edits that disable a guard, that is, a check in the gold program.

    A test for None (variant `none`) or for items (`empty`) becomes a constant, so that it always
    passes, or an `except ToolError` is changed so that it catches nothing (`failed`).
    """
    for node in ast.walk(gold.tree):
        match node:
            case ast.Compare(
                left=value,
                ops=[ast.Is() | ast.IsNot() as op],
                comparators=[ast.Constant(value=None)],
            ):
                yield from _remove_guard(gold, node, value, str(isinstance(op, ast.IsNot)), "none")
            case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(
                test, ast.Compare | ast.BoolOp
            ):
                tested = test.operand if isinstance(test, ast.UnaryOp) else test
                if any(one.size is not None for one in gold.traced_values(tested)):
                    yield from _remove_guard(gold, test, tested, str(tested is test), "empty")
            case ast.ExceptHandler(type=ast.Name(id="ToolError") as caught):
                call = _guarded_call(gold, node)
                if call is not None:
                    made = gold.calls[call]
                    truths = [gold.place(call, (name,), sure=True) for name in made.arguments]
                    yield caught, "ZeroDivisionError", "failed", truths


def _guarded_call(gold: ObservedGold, handler: ast.ExceptHandler) -> int | None:
    """Return the index of a call inside the `try` to which an exception handler belongs.

    This is the first call that failed or, if none did, the first call. Return None if there is
    none.
    """
    body = gold.parents[handler].body  # type: ignore[attr-defined]
    inside = {node for statement in body for node in ast.walk(statement)}
    calls = [number for number, made in enumerate(gold.calls) if made.site in inside]
    failed = (number for number in calls if gold.calls[number].failed)
    return next(failed, calls[0] if calls else None)


def _remove_guard(
    gold: ObservedGold, test: ast.expr, value: ast.expr, always: str, variant: str
) -> Iterator[Edit]:
    """Yield the edit that replaces a test with the constant `always` ("True" or "False").

    `value` is the expression that was tested, for example for None. The edited program uses the
    expression without the test.
    """
    found = gold.traced_values(value)
    if isinstance(value, ast.Name):
        # A variable that is None has no traced origin, but the values assigned to it have one.
        given = list(_assigned_values(gold.tree, value.id))
        if any(isinstance(one, ast.Constant | ast.Tuple) for one in given):
            return  # the program itself sets it to None first
        found = [one for node in given for one in gold.traced_values(node)] or found
    if found:
        chosen = next((one for one in found if one.value is None and not one.size), found[0])
        yield (
            test,
            always,
            variant,
            [gold.place(chosen.call or 0, chosen.path, sure=len(found) == 1)],
        )


def _assigned_values(tree: ast.AST, name: str) -> Iterator[ast.expr]:
    """Yield the expressions that a program assigns to a variable."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inner = (one for target in targets for one in ast.walk(target))
            if any(isinstance(one, ast.Name) and one.id == name for one in inner):
                yield node.value
