"""Methods of dicts, lists, sets and strings."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments, exact
from atc.check.known.constants import settled
from atc.check.known.containers import merge
from atc.check.known.core import Core
from atc.check.known.fields import field_type, value_type
from atc.check.known.kinds import (
    ANY,
    INT,
    NEVER,
    NONE,
    Array,
    Atom,
    Awaitable,
    Iterating,
    Listing,
    Mapped,
    Null,
    Record,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, joined, members, not_none
from atc.check.known.objects import Made
from atc.check.library import pools
from atc.check.library.concurrency import create_task
from atc.check.library.ordering import check_keyed
from atc.check.library.texts import call_text
from atc.check.narrowing.turns import all_of, each_item
from atc.check.operations import moments
from atc.check.operations.equality import check_sought
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import iterate, iterate_items, iterate_one
from atc.check.operations.keys import check_key
from atc.check.operations.operators import category
from atc.check.reading.access import read
from atc.check.report import spelled

ENVELOPE = {
    "error", "errors", "message", "messages", "status", "status_code", "detail", "details", "code", "success", "ok",
    "warning", "warnings", "next", "next_page", "next_cursor", "next_token", "next_page_token", "has_more", "cursor",
}  # fmt: skip
"""Keys that careful programs ask any response for, there or not."""


def call_method(core: Core, value: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What `value.method(…)` gives, and what it changes."""
    if func.attr == "get" and any(isinstance(member, Record | Mapped) for member in members(value)):
        return _get(core, value, node, arguments)
    return joined([_call_one(core, member, func, node, arguments) for member in members(value)])


