"""Types that functions of `asyncio` and `concurrent.futures` return, see `pending`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.pipeline.check import types as t
from atc.pipeline.check.functions import CallArguments, call_function, read_arguments
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.pending import Pending, awaited
from atc.pipeline.check.schema import items_of
from atc.pipeline.check.toolcalls import call_tool

POOL = "concurrent.futures.ThreadPoolExecutor()"
_LOOP = "asyncio.event_loop"


def call_concurrent(core: Interpreter, name: str, node: ast.Call) -> t.Type | None:
    """Return the type that a call of a function of `asyncio` or `concurrent.futures` returns.

    Return None if the function is another one.
    """
    if name in _LOOPS:
        read_arguments(core, node)
        return t.Library(_LOOPS[name])
    if name in _STARTING:
        return _start_function(core, node, skip=_STARTING[name])
    handler = _HANDLERS.get(name)
    return handler(core, node, read_arguments(core, node)) if handler is not None else None


def _start_function(core: Interpreter, node: ast.Call, *, skip: int) -> t.Type:
    """Return the type of what runs a function beside others, as in `to_thread(f, 1)`.

    `skip` is the number of arguments before the function.
    """
    for argument in node.args[:skip]:
        core.evaluate(argument)
    if len(node.args) <= skip or isinstance(node.args[skip], ast.Starred):
        core.escape(read_arguments(core, node).every())
        return t.ANY
    callee = core.evaluate(node.args[skip])
    if isinstance(callee, t.ToolRef):
        return Pending(call_tool(core, callee.alias, node, skip=skip + 1))
    arguments = read_arguments(core, node)
    for _ in range(skip + 1):
        arguments = arguments.after()
    if not isinstance(callee, t.Function):
        core.escape(arguments.every())
        return t.ANY
    result = call_function(
        core, callee, arguments.values, arguments.named, sure=arguments.sure, call=node
    )
    return Pending(t.ANY if result is t.NEVER else result)


def _gather(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    if "return_exceptions" in arguments.named:
        return Pending(t.ANY)
    if arguments.sure:
        return Pending(t.Tuple(tuple(map(awaited, arguments.values))))
    every = [*map(items_of, arguments.loose), *arguments.values]
    return Pending(core.add_listing_item(node, t.join_all(map(awaited, every))))


def _wait(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    tasks = core.add_listing_item(node, Pending(_item(arguments)), "set")
    return Pending(t.Tuple((tasks, tasks)))


def _wait_for_pool(core: Interpreter, node: ast.Call, arguments: CallArguments) -> t.Type:
    return awaited(_wait(core, node, arguments))


def _as_completed(_core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    return t.Iterating(Pending(_item(arguments)), "iterator")


def _item(arguments: CallArguments) -> t.Type:
    """Return the type that the awaitables in the first argument bring."""
    return awaited(items_of(arguments.values[0])) if arguments.values else t.ANY


def _start(_core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    return Pending(awaited(arguments.values[0])) if arguments.values else t.ANY


def _run(_core: Interpreter, _node: ast.Call, arguments: CallArguments) -> t.Type:
    return awaited(arguments.values[0]) if arguments.values else t.ANY


_STARTING = {"asyncio.to_thread": 0, f"{POOL}.submit": 0, f"{_LOOP}.run_in_executor": 1}
"""Functions that run another function, and the number of arguments before that one."""
_LOOPS = {
    **dict.fromkeys(
        [
            f"asyncio.{name}"
            for name in ("get_event_loop", "get_running_loop", "new_event_loop", "Runner")
        ],
        _LOOP,
    ),
    "asyncio.TaskGroup": _LOOP,
    "concurrent.futures.ThreadPoolExecutor": POOL,
}
"""Functions that return an object whose methods are known."""
_HANDLERS: dict[str, Callable[[Interpreter, ast.Call, CallArguments], t.Type]] = {
    "asyncio.gather": _gather,
    "asyncio.wait": _wait,
    "concurrent.futures.wait": _wait_for_pool,
    **dict.fromkeys(["asyncio.as_completed", "concurrent.futures.as_completed"], _as_completed),
    **dict.fromkeys(
        [
            f"{owner}.{name}"
            for owner in ("asyncio", _LOOP)
            for name in ("create_task", "ensure_future", "shield", "wait_for")
        ],
        _start,
    ),
    **dict.fromkeys(["asyncio.run", f"{_LOOP}.run", f"{_LOOP}.run_until_complete"], _run),
}
