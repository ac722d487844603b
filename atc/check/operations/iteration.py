"""Iterating values, and objects that are iterated by mistake."""

from __future__ import annotations

import ast
from typing import Any

from atc.check.functions.functions import call_function
from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.fields import item_type
from atc.check.known.kinds import (
    ANY,
    INT,
    NUMBERS,
    STR,
    Array,
    Atom,
    Awaitable,
    Function,
    Iterating,
    KeyOf,
    Listing,
    Mapped,
    Nothing,
    Record,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, joined, literal, members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Instance, Made
from atc.check.known.shapes import convert
from atc.check.known.words import described
from atc.check.report import listed, spelled


def called(core: Core, tool: ToolRef) -> str:
    """A call of a tool, its required arguments left open."""
    known = core.tools[tool.alias]
    return f"{tool.alias}({', '.join(f'{name}=…' for name in known.arguments if name in known.required)})"


def some_item(value: Type) -> Type:
    """An item that is read does exist, so a list that looks empty was filled where we did not see it."""
    return ANY if isinstance(value, Nothing) else value


def keys_text(record: Record) -> str:
    """An object's keys, for a message."""
    return listed(record.shape.properties) if record.shape.properties else "of its own"


def list_keys(record: Record) -> list[str]:
    """The keys of an object under which a list stands."""
    shape = record.shape
    return [
        key
        for key, schema in shape.properties.items()
        if any(isinstance(m, Array) for m in members(convert(schema, shape.document, record.origin)))
    ]


def report_iterated(core: Core, source: KeyOf) -> None:
    """An object was iterated as though it were a list."""
    record, text = source.record, spelled(source.node)
    lists = list_keys(record)
    better = f"{text}[{lists[0]!r}]" if lists else None
    then = f" Iterate over {better}." if better else ""
    message = (
        f"iterating {text} gives its keys (strings): {record.origin} is an object with keys {keys_text(record)}, "
        f"not a list.{then}"
    )
    core.report("not-a-list", source.node, message, tool=record.origin.tool, better=better)


def iterate(core: Core, value: Type, node: ast.expr) -> Type:
    """The type of each item when `value` is iterated at `node`."""
    value = need_value(core, value, node, "it cannot be iterated")
    alternatives = members(value)
    bad = [m for m in alternatives if _single(m)]
    if len(bad) == len(alternatives) and not core.catches("TypeError"):
        if isinstance(bad[0], Awaitable):
            message, better = f"{spelled(node)} was not awaited. Write `await`.", f"await {spelled(node)}"
            core.report("missing-await", node, message, better=better)
        else:
            then = f" Call it: {called(core, bad[0])}." if isinstance(bad[0], ToolRef) else ""
            core.report("not-a-list", node, f"{spelled(node)} is {described(bad[0])}; it cannot be iterated.{then}")
        return ANY
    # An empty list beside one with items (`.get("rows", [])`) adds none.
    return some_item(join(*(iterate_one(core, member, node) for member in alternatives)))


def _single(member: Type) -> bool:
    """Whether it holds no items."""
    match member:
        case Awaitable() | ToolRef() | Function() | Made("date" | "datetime" | "time" | "timedelta"):
            return True
        case Atom(name):
            return name in NUMBERS
        case _:
            return False


def as_tuple(value: Instance) -> Tuple | None:
    """A named tuple as a tuple; None for any other object."""
    if not value.shape.ordered or value.shape.fields is None:
        return None
    return Tuple(tuple(value.shape.attributes.get(name, ANY) for name in value.shape.fields))


def iterate_one(core: Core, member: Type, node: ast.expr | None = None) -> Type:
    """The items of one alternative. Which constants certainly come is known only of all of them, in a loop."""
    return settled(_items_of(core, member, node))


def _items_of(core: Core, member: Type, node: ast.expr | None) -> Type:
    match member:
        case Array():
            return item_type(member)
        case Listing(cell):
            return cell.item
        case Tuple(items):
            return join(*items)
        case Instance(shape):
            fields = as_tuple(member)
            how, method = shape.members.get("__iter__", ("", ANY))
            if fields is None and how == "method" and isinstance(method, Function):
                result = call_function(core, method, [member], {})
                return result.item if isinstance(result, Iterating) else ANY
            return ANY if fields is None else join(*fields.items)
        case Iterating(item):
            return item
        case Record(shape=shape):
            return Atom("str", None, KeyOf(member, node)) if node is not None and shape.properties else STR
        case Mapped(cell):
            return join(*(_key_type(key) for key in cell.keys), cell.key)
        case Atom("str"):
            return STR
        case Atom("bytes"):
            return INT
        case _:
            return ANY


def _key_type(key: Any) -> Type:
    return literal(key) if isinstance(key, str | int | float) else ANY


def iterate_items(core: Core, value: Type) -> Type:
    """What the items of any alternative are, without findings."""
    return joined(iterate_one(core, member) for member in members(value))
