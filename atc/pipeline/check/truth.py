"""Detection of tests such as `if result:` that are always true, because the object has keys.

A response such as `{"flights": [], "total": 0}` is truthy although it lists nothing. Programs that
use the response for more than the test are not reported: they test it to be safe, and what they
read decides.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from atc.core.messages import format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.schema import list_keys
from atc.pipeline.check.syntax import caught_exceptions, once_per_check, walk_nodes

_TESTS = f"{__name__}.tests"
_FAILURES = frozenset({"ToolError", "Exception", "BaseException"})


class _Tests(NamedTuple):
    """Facts about the truth tests of a program that its syntax shows.

    `nodes` are names and calls whose value the program only tests. `guarded` are those of them
    whose call may fail without ending the program, so that the test may ask if it succeeded.
    """

    nodes: frozenset[ast.AST]
    guarded: frozenset[ast.AST]


def check_truth(core: Interpreter, node: ast.expr, value: t.Type) -> None:
    """Report an expression that the program only tests, and whose value is always true.

    `value` is the type of the expression.
    """
    if not isinstance(value, t.Record) or not value.shape.filled:
        return
    tests: _Tests = once_per_check(core.module, _TESTS, _find_tests)
    if node not in tests.nodes:
        return
    what = _describe(node)
    lists = list_keys(value)
    is_certain = bool(lists) and node not in tests.guarded and not core.catches("ToolError")
    better = None
    advice = ""
    if len(lists) == 1 and value.shape.is_closed and not isinstance(node, ast.Await):
        better = f"{what}[{lists[0]!r}]"
        advice = f" Test {better}."
    elif lists:
        advice = f" Test {' or '.join(map(repr, lists))} in it."
    message = (
        f"{what} is always true: {value.origin} is an object with keys, also when it found"
        f" nothing.{advice}"
    )
    core.report(
        "always-true",
        node,
        message,
        tool=value.origin.tool,
        better=better,
        certain=is_certain,
    )


def check_alternative(core: Interpreter, node: ast.BoolOp, place: ast.expr, value: t.Type) -> None:
    """Report `first(…) or second(…)` whose second call is never made.

    `place` is the operand whose value is always true, and `value` its type. A constant after `or`
    is not reported: the program has it to be safe.
    """
    after = node.values[node.values.index(place) + 1 :]
    calls = [part for other in after for part in walk_nodes(other) if isinstance(part, ast.Call)]
    tools = [call for call in calls if isinstance(core.peek(call.func), t.ToolRef)]
    if not tools or not isinstance(value, t.Record) or not value.shape.document.strict:
        return
    message = (
        f"{_describe(place)} is always true: {value.origin} is an object with keys, also when it"
        " found nothing. What follows `or` is never called."
    )
    core.report("always-true", place, message, tool=value.origin.tool)


def _describe(node: ast.expr) -> str:
    """Return a name for an expression: the expression itself, or `f(…)` for a call."""
    if isinstance(node, ast.Call):
        return f"{format_expression(node.func)}(…)"
    return format_expression(node)


def _find_tests(module: ast.AST) -> _Tests:
    """Return the names and calls that a program uses for a truth test and for nothing else."""
    nodes = walk_nodes(module)
    places = {inner for node in nodes for inner in _tested_by(node)}
    endless = {inner for node in nodes for inner in _end_of_endless_loop(node)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    reads = [node for node in names if isinstance(node.ctx, ast.Load)]
    others = Counter(node.id for node in reads if node not in places)
    only_tested = {
        node
        for node in places
        if node in endless or isinstance(node, ast.Call) or not others[_name_of(node)]
    }
    caught = {name for node in nodes for name in _names_in_try(node)}
    guarded = {node for node in only_tested - endless if _name_of(node) in caught}
    return _Tests(frozenset(only_tested), frozenset(guarded))


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _tested_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the names and calls of which a syntax node needs only to know if they are true."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from _operands([test])
        case ast.comprehension(ifs=tests):
            yield from _operands(tests)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _operands([inner])
        case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
            yield from _operands([inner])
        case ast.Call(func=ast.Name(id="any" | "all"), args=[inner], keywords=[]):
            match inner:
                case ast.GeneratorExp(elt=each) | ast.ListComp(elt=each):
                    yield from _operands([each])
                case ast.List(elts=items) | ast.Tuple(elts=items):
                    yield from _operands(items)
                case _:
                    yield from _operands([inner])


def _operands(tests: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Yield the names and calls that decide whether conditions are true."""
    for test in tests:
        match test:
            case ast.BoolOp(values=values):
                yield from _operands(values)
            case ast.Name() | ast.Call():
                yield test
            case ast.NamedExpr(target=target, value=ast.Call()):
                yield target


def _end_of_endless_loop(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the test that alone could end a `while` loop.

    It is X of `while X:` without another exit, or of `while True:` whose only exit is
    `if not X: break`. If X is always true, the loop never ends.
    """
    if not isinstance(node, ast.While):
        return
    inside = [part for statement in node.body for part in walk_nodes(statement)]
    exits = [part for part in inside if isinstance(part, ast.Break | ast.Return | ast.Raise)]
    calls = [part for part in inside if isinstance(part, ast.Call)]
    if any(isinstance(call.func, ast.Name) and call.func.id == "exit" for call in calls):
        return
    if not isinstance(node.test, ast.Constant):
        if not exits and isinstance(node.test, ast.Name):
            yield node.test
        return
    for part in inside:
        match part:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Name() as operand), body=[only]):
                if exits == [only]:
                    yield operand


def _names_in_try(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a `try` assigns if the tool did not fail."""
    if not isinstance(node, ast.Try):
        return
    caught = {name for handler in node.handlers for name in caught_exceptions(handler)}
    for part in walk_nodes(node) if caught & _FAILURES else ():
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
