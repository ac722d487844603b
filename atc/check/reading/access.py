"""Reading from values: subscripts, attributes, iteration, and values that may be None."""

from __future__ import annotations

import ast
from typing import Any

from atc.check.known.constants import settled
from atc.check.known.core import Core
from atc.check.known.fields import field_type, item_type, value_type
from atc.check.known.kinds import (
    ANY,
    INT,
    STR,
    Array,
    Atom,
    Awaitable,
    Function,
    Iterating,
    Listing,
    Mapped,
    Nothing,
    Record,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import join, members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Instance, Made
from atc.check.operations.apartness import form_of, keys_of, never_a_key
from atc.check.operations.iteration import as_tuple, iterate_one, some_item
from atc.check.operations.keys import check_key
from atc.check.reading.alternatives import report_partial
from atc.check.reading.misread import report_read
from atc.check.report import spelled
from atc.check.source.memo import walk


def subscript(core: Core, node: ast.Subscript) -> Type:
    """The type of `value[slice]`."""
    value = core.evaluate(node.value)
    if isinstance(node.slice, ast.Slice):
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            if part is not None:
                core.evaluate(part)
        value = need_value(core, value, node.value, "it has no items to slice")
        return _each(core, value, lambda member: _sliced(core, member, node))
    index = core.evaluate(node.slice)
    value = need_value(core, value, node.value, "it has no items")
    if check_key(core, value, index, node, node.slice):
        return ANY
    if isinstance(index, Atom) and index.values is not None and len(index.values) == 1:
        return read(core, value, index.values[0], node)
    return read_computed(core, value, index, node)


def read(core: Core, value: Type, key: Any, node: ast.expr) -> Type:
    """The type of `value[key]` for a constant key, at `node`; `.get()` reads the same way."""
    found = [(member, _read_one(core, member, key, node)) for member in members(value)]
    good = [result for _, result in found if result is not None]
    if good and len(good) < len(found) and isinstance(node, ast.Subscript) and isinstance(key, str):
        _report_some(core, found, key, node)
    if good or core.catches("KeyError", "LookupError"):
        return join(*good) if good else ANY
    report_read(core, found[0][0], key, node)
    return ANY


def _report_some(core: Core, found: list[tuple[Type, Type | None]], key: str, node: ast.Subscript) -> None:
    having = [member for member, result in found if result is not None and isinstance(member, Record)]
    lacking = [member for member, result in found if result is None and isinstance(member, Record)]
    if len(having) + len(lacking) == len(found) and len({record.origin for record in (*having, *lacking)}) == 1:
        report_partial(core, having, lacking, key, node)


def read_computed(core: Core, value: Type, index: Type, node: ast.Subscript) -> Type:
    """The type of `value[index]` where the index is known by its type only."""
    if all(isinstance(member, Atom) and member.name == "str" for member in members(index)):
        wrong = [m for m in members(value) if isinstance(m, Array | Tuple | Listing | Atom)]
        if len(wrong) == len(members(value)) and not core.catches("TypeError"):
            report_read(core, wrong[0], None, node)
            return ANY
    whole = all(isinstance(member, Atom) and member.name == "int" for member in members(index))
    if whole and isinstance(value, Record) and not core.catches("KeyError"):
        report_read(core, value, 0, node)
        return ANY
    texts = index.values if isinstance(index, Atom) and index.name == "str" else None
    if texts and isinstance(value, Record) and all(_read_one(core, value, key, node) is None for key in texts):
        if not core.catches("KeyError", "LookupError"):
            report_read(core, value, next(iter(texts)), node)
        return ANY
    if isinstance(value, Mapped) and never_a_key(value, index):
        _report_no_key(core, value, node)
        return ANY
    return _each(core, value, lambda member: _computed(core, member, index))


def _report_no_key(core: Core, value: Mapped, node: ast.Subscript) -> None:
    """The program puts other keys into the dict than it asks for."""
    if core.catches("KeyError", "LookupError") or core.overwritten:
        return
    if _asked(core.scopes.module, spelled(node.value)):
        return
    message = (
        f"{spelled(node.value)} has no key {spelled(node.slice)}: its keys are {form_of(keys_of(value.cell))}, "
        f"and {spelled(node.slice)} is {form_of(core.evaluate(node.slice))}."
    )
    core.report("missing-key", node.slice, message)


def _asked(module: ast.AST, container: str) -> bool:
    """Whether the program tests somewhere what a container holds."""
    return any(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], ast.In | ast.NotIn)
        and spelled(part.comparators[0]) == container
        for part in walk(module)
    )


