"""Does a dict or list that the program makes, or takes from a response, fit an argument's schema inside?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from atc.check.known.containers import certain_keys
from atc.check.known.core import Core
from atc.check.known.fields import field_type, item_type
from atc.check.known.kinds import ANY, Array, Listing, Mapped, Nothing, Null, Record, Tuple, Type
from atc.check.known.lattice import members
from atc.check.report import listed, nearest
from protocols.schema import resolve

Misfits = Callable[[Core, Type, Any, Mapping[str, Any], int], "tuple[str, str | None] | None"]
"""Why no value of a type fits a schema, or None."""

_MOST_DEPTH = 4


def inside_misfit(
    core: Core, value: Type, schema: Any, root: Mapping[str, Any], depth: int, misfits: Misfits
) -> tuple[str, str | None] | None:
    """Why what a dict or list holds cannot fit, or None. `misfits` judges each part."""
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return None
    schema = resolve(schema, root)
    for key in ("anyOf", "oneOf"):
        options = [misfits(core, value, part, root, depth + 1) for part in schema.get(key) or ()]
        if options:
            return options[0] if len(options) == 1 else _every(options)
    for part in schema.get("allOf") or ():
        if found := misfits(core, value, part, root, depth + 1):
            return found
    match value:
        case Mapped() | Record():
            return _keys(core, value, schema) or _values(core, value, schema, root, depth, misfits)
        case Array() | Listing() | Tuple():
            return _items(core, value, schema, root, depth, misfits)
        case _:
            return None


def _every(options: list[tuple[str, str | None] | None]) -> tuple[str, str | None] | None:
    known = [option for option in options if option is not None]
    return (" or ".join(dict.fromkeys(text for text, _ in known)), None) if len(known) == len(options) else None


def _keys(core: Core, value: Mapped | Record, schema: Mapping[str, Any]) -> tuple[str, str | None] | None:
    properties = schema.get("properties") or {}
    possible = _possible_keys(value)
    for key in schema.get("required") or () if possible is not None else ():
        # What only responses hold (`readOnly`) may be required of them alone.
        stated = properties.get(key)
        given_only = isinstance(stated, Mapping) and stated.get("readOnly") is True
        if key not in (possible or ()) and key not in core.overwritten and not given_only:
            near = nearest(key, sorted(set(possible or ()) - properties.keys()))
            instead = f", where now {near!r} is" if near else ""
            return f"a dict with the key {key!r}{instead}", None
    if schema.get("additionalProperties") is not False or schema.get("patternProperties") or not properties:
        return None
    for key in sorted(certain_keys(core, value) - properties.keys()):
        return f"a dict without the key {key!r}: its keys are {listed(properties)}", None
    return None


def _possible_keys(value: Mapped | Record) -> set[Any] | None:
    """Every key that a dict may have; None where nobody knows."""
    if isinstance(value, Record):
        return {*value.shape.properties, *(key for key, _ in value.refined)} if value.shape.closed else None
    return None if value.cell.open else {*value.cell.keys, *(key for key, _ in value.refined)}


def _values(
    core: Core, value: Mapped | Record, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int, misfits: Misfits
) -> tuple[str, str | None] | None:
    properties = schema.get("properties") or {}
    for key in sorted(certain_keys(core, value) & properties.keys()):
        held = key_type(core, value, key)
        if found := _misfit_of_all(core, held, properties[key], root, depth, misfits):
            return f"a dict whose {key!r} is {found[0]}", found[1]
    return None


def key_type(core: Core, value: Mapped | Record, key: str) -> Type:
    """What stands under a key that a dict may have."""
    if isinstance(value, Record):
        return ANY if key in core.overwritten else field_type(value, key) or ANY
    if value.cell.open or key in core.overwritten:
        return ANY
    return next((kind for known, kind in value.refined if known == key), value.cell.keys.get(key, ANY))


def _items(
    core: Core,
    value: Array | Listing | Tuple,
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    depth: int,
    misfits: Misfits,
) -> tuple[str, str | None] | None:
    items = schema.get("items")
    if not isinstance(items, Mapping) or "prefixItems" in schema:
        return None
    held = value.items if isinstance(value, Tuple) else (_item(value),)
    for item in held:
        if found := _misfit_of_all(core, item, items, root, depth, misfits):
            return f"a list in which each item is {found[0]}", found[1]
    return None


def _item(value: Array | Listing) -> Type:
    return item_type(value) if isinstance(value, Array) else value.cell.item


def _misfit_of_all(
    core: Core, value: Type, schema: Any, root: Mapping[str, Any], depth: int, misfits: Misfits
) -> tuple[str, str | None] | None:
    """Why no alternative but None fits; what is unknown fits."""
    possible = [member for member in members(value) if not isinstance(member, Null | Nothing)]
    found = [misfits(core, member, schema, root, depth + 1) for member in possible]
    return found[0] if found and all(found) else None