def _call_one(core: Core, member: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    match member:
        case Record() | Mapped():
            return _dict(core, member, func, node, arguments)
        case Array() | Listing():
            return _list(core, member, func, node, arguments)
        case Atom("str"):
            return call_text(core, member, func, node, arguments)
        case Made("Executor" | "Future"):
            return pools.call_method(core, member, func, node, arguments)
        case Made("TaskGroup"):
            return create_task(core, arguments) if func.attr == "create_task" else ANY
        case Made():
            return moments.call_method(member, func.attr, arguments)
        case Awaitable(result) if func.attr == "result":
            return result
        case Tuple() if func.attr in ("index", "count"):
            return INT
        case Tuple():
            core.foreign = True
            return ANY
        case _:
            core.escape(arguments.every())
            return ANY


def _get(core: Core, value: Type, node: ast.Call, arguments: Arguments) -> Type:
    """`value.get(key, default)`. A key that cannot be there is a finding unless the program allows for that."""
    if not arguments.sure or not arguments.values or len(arguments.values) > 2:
        return ANY
    index = arguments.values[0]
    if check_key(core, value, index, node, arguments.nodes[0]):
        return ANY
    default = arguments.values[1] if len(arguments.values) > 1 else None
    key = index.values[0] if isinstance(index, Atom) and index.values and len(index.values) == 1 else None
    if key is None:
        found = [value_type(m) if isinstance(m, Record) else _values(m) for m in members(value)]
        return join(*found, default or NONE)
    if node in core.hints.tolerated or key in ENVELOPE or _falls_back(node):
        with core.silence():
            found_type = read(core, value, key, node)
    else:
        found_type = _read_get(core, value, key, node)
    # Without a default a declared key gives what its schema says: a None from absence is not held against anyone.
    sure = default is None and all(isinstance(member, Record) for member in members(value))
    return found_type if sure else join(found_type, default or NONE)


def _read_get(core: Core, value: Type, key: object, node: ast.Call) -> Type:
    dicts = [m for m in members(value) if isinstance(m, Record) or (isinstance(m, Mapped) and not _always_empty(m))]
    # A dict that the program fills itself is often asked for what is not there yet.
    if len(dicts) == 1 and isinstance(dicts[0], Mapped) and _lacks(core, dicts[0], key):
        return read(core, dicts[0], key, node)
    if any(isinstance(member, Mapped) for member in dicts):
        with core.silence():
            return read(core, value, key, node)
    return read(core, join(*dicts), key, node)


def _lacks(core: Core, value: Mapped, key: object) -> bool:
    """Whether it is made of objects of responses, and nothing in the program could give it this key."""
    cell = value.cell
    if not cell.merged or cell.open or cell.default is not None or value.refined or core.hints.changes:
        return False
    return key not in cell.keys and key not in core.hints.stored


def _always_empty(value: Mapped) -> bool:
    """Whether it is the `{}` of `.get("x", {})`, into which nothing was ever put."""
    cell = value.cell
    return not (cell.keys or cell.open or value.refined or cell.default is not None)


def _falls_back(node: ast.Call) -> bool:
    """Whether the default is itself looked up: the program expects that the key may not exist at all."""
    if len(node.args) < 2:
        return False
    return any(isinstance(part, ast.Call | ast.Subscript | ast.Name) for part in ast.walk(node.args[1]))


def _values(member: Type) -> Type:
    if isinstance(member, Mapped):
        return join(*member.cell.keys.values(), member.cell.value)
    return ANY


def _dict(core: Core, member: Record | Mapped, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    match func.attr:
        case "keys":
            return Iterating(each_item(member, iterate_one(core, member, func.value)), "dict_keys")
        case "values":
            return Iterating(_all_values(member), "dict_values")
        case "items":
            key = each_item(member, iterate_one(core, member))
            return Iterating(Tuple((key, _all_values(member))), "dict_items")
        case "copy":
            return member
        case "pop" | "setdefault":
            return _pop(core, member, node, arguments)
        case "update":
            _update(core, member, node, arguments)
            return NONE
        case "most_common":
            return core.listing(node, Tuple((iterate_one(core, member), _each_value(member))))
        case "clear":
            if isinstance(member, Mapped):
                core.shrink(member.cell)
            return NONE
        case _:
            core.escape([member, *arguments.every()])
            return ANY


def _each_value(member: Record | Mapped) -> Type:
    if isinstance(member, Mapped):
        found = _values(member)
        return ANY if found is NEVER else found
    return value_type(member)


def _all_values(member: Record | Mapped) -> Type:
    """What the values are, where each certainly comes."""
    if isinstance(member, Mapped) and exact(member) and member.cell.keys:
        return all_of(list(member.cell.keys.values()))
    return _each_value(member)


def _pop(core: Core, member: Record | Mapped, node: ast.Call, arguments: Arguments) -> Type:
    index = arguments.values[0] if arguments.values else ANY
    rest = arguments.values[1:]
    if isinstance(member, Record):
        core.escape(rest)
        key = index.values[0] if isinstance(index, Atom) and index.values and len(index.values) == 1 else None
        if not isinstance(key, str):
            return ANY
        if len(arguments.values) == 2:
            core.overwrite(key)
            return join(field_type(member, key) or ANY, *rest)
        return read(core, member, key, node)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault" and rest:
        core.put_any(member.cell, index, rest[0])
    else:
        core.shrink(member.cell)
    return join(_each_value(member), *rest)


def _update(core: Core, member: Record | Mapped, _node: ast.Call, arguments: Arguments) -> None:
    if isinstance(member, Mapped):
        for name, value in arguments.named.items():
            core.put(member.cell, name, value)
        for value in (*arguments.values, *arguments.loose):
            pair = iterate_items(core, value) if isinstance(value, Iterating | Listing) else ANY
            if isinstance(pair, Tuple) and len(pair.items) == 2:
                core.put_any(member.cell, *pair.items)
            else:
                merge(core, member, value)
        return
    for name in arguments.named:
        core.overwrite(name)
    for value in (*arguments.values, *arguments.loose):
        if isinstance(value, Mapped) and not value.cell.open:
            for key in value.cell.keys:
                core.overwrite(str(key))
        else:
            core.foreign = True
    core.escape(arguments.every())


def _list(core: Core, member: Array | Listing, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
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
