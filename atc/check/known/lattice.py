"""What may be joined, and what a test leaves: operations on types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from atc.check.known.kinds import ANY, NEVER, NONE, Array, Atom, Mapped, Null, Record, Type, Union
from atc.check.known.objects import Made

MOST_VALUES = 64

MOST_MEMBERS = 8


def members(value: Type) -> tuple[Type, ...]:
    """The alternatives of a type."""
    return value.members if isinstance(value, Union) else (value,)


def join(*values: Type) -> Type:
    """The type of something that may be any of `values`."""
    if len(values) == 1 or (len(values) == 2 and values[0] is values[1]):
        return values[0]
    found: list[Type] = []
    for value in values:
        for member in members(value):
            if member is ANY:
                return ANY
            if member is not NEVER and member not in found:
                _add(found, member)
    if not found:
        return NEVER
    if len(found) > MOST_MEMBERS:
        return ANY
    return found[0] if len(found) == 1 else Union(tuple(found))


def joined(values: Iterable[Type]) -> Type:
    """`join` of an iterable."""
    return join(*values)


def _add(found: list[Type], new: Type) -> None:
    for index, old in enumerate(found):
        merged = _merge(old, new)
        if merged is not None:
            found[index] = merged
            return
    found.append(new)


def _merge(old: Type, new: Type) -> Type | None:
    """One type for both where nothing that matters is lost, else None."""
    if isinstance(old, Atom) and isinstance(new, Atom):
        return _merge_atoms(old, new)
    if isinstance(old, Record) and isinstance(new, Record) and old.shape is new.shape:
        same = tuple(pair for pair in old.refined if pair in new.refined)
        return Record(old.shape, old.origin, same, old.calm and new.calm)
    if isinstance(old, Array) and isinstance(new, Array) and old.shape is new.shape:
        return Array(old.shape, old.origin, old.calm and new.calm)
    if isinstance(old, Mapped) and isinstance(new, Mapped) and old.cell is new.cell:
        same = tuple(pair for pair in old.refined if pair in new.refined)
        return Mapped(old.cell, same, old.stored & new.stored)
    if isinstance(old, Made) and isinstance(new, Made) and old.name == new.name:
        return _merge_moments(old, new)
    if isinstance(old, Null) and isinstance(new, Null):
        # None that the program wrote beside one of a schema: the program thought of None, so say nothing.
        return Null(old.origin if old.origin and new.origin else None, lapse=old.lapse if new.lapse else "")
    return None


def _merge_atoms(old: Atom, new: Atom) -> Atom | None:
    if old.name != new.name:
        return None
    if old == new:
        return old
    key_of = old.key_of if old.key_of == new.key_of else None
    pattern = old.pattern if old.pattern == new.pattern else None
    reached, loosely = old.reached if old.reached == new.reached else (), max(old.loosely, new.loosely)
    listed = old.listed and new.listed
    if old.values is None or new.values is None:
        return Atom(old.name, None, key_of, pattern, reached, loosely)
    values = tuple(dict.fromkeys(old.values + new.values))
    return Atom(old.name, values if len(values) <= MOST_VALUES else None, key_of, pattern, reached, loosely, listed)


def _merge_moments(old: Made, new: Made) -> Made | None:
    """One moment for two of which constants may be known."""
    if isinstance(old.inner, Atom) and isinstance(new.inner, Atom):
        merged = _merge_atoms(old.inner, new.inner)
        return Made(old.name, merged) if merged is not None else None
    known = isinstance(old.inner, Atom) or isinstance(new.inner, Atom)
    return Made(old.name) if known and ANY in (old.inner, new.inner) else None


def keep(value: Type, wanted: Callable[[Type], bool]) -> Type:
    """The alternatives of `value` for which `wanted` holds; `ANY` where none does, since then we misunderstood."""
    kept = [member for member in members(value) if wanted(member)]
    return join(*kept) if kept else ANY


def not_none(value: Type) -> Type:
    """`value` after a test that excludes None."""
    return keep(value, lambda member: not isinstance(member, Null)) if isinstance(value, Union) else value


def proven(value: Type) -> Type:
    """`value` where a test has shown that it is not None: what is None alone never gets there."""
    return NEVER if isinstance(value, Null) else not_none(value)


def literal(value: Any) -> Type:
    """The type of a constant."""
    if value is None:
        return NONE
    name = type(value).__name__
    return Atom(name, (value,)) if name in ("str", "int", "float", "bool", "bytes") else ANY


def without(value: Type, keys: set[str | None]) -> Type:
    """`value` without what tests and assignments have shown of these keys (None: of any)."""
    if isinstance(value, Union):
        return join(*(without(member, keys) for member in value.members))
    if isinstance(value, Record | Mapped) and value.refined:
        kept = () if None in keys else tuple(pair for pair in value.refined if pair[0] not in keys)
        return replace(value, refined=kept) if len(kept) < len(value.refined) else value
    return value
