"""Putting values into dicts that the program makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atc.check.known.core import Core
from atc.check.known.fields import field_type
from atc.check.known.kinds import ANY, Atom, Mapped, Record, Tuple, Type
from atc.check.known.lattice import join, members

MOST_KEYS = 24
"""Of a dict that is followed key by key."""


def store(core: Core, target: Mapped, index: Type, value: Type) -> None:
    """Put a value under a key, constant or not, into a dict that the program made."""
    if isinstance(index, Atom) and index.values is not None and len(index.values) == 1:
        core.put(target.cell, index.values[0], value)
    else:
        core.put_any(target.cell, index, value)


def certain_keys(core: Core, value: Type) -> frozenset[str]:
    """The constant keys that a dict certainly has."""
    found = [_certain(core, member) for member in members(value)]
    return frozenset.intersection(*found)


def _certain(core: Core, member: Type) -> frozenset[str]:
    match member:
        case Mapped(cell, _, stored) if not cell.shrunk:
            return cell.first | stored
        case Record(shape=shape) if None not in core.hints.removed:
            return shape.required - core.hints.removed
        case _:
            return frozenset()


def merge(core: Core, target: Mapped, source: Type) -> None:
    """Put every key of `source` into `target`."""
    for member in members(source):
        match member:
            case Mapped(cell):
                for key, value in list(cell.keys.items()):
                    core.put(target.cell, key, value)
                if cell.open:
                    core.put_any(target.cell, cell.key, cell.value)
            case Record(shape=shape) if shape.closed:
                for key in shape.properties:
                    core.put(target.cell, key, field_type(member, key) or ANY)
            case _:
                core.put_any(target.cell, ANY, ANY)


def overlay(core: Core, target: Mapped, parts: Sequence[tuple[Type | None, Type]]) -> Mapped:
    """The new dict of these parts, in order: a value under a key, or every key of a dict where the key is None.

    What comes later wins where it certainly has the key.
    """
    known: dict[Any, Type] = {}
    # Keys that were given after a part of which not every key is known.
    late: set[Any] | None = None
    for index, value in parts:
        several = index is None and len(members(value)) > 1
        for member in members(value) if index is None else (value,):
            given, more = _given(index, member)
            if more is not None:
                core.put_any(target.cell, *more)
                late = set()
            for key, (kind, sure) in given.items():
                wins = key not in known or (sure and not several)
                known[key] = kind if wins else join(known[key], kind)
                if late is not None and sure and not several:
                    late.add(key)
    for key, kind in known.items():
        core.put(target.cell, key, kind)
    target.cell.merged |= any(index is None and isinstance(value, Record) for index, value in parts)
    if not late or core.hints.changes:
        return target
    return Mapped(target.cell, tuple((key, known[key]) for key in known if key in late - core.hints.stored))


def _given(index: Type | None, value: Type) -> tuple[dict[Any, tuple[Type, bool]], tuple[Type, Type] | None]:
    """What stands under which keys, each with whether it certainly is there, and what further keys there may be."""
    if isinstance(index, Atom) and index.values is not None and len(index.values) == 1:
        return {index.values[0]: (value, True)}, None
    if index is not None:
        return {}, (index, value)
    match value:
        case Record(shape=shape):
            keys = shape.properties if shape.closed else shape.required & shape.properties.keys()
            kinds = {key: (field_type(value, key) or ANY, key in shape.required) for key in keys}
            return kinds, None if shape.closed else (ANY, ANY)
        case Mapped(cell, refined):
            own = {**cell.keys, **dict(refined)}
            kinds = {key: (kind, key in cell.first and not cell.shrunk) for key, kind in own.items()}
            return kinds, (cell.key, cell.value) if cell.open else None
        case _:
            return {}, (ANY, ANY)


def constant_texts(value: Type) -> list[str]:
    """The texts of a tuple that holds nothing but known ones, at most `MOST_KEYS`; empty for anything else."""
    if not isinstance(value, Tuple) or len(value.items) > MOST_KEYS:
        return []
    texts = [item.values[0] for item in value.items if isinstance(item, Atom) and item.values and len(item.values) == 1]
    return texts if len(texts) == len(value.items) and all(isinstance(text, str) for text in texts) else []
