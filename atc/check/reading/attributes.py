"""Attributes: of modules, of containers, and of dicts whose keys were meant."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable

from atc.check.functions.classes import attribute_of
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    NUMBERS,
    Array,
    Atom,
    KeyOf,
    Library,
    Listing,
    Mapped,
    Nothing,
    Null,
    Record,
    Tuple,
    Type,
)
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.objects import Class, Instance, Looking, Made
from atc.check.known.words import described
from atc.check.operations import moments
from atc.check.operations.iteration import keys_text, report_iterated
from atc.check.report import nearest, spelled

_ATTRIBUTES: dict[str, frozenset[str]] = {
    name: frozenset(dir(kind))
    for name, kind in {"dict": dict, "list": list, "str": str, "set": set, "deque": deque, "tuple": tuple}.items()
}
_OF_NONE = frozenset(dir(None))
_ATTRIBUTES["number"] = frozenset(dir(int)) | frozenset(dir(float))
_OF_DICT_KINDS = {"most_common", "elements", "total", "subtract", "move_to_end", "default_factory"}
"""What `Counter`, `OrderedDict` and `defaultdict` have besides."""
_READING = {"get", "count", "index", "__getitem__", "__contains__"}


def attribute(core: Core, value: Type, node: ast.Attribute) -> Type:
    """The type of `value.attr` where it is not called at once."""
    if node.attr in _OF_NONE:
        return ANY
    value = need_value(core, value, node.value, f"it has no attribute {node.attr!r}")
    if isinstance(value, Library):
        return Library(f"{value.name}.{node.attr}")
    if isinstance(value, Instance | Class):
        return attribute_of(core, value, node)
    if check_attribute(core, value, node) and isinstance(value, Made):
        return moments.attribute_of(value, node.attr)
    if node.attr in ("get", "__getitem__") and isinstance(value, Mapped):
        return Looking(value)
    # `key=totals.get` changes nothing of a dict of numbers.
    if node.attr not in _READING or not all(map(_of_scalars, members(value))):
        core.escape([value])
    return ANY


def _of_scalars(member: Type) -> bool:
    """Whether it is a container of what cannot itself be changed."""
    held: list[Type] = []
    match member:
        case Mapped(cell):
            held = [*cell.keys.values(), cell.value]
        case Listing(cell):
            held = [cell.item]
        case _:
            return False
    return all(isinstance(part, Atom | Null | Nothing) for value in held for part in members(value))


def check_attribute(core: Core, value: Type, node: ast.Attribute) -> bool:
    """Whether some alternative has the attribute; reports where none does."""
    alternatives = members(value)
    if any(node.attr in known for known in map(_attributes, alternatives) if known is not None):
        return True
    if any(_attributes(member) is None for member in alternatives):
        return True
    if core.catches("AttributeError"):
        return False
    _report_attribute(core, alternatives[0], node)
    return False


def _attributes(member: Type) -> Iterable[str] | None:
    match member:
        case Record():
            return _ATTRIBUTES["dict"]
        case Mapped():
            return _ATTRIBUTES["dict"] | _OF_DICT_KINDS
        case Array():
            return _ATTRIBUTES["list"]
        case Listing(kind=kind):
            return _ATTRIBUTES.get(kind)
        case Tuple(kind=kind):
            return _ATTRIBUTES[kind]
        case Made():
            return moments.attributes_of(member)
        case Atom("str"):
            return _ATTRIBUTES["str"]
        case Atom(name) if name in NUMBERS:
            return _ATTRIBUTES["number"]
        case _:
            return None


def _report_attribute(core: Core, member: Type, node: ast.Attribute) -> None:
    text, attr = spelled(node.value), node.attr
    match member:
        case Record():
            keys = member.shape.properties
            near = attr if attr in keys else nearest(attr, keys)
            better = f"{text}[{near!r}]" if near else (text if attr in ("json", "data", "result") else None)
            then = f" Write {better}." if better else ""
            what = f"{text} ({member.origin}) is a dict and has no attribute {attr!r}"
            message = f"{what}; its keys are {keys_text(member)}.{then}"
            core.report("no-attribute", node, message, tool=member.origin.tool, better=better)
        case Array():
            then = f" It holds items; take one first, or use {text} itself."
            message = f"{text} ({member.origin}) is a list and has no attribute {attr!r}.{then}"
            core.report("no-attribute", node, message, tool=member.origin.tool)
        case Atom("str", key_of=KeyOf() as source):
            report_iterated(core, source)
        case Mapped(cell):
            better = f"{text}[{attr!r}]" if attr in cell.keys else None
            then = f" Write {better}." if better else ""
            core.report("no-attribute", node, f"{text} is a dict and has no attribute {attr!r}.{then}", better=better)
        case _:
            message = f"{text} is {described(member)} and has no attribute {attr!r}."
            core.report("no-attribute", node, message)
