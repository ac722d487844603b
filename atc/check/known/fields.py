"""What stands under a key of an object, or in an array."""

from __future__ import annotations

from atc.check.known.kinds import ANY, Array, Null, Record, Tuple, Type
from atc.check.known.lattice import join, members, not_none
from atc.check.known.shapes import convert


def field_type(record: Record, key: str) -> Type | None:
    """What stands under `key`, or None where no such key can be."""
    for known, value in record.refined:
        if known == key:
            return value
    shape = record.shape
    if key in shape.properties:
        found = convert(shape.properties[key], shape.document, record.origin.then(key))
    elif shape.closed:
        return None
    else:
        found = convert(shape.more, shape.document, record.origin.then(key))
    return calmed(found) if record.calm else found


def item_type(array: Array) -> Type:
    """What the items of an array are."""
    found = convert(array.shape.items, array.shape.document, array.origin.then(None))
    return calmed(found) if array.calm else found


def value_type(record: Record) -> Type:
    """What `values()` of an object gives: something certain only for a map."""
    if record.shape.properties or record.shape.closed:
        return ANY
    return field_type(record, "*") or ANY


def calmed(value: Type) -> Type:
    """`value` with nulls of its schema no longer worth a word, at any depth."""
    quiet: list[Type] = []
    for member in members(not_none(value)):
        match member:
            case Record(shape, where, refined):
                quiet.append(Record(shape, where, refined, calm=True))
            case Array(shape, where):
                quiet.append(Array(shape, where, calm=True))
            case Tuple(items, kind):
                quiet.append(Tuple(tuple(calmed(item) for item in items), kind))
            case Null():
                quiet.append(Null())
            case _:
                quiet.append(member)
    return join(*quiet)
