"""Methods of dicts: those of responses and those that the program makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from atc.check.functions.arguments import Arguments, exact
from atc.check.known.containers import merge
from atc.check.known.core import Core
from atc.check.known.fields import field_type, value_type
from atc.check.known.kinds import (
    ANY,
    NEVER,
    NONE,
    Atom,
    Iterating,
    Listing,
    Mapped,
    Record,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, members
from atc.check.narrowing.turns import all_of, each_item
from atc.check.operations.iteration import iterate_items, iterate_one
from atc.check.operations.keys import check_key
from atc.check.reading.access import read
from atc.check.source.memo import walk

ENVELOPE = {
    "error", "errors", "message", "messages", "status", "status_code", "detail", "details", "code", "success", "ok",
    "warning", "warnings", "next", "next_page", "next_cursor", "next_token", "next_page_token", "has_more", "cursor",
}  # fmt: skip
"""Keys that careful programs ask any response for, there or not."""


def get(core: Core, value: Type, node: ast.Call, arguments: Arguments) -> Type:
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
    return any(isinstance(part, ast.Call | ast.Subscript | ast.Name) for part in walk(node.args[1]))


def _values(member: Type) -> Type:
    if isinstance(member, Mapped):
        return join(*member.cell.keys.values(), member.cell.value)
    return ANY


def call_dict(core: Core, member: Record | Mapped, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What any other method of a dict gives, and what it changes."""
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
            _update(core, member, arguments)
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


def _update(core: Core, member: Record | Mapped, arguments: Arguments) -> None:
    for name, value in arguments.named.items():
        if isinstance(member, Mapped):
            core.put(member.cell, name, value)
        else:
            core.overwrite(name)
    for value in (*arguments.values, *arguments.loose):
        update(core, member, value)
    if isinstance(member, Record):
        core.escape(arguments.named.values())


def update(core: Core, member: Record | Mapped, value: Type) -> None:
    """Put every key of `value`, or of its pairs, into a dict."""
    if isinstance(member, Record):
        for part in members(value):
            match part:
                case Mapped(cell) if not cell.open:
                    keys: Iterable[Any] = cell.keys
                    core.escape([*cell.keys.values()])
                case Record(shape=shape) if shape.closed:
                    keys = shape.properties
                case _:
                    core.foreign = True
                    core.escape([part])
                    return
            for key in keys:
                core.overwrite(str(key))
        return
    pair = iterate_items(core, value) if isinstance(value, Iterating | Listing) else ANY
    if isinstance(pair, Tuple) and len(pair.items) == 2:
        core.put_any(member.cell, *pair.items)
    else:
        merge(core, member, value)
