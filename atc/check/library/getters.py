"""`itemgetter` and `attrgetter`: what they take from the values that they are applied to."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, Atom, Getter, Tuple, Type
from atc.check.known.lattice import members
from atc.check.reading.access import read
from atc.check.reading.attributes import attribute


def make_getter(attributes: bool, node: ast.Call, arguments: Arguments) -> Type:
    """The getter that a call makes; unknown unless each of its keys is one constant."""
    keys = []
    for index in arguments.values:
        if not (isinstance(index, Atom) and index.values is not None and len(index.values) == 1):
            return ANY
        keys.append(index.values[0])
    if not keys or arguments.named or (attributes and not all(isinstance(key, str) for key in keys)):
        return ANY
    return Getter(tuple(keys), tuple(arguments.nodes), attributes, node)


def apply_getter(core: Core, getter: Getter, value: Type) -> Type:
    """What a getter takes from a value: one thing, or a tuple of as many as it has keys."""
    found = [
        _attributes(core, value, key, place) if getter.attributes else _item(core, value, key, place, getter)
        for key, place in zip(getter.keys, getter.places, strict=True)
    ]
    return found[0] if len(found) == 1 else Tuple(tuple(found))


def _item(core: Core, value: Type, key: object, place: ast.expr, getter: Getter) -> Type:
    return read(core, value, key, ast.copy_location(ast.Call(getter.node.func, [place], []), place))


def _attributes(core: Core, value: Type, path: str, place: ast.expr) -> Type:
    """`attrgetter("a.b")` of a value."""
    base: ast.expr = ast.copy_location(ast.Name("each_item", ast.Load()), place)
    for name in path.split("."):
        base = ast.copy_location(ast.Attribute(base, name, ast.Load()), place)
        value = attribute(core, value, base)
    return value


def sole_place(value: Type) -> ast.expr | None:
    """The call that made a getter of one key, at which a finding about its values stands."""
    alternatives = members(value)
    getter = alternatives[0]
    return getter.node if len(alternatives) == 1 and isinstance(getter, Getter) and len(getter.keys) == 1 else None