def _computed(core: Core, member: Type, index: Type) -> Type:
    match member:
        case Record():
            return _by_values(core, member, index) or value_type(member)
        case Mapped(cell):
            if cell.default is not None:
                core.put_any(cell, index, cell.default)
                return join(*cell.keys.values(), cell.value, cell.default)
            inside = join(*cell.keys.values(), cell.value)
            return inside if not isinstance(inside, Nothing) else ANY
        case Array() | Listing() | Tuple():
            return iterate_one(core, member)
        case Atom("str"):
            return STR
        case _:
            return ANY


def _by_values(_core: Core, record: Record, index: Type) -> Type | None:
    if not (isinstance(index, Atom) and index.values):
        return None
    found = [field_type(record, key) for key in index.values if isinstance(key, str)]
    sure = [kind for kind in found if kind is not None]
    return join(*sure) if len(sure) == len(index.values) else None


def _each(_core: Core, value: Type, change: Any) -> Type:
    return join(*(change(member) for member in members(value)))


def _sliced(core: Core, member: Type, node: ast.Subscript) -> Type:
    match member:
        case Record() if not core.catches("TypeError", "KeyError"):
            report_read(core, member, 0, node)
            return ANY
        case Array() | Atom("str"):
            return Atom("str") if isinstance(member, Atom) else member
        case Listing(kind="set" | "frozenset" | "deque") if not core.catches("TypeError"):
            report_read(core, member, None, node)
            return ANY
        case Listing(cell, kind):
            return core.listing(node, settled(cell.item), kind)
        case Tuple(items):
            return core.listing(node, join(*items), "tuple")
        case Iterating(kind=kind) if kind != "range" and not core.catches("TypeError"):
            report_read(core, member, None, node)
            return ANY
        case _:
            return ANY


def _read_one(core: Core, member: Type, key: Any, _node: ast.expr) -> Type | None:
    """What a constant key gives, or None where it cannot be there."""
    match member:
        case Record():
            return _field(core, member, key) if isinstance(key, str) else None
        case Mapped() if isinstance(key, str) and key in core.overwritten:
            return ANY
        case Mapped(cell, refined):
            return _from_cell(cell.keys, key, dict(refined), cell.open, cell.default, cell.value)
        case Array():
            return item_type(member) if isinstance(key, int) else None
        case Listing(cell, kind):
            one = isinstance(key, int) and kind not in ("set", "frozenset")
            return settled(some_item(cell.item)) if one else None
        case Tuple(items):
            return _at(items, key)
        case Atom("str"):
            return STR if isinstance(key, int) else None
        case Atom("bytes"):
            return INT
        case Atom() | Awaitable() | ToolRef() | Function() | Made("Exception" | "ToolError"):
            return None
        case Instance():
            return _of_instance(member, key)
        case Iterating(kind=kind):
            return ANY if kind == "range" else None
        case _:
            return ANY


def _of_instance(member: Instance, key: Any) -> Type | None:
    fields = as_tuple(member)
    if fields is None:
        return ANY if "__getitem__" in member.shape.members else None
    return _at(fields.items, key)


def _at(items: tuple[Type, ...], key: Any) -> Type | None:
    if not isinstance(key, int):
        return None
    return items[key] if -len(items) <= key < len(items) else ANY


def _field(core: Core, record: Record, key: str) -> Type | None:
    if key in core.overwritten and all(known != key for known, _ in record.refined):
        return ANY
    return field_type(record, key)


def _from_cell(
    keys: dict[Any, Type], key: Any, refined: dict[Any, Type], more: bool, default: Type | None, other: Type
) -> Type | None:
    if key in refined:
        return refined[key]
    found = [keys[key]] if key in keys else []
    if more:
        found.append(some_item(other))
    if default is not None:
        found.append(default)
    return join(*found) if found else None
