"""`asyncio`: what is awaitable, and what awaiting it gives."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.check.functions.arguments import Arguments, read_arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NONE, Awaitable, Iterating, ToolRef, Tuple, Type
from atc.check.known.lattice import join, joined, members
from atc.check.library.ordering import apply
from atc.check.operations.iteration import iterate
from atc.check.operations.moments import FAILURE, TASK_GROUP


def _result(value: Type) -> Type:
    """What awaiting gives."""
    return joined(member.result if isinstance(member, Awaitable) else ANY for member in members(value))


def _to_thread(core: Core, node: ast.Call) -> Type:
    arguments = read_arguments(core, node)
    if not arguments.sure or not arguments.values:
        core.escape(arguments.every())
        return Awaitable(ANY)
    if arguments.named:
        core.escape(arguments.every())
        return Awaitable(ANY)
    return Awaitable(apply(core, arguments.values[0], arguments.values[1:]))


def _gather(core: Core, node: ast.Call) -> Type:
    starred = [part for part in node.args if isinstance(part, ast.Starred)]
    lenient = any(keyword.arg == "return_exceptions" for keyword in node.keywords)
    values: list[Type] = []
    for part in node.args:
        if isinstance(part, ast.Starred):
            values.append(iterate(core, core.evaluate(part.value), part.value))
            continue
        _check_awaitable(core, part)
        values.append(core.evaluate(part))
    for keyword in node.keywords:
        core.evaluate(keyword.value)
    results = [join(_result(value), FAILURE) if lenient else _result(value) for value in values]
    if starred:
        return Awaitable(core.listing(node, joined(results)))
    return Awaitable(Tuple(tuple(results), "list")) if results else Awaitable(ANY)


def _check_awaitable(core: Core, part: ast.expr) -> None:
    if not (isinstance(part, ast.Call) and isinstance(part.func, ast.Name)):
        return
    with core.silence():
        callee = core.evaluate(part.func)
    if isinstance(callee, ToolRef):
        alias = callee.alias
        better = f"asyncio.to_thread({alias}, …)"
        message = f"{alias}(…) gives its result at once, which cannot be awaited. Write {better}."
        core.report("not-awaitable", part, message, tool=alias, better=better)


def _passing(core: Core, node: ast.Call) -> Type:
    """`create_task(x)`, `wait_for(x, timeout)`: awaiting gives what awaiting x gives."""
    arguments = read_arguments(core, node)
    return Awaitable(_result(arguments.values[0])) if arguments.values and arguments.sure else Awaitable(ANY)


def _task_group(_core: Core, _node: ast.Call) -> Type:
    return TASK_GROUP


def create_task(core: Core, arguments: Arguments) -> Type:
    """`group.create_task(x)`."""
    if arguments.first() is None:
        core.escape(arguments.every())
        return Awaitable(ANY)
    return Awaitable(_result(arguments.values[0]))


def _run(core: Core, node: ast.Call) -> Type:
    arguments = read_arguments(core, node)
    return _result(arguments.values[0]) if arguments.values and arguments.sure else ANY


def _as_completed(core: Core, node: ast.Call) -> Type:
    arguments = read_arguments(core, node)
    if not arguments.values or not arguments.sure:
        return ANY
    return Iterating(iterate(core, arguments.values[0], arguments.nodes[0]), "as_completed")


def _sleep(core: Core, node: ast.Call) -> Type:
    read_arguments(core, node)
    return Awaitable(NONE)


ASYNCIO: dict[str, Callable[[Core, ast.Call], Type]] = {
    "asyncio.to_thread": _to_thread,
    "asyncio.gather": _gather,
    "asyncio.create_task": _passing,
    "asyncio.ensure_future": _passing,
    "asyncio.wait_for": _passing,
    "asyncio.shield": _passing,
    "asyncio.TaskGroup": _task_group,
    "asyncio.run": _run,
    "asyncio.as_completed": _as_completed,
    "asyncio.sleep": _sleep,
}
