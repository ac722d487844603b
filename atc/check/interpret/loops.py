"""Loops, run until nothing new is learned."""

from __future__ import annotations

import ast
from collections.abc import Callable

from atc.check.interpret.targets import bind_target
from atc.check.known.constants import begun, settled, widened
from atc.check.known.core import Core
from atc.check.known.frames import Env, Loop, join_env
from atc.check.known.kinds import ANY, Listing, Type
from atc.check.known.lattice import join, members
from atc.check.narrowing.narrow import apart
from atc.check.narrowing.turns import cut_short, each_item
from atc.check.operations.iteration import iterate
from atc.check.reading.unpacking import check_each

_MOST_PASSES = 6


def for_loop(core: Core, node: ast.For | ast.AsyncFor) -> None:
    """`for`."""
    value = core.evaluate(node.iter)
    items = ANY if isinstance(node, ast.AsyncFor) else iterate(core, value, node.iter)
    check_each(core, node.target, value, node.iter, node.body)

    short = cut_short(node)

    def start() -> Env | None:
        # The list may have grown while it was iterated.
        current = items if isinstance(node, ast.AsyncFor) else join(items, _grown(core, value))
        current = each_item(value, current)
        current = begun(current) if short else current
        bind_target(core, node.target, current, node.iter)
        return core.frame.env.copy() if core.frame.env is not None else None

    _loop(core, node.body, node.orelse, start, before=None)


def _grown(_core: Core, value: Type) -> Type:
    listings = [member for member in members(value) if isinstance(member, Listing)]
    return join(*(settled(member.cell.item) for member in listings))


def while_loop(core: Core, node: ast.While) -> None:
    """`while`."""
    exits: list[Env | None] = []

    def start() -> Env | None:
        core.evaluate(node.test)
        core.frame.env, fails = apart(core, node.test)
        exits[:] = [fails]
        return fails

    _loop(core, node.body, node.orelse, start, before=exits)


def _loop(
    core: Core,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    start: Callable[[], Env | None],
    *,
    before: list[Env | None] | None,
) -> None:
    """Run a loop's body until nothing new is learned; only the findings of the last pass count."""
    frame = core.frame
    entry = frame.env
    loop = Loop(core.depth + 1)
    frame.loops.append(loop)
    ends: Env | None = None
    for attempt in range(_MOST_PASSES):
        mark, version = len(core.findings), core.version
        loop.breaks.clear()
        loop.continues.clear()
        frame.env = entry.copy() if entry is not None else None
        ends = start()
        with core.condition():
            core.execute(body)
        again = frame.env
        for env in loop.continues:
            again = join_env(again, env)
        joined = join_env(entry, again)
        if joined == entry and version == core.version:
            break
        del core.findings[mark:]
        entry = _widened(entry, joined) if attempt >= 1 else joined
    frame.loops.pop()
    # A `for` may end before its first item, or after any; a `while` where its test fails.
    frame.env = ends if before is not None else (entry.copy() if entry is not None else None)
    core.execute(orelse)
    for env in loop.breaks:
        frame.env = join_env(frame.env, env)


def _widened(old: Env | None, new: Env | None) -> Env | None:
    """`new`, with every variable that still changes unknown."""
    if old is None or new is None:
        return new
    names = {
        name: value if old.names.get(name) == value else _wider(old, name, value) for name, value in new.names.items()
    }
    return Env(names, new.calm)


def _wider(old: Env, name: str, value: Type) -> Type:
    """Constants that go on changing are of one kind all the same."""
    kind = widened(value)
    return kind if name in old.names and widened(old.names[name]) == kind else ANY
