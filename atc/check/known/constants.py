"""What Python computes of constants: sets of values, and which of them certainly come."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from atc.check.known.kinds import Atom, Tuple, Type, Union
from atc.check.known.lattice import MOST_VALUES, join
from atc.check.known.objects import Made

MOST_CHARACTERS = 200
LARGEST = 10**12
_MOMENTS = ("date", "datetime", "time", "timedelta")
_PLAIN = ("str", "int", "float", "bool")


def known(value: Type) -> Atom | None:
    """The constants that a scalar or a moment may be, if any are known."""
    atom = value.inner if isinstance(value, Made) and value.name in _MOMENTS else value
    return atom if isinstance(atom, Atom) and (atom.values or atom.reached) else None


def only(value: Type) -> Any:
    """The one constant that a value is, or None."""
    atom = known(value)
    return atom.values[0] if atom is not None and atom.values is not None and len(atom.values) == 1 else None


def of_values(values: Sequence[Any], reached: Sequence[Any] = (), *, loosely: int = 0) -> Type | None:
    """The type of these constants; None where they are of several kinds, too many or too large to follow."""
    sample = tuple(values) + tuple(reached)
    names = {type(value).__name__ for value in sample}
    if len(names) != 1 or not all(map(_small, sample)):
        return None
    name = names.pop()
    different = tuple(dict.fromkeys(values))
    atom = Atom(
        name,
        different if values and len(different) <= MOST_VALUES else None,
        None,
        None,
        tuple(dict.fromkeys(reached)) if len(reached) <= MOST_VALUES else (),
        loosely,
    )
    if atom.values is None and not atom.reached:
        return None
    return Made(name, atom) if name in _MOMENTS else atom if name in _PLAIN else None


def _small(value: Any) -> bool:
    match value:
        case bool():
            return True
        case str():
            return len(value) <= MOST_CHARACTERS
        case int() | float():
            return abs(value) <= LARGEST
        case datetime.datetime() | datetime.time():
            return value.tzinfo is None
        case datetime.date() | datetime.timedelta():
            return True
        case _:
            return False


def computed(function: Callable[..., Any], operands: Sequence[Type]) -> Type | None:
    """What a pure function gives for operands of which each is one of a few constants; None where that is not known.

    Where one operand alone varies, each value that it certainly takes gives one that the result certainly takes.
    """
    atoms: list[Atom] = []
    for operand in operands:
        atom = known(operand)
        if atom is None:
            return None
        atoms.append(atom)
    varied = [index for index, atom in enumerate(atoms) if atom.values is None or len(atom.values) > 1]
    try:
        values = _results(function, [atom.values for atom in atoms])
        reached: list[Any] = []
        if len(varied) == 1:
            fixed = [atom.values[0] if atom.values else None for atom in atoms]
            for value in atoms[varied[0]].reached:
                fixed[varied[0]] = value
                reached.append(function(*fixed))
    except Exception:  # noqa: BLE001 - the program's own mistake, which is not ours to judge here
        return None
    loosely = max(atom.loosely for atom in atoms) if atoms else 0
    return of_values(values, reached, loosely=loosely) if values or reached else None


def _results(function: Callable[..., Any], every: Sequence[tuple[Any, ...] | None]) -> list[Any]:
    size = 1
    for values in every:
        if values is None:
            return []
        size *= len(values)
    if size > MOST_VALUES:
        return []
    return [function(*chosen) for chosen in itertools.product(*(values or () for values in every))]


def chosen(parts: Sequence[Type]) -> Type:
    """`join` of what the branches of a choice give, where each constant that stands there is meant to come."""
    joined = join(*parts)
    values: list[Any] = []
    for part in parts:
        atom = known(part)
        if atom is None or not (atom.loosely == 2 or (atom.values and len(atom.values) == 1)):
            return joined
        values += atom.reached if atom.loosely == 2 else atom.values or ()
    if len(set(values)) < 2:
        return joined
    return of_values(values, values, loosely=2) or joined


def settled(value: Type) -> Type:
    """`value` where it is no longer known which of its constants certainly come."""
    return _changed(value, _unreached)


def loosened(value: Type) -> Type:
    """`value` where data may leave some of its constants out."""
    return _changed(value, lambda atom: replace(atom, loosely=max(1, atom.loosely)) if atom.reached else atom)


def begun(value: Type) -> Type:
    """`value` where only the first of its constants certainly comes."""
    return _changed(value, lambda atom: replace(atom, reached=atom.reached[:1]) if len(atom.reached) > 1 else atom)


def _unreached(atom: Atom) -> Atom:
    return replace(atom, reached=(), loosely=0) if atom.reached or atom.loosely else atom


def _changed(value: Type, change: Callable[[Atom], Atom]) -> Type:
    match value:
        case Atom(reached=reached, loosely=loosely):
            return change(value) if reached or loosely else value
        case Made(name, Atom() as inner):
            new = change(inner)
            return value if new is inner else Made(name, new)
        case Tuple(items, kind):
            changed = tuple(_changed(item, change) for item in items)
            return value if all(a is b for a, b in zip(items, changed, strict=True)) else Tuple(changed, kind)
        case Union(parts):
            fresh = [_changed(part, change) for part in parts]
            return value if all(a is b for a, b in zip(parts, fresh, strict=True)) else join(*fresh)
        case _:
            return value


def widened(value: Type) -> Type:
    """`value` where its constants go on changing: only its kind is sure."""
    match value:
        case Atom(name):
            return Atom(name)
        case Made(name, Atom()):
            return Made(name)
        case Union(parts):
            return join(*(widened(part) for part in parts))
        case _:
            return value
