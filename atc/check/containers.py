"""Putting values into dicts that the program makes."""

from __future__ import annotations

from atc.check.core import Core
from atc.check.fields import field_type
from atc.check.kinds import ANY, Atom, Mapped, Record, Type
from atc.check.lattice import members


def store(core: Core, target: Mapped, index: Type, value: Type) -> None:
    """Put a value under a key, constant or not, into a dict that the program made."""
    if isinstance(index, Atom) and index.values is not None and len(index.values) == 1:
        core.put(target.cell, index.values[0], value)
    else:
        core.put_any(target.cell, index, value)


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
