"""Methods of lists, sets and deques."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    INT,
    NEVER,
    NONE,
    Array,
    Listing,
    Null,
    Type,
)
from atc.check.known.lattice import join, members, not_none
from atc.check.library.ordering import check_keyed
from atc.check.operations.equality import check_sought
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import iterate, iterate_items, iterate_one
from atc.check.operations.operators import category
from atc.check.report import spelled


def call_list(core: Core, member: Array | Listing, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What `member.method(…)` gives, and what it changes."""
    item = iterate_one(core, member)
    match func.attr:
        case "append" | "add" | "appendleft":
            if func.attr == "add" and arguments.first() is not None:
                check_hashable(core, arguments.values[0], arguments.nodes[0])
            _put(core, member, join(*arguments.values))
        case "insert":
            _put(core, member, join(*arguments.values[1:]))
        case "extend" | "update" | "extendleft":
            for value, where in zip(arguments.values, arguments.nodes, strict=True):
                _put(core, member, iterate(core, value, where))
        case "sort":
            check_keyed(core, item, func.value, arguments, "sort()")
        case "pop" | "popleft":
            _take_out(core, member)
            return ANY if item is NEVER else item
        case "copy" | "union" | "intersection" | "difference" | "symmetric_difference":
            return _combined(core, member, func.attr, node, arguments)
        case "index" | "count":
            _seek(core, item, func, node, arguments)
            return INT
        case "clear" | "remove" | "discard" | "reverse":
            if arguments.values == [NONE]:
                core.env.calm |= {m.origin for m in members(item) if isinstance(m, Null) and m.origin is not None}
            _take_out(core, member)
        case _:
            core.escape([member, *arguments.every()])
            return ANY
    return NONE


def _combined(core: Core, member: Array | Listing, method: str, node: ast.Call, arguments: Arguments) -> Type:
    """A copy, or what the methods of sets give."""
    item = iterate_one(core, member)
    others = [iterate_items(core, value) for value in arguments.values]
    if method == "difference" and any(isinstance(part, Null) for other in others for part in members(other)):
        item = not_none(item)
    extra = others if method == "union" else []
    return core.listing(node, join(item, *extra), member.kind if isinstance(member, Listing) else "list")


def _seek(core: Core, item: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> None:
    """`count(text)` and `index(text)`."""
    if arguments.first() is not None and category(arguments.values[0]) == category(item) == "str":
        check_sought(core, node, arguments.values[0], arguments.nodes[0], item, spelled(func.value))


def _take_out(core: Core, member: Array | Listing) -> None:
    """Of what is left it is no longer certain what it holds."""
    if isinstance(member, Listing):
        core.add(member.cell, settled(member.cell.item))


def _put(core: Core, member: Array | Listing, item: Type) -> None:
    if isinstance(member, Listing):
        core.add(member.cell, item)
        return
    core.escape([item])
    own = iterate_one(core, member)
    if join(own, item) != own:
        core.foreign = True
