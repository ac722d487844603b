"""Assignment: names, unpacking, and storing into containers."""

from __future__ import annotations

import ast

from atc.check.known.containers import store
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NONE, Array, Atom, Iterating, Listing, Mapped, Record, Tuple, Type
from atc.check.known.lattice import join, members, without
from atc.check.known.nulls import need_value
from atc.check.known.objects import Class, Instance
from atc.check.operations.fixed import report_fixed
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import as_tuple, iterate_items, report_iterated
from atc.check.reading.unpacking import check_unpacked
from atc.check.report import listed, spelled


def bind_target(core: Core, target: ast.expr, value: Type, source: ast.expr) -> None:
    """Assign `value`, which `source` gave, to a target of any form."""
    match target:
        case ast.Name(id=name):
            core.bind(name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(core, parts, value, source)
        case ast.Starred(value=inner):
            bind_target(core, inner, core.listing(target, iterate_items(core, value)), source)
        case ast.Subscript():
            store_subscript(core, target, value)
        case ast.Attribute(value=owner, attr=attr):
            held = core.evaluate(owner)
            report_fixed(core, held, target)
            _store_attribute(core, held, attr, value)


def _store_attribute(core: Core, owner: Type, name: str, value: Type) -> None:
    for member in members(owner):
        match member:
            case Instance(shape):
                core.hold(shape, name, value)
            case Class(shape):
                shape.members[name] = ("value", join(shape.members.get(name, ("value", value))[1], value))
            case _:
                core.untracked.add(name)
                core.escape([value])


def _unpack(core: Core, parts: list[ast.expr], value: Type, source: ast.expr) -> None:
    starred = [index for index, part in enumerate(parts) if isinstance(part, ast.Starred)]
    value = need_value(core, value, source, "it cannot be unpacked")
    if isinstance(value, Instance):
        value = as_tuple(value) or value
    check_unpacked(core, value, parts, source)
    fits = not isinstance(value, Tuple) or starred or len(value.items) == len(parts)
    if isinstance(value, Tuple) and not fits and not core.catches("ValueError"):
        message = f"{len(value.items)} values of {spelled(source)} cannot be unpacked into {len(parts)} names."
        core.report("wrong-unpacking", parts[0], message)
    if isinstance(value, Record):
        _report_record(core, value, parts)
    if isinstance(value, Atom) and value.key_of is not None and not starred:
        # A key is unpacked into letters, which fits only one of as many letters.
        lengths = {len(key) for key in value.key_of.record.shape.properties}
        if len(parts) not in lengths and not core.catches("ValueError"):
            report_iterated(core, value.key_of)
    same = isinstance(value, Tuple) and not starred and len(value.items) == len(parts)
    item = ANY if isinstance(value, Record) else iterate_items(core, value)
    for index, part in enumerate(parts):
        if same and isinstance(value, Tuple):
            bind_target(core, part, value.items[index], source)
        elif isinstance(part, ast.Starred):
            bind_target(core, part.value, core.listing(part, item), source)
        else:
            bind_target(core, part, item, source)


def _report_record(core: Core, record: Record, parts: list[ast.expr]) -> None:
    if not record.shape.closed or core.catches("ValueError"):
        return
    keys = list(record.shape.properties)
    names = ", ".join(spelled(part) for part in parts)
    message = (
        f"{record.origin} is an object with keys {listed(keys)}: unpacking it into {names} gives its keys, "
        f"not its values. Take them by name, such as item[{keys[0]!r}]."
    )
    core.report("not-a-list", parts[0], message, tool=record.origin.tool)


def store_subscript(core: Core, target: ast.Subscript, value: Type) -> None:
    """`owner[index] = value`."""
    owner = core.evaluate(target.value)
    report_fixed(core, owner, target)
    index = ANY if isinstance(target.slice, ast.Slice) else core.evaluate(target.slice)
    constant = isinstance(index, Atom) and index.values is not None and len(index.values) == 1
    key = index.values[0] if isinstance(index, Atom) and index.values and constant else None
    for member in members(owner):
        match member:
            case Mapped():
                check_hashable(core, index, target.slice)
                store(core, member, index, value)
            case Listing(cell):
                core.add(cell, iterate_items(core, value) if isinstance(target.slice, ast.Slice) else value)
            case Atom() | Tuple() | Iterating():
                pass
            case Array():
                core.foreign = True
            case _ if isinstance(key, str):
                core.overwrite(key)
                core.escape([value])
            case Record():
                core.foreign = True
                core.escape([value])
            case _:
                core.escape([value])
    core.stored.append(key if isinstance(key, str) else None)
    core.forget(core.stored[-1:])
    if isinstance(key, str) and isinstance(target.value, ast.Name) and not core.quiet and _all_dicts(owner):
        _refine_stored(core, target.value.id, owner, key, ANY if value == NONE else value)


def _all_dicts(owner: Type) -> bool:
    return all(isinstance(member, Record | Mapped) for member in members(owner))


def _refine_stored(core: Core, name: str, owner: Type, key: str, value: Type) -> None:
    """A variable whose key was just set holds that value there until it is changed again."""
    changed: list[Type] = []
    for member in members(without(owner, {key})):
        match member:
            case Record():
                changed.append(member.refine(key, value))
            case Mapped(cell, refined, stored):
                changed.append(Mapped(cell, (*refined, (key, value)), stored | {key}))
    if core.frame.env is not None:
        core.frame.env.names[name] = join(*changed)
