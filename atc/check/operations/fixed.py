"""What cannot be changed in place: tuples, strings, sets by index, the fields of frozen objects."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.kinds import Atom, Iterating, Listing, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.objects import Instance
from atc.check.known.words import described
from atc.check.report import spelled

_FIXED = ("tuple", "set", "frozenset")


def report_fixed(core: Core, owner: Type, target: ast.Attribute | ast.Subscript) -> None:
    """Report `owner.name = …` or `owner[index] = …` where no alternative of `owner` allows it."""
    alternatives = members(owner)
    if core.catches("TypeError", "AttributeError", "FrozenInstanceError"):
        return
    text = spelled(target.value)
    first = alternatives[0]
    if isinstance(target, ast.Attribute):
        if isinstance(first, Instance) and all(isinstance(m, Instance) and m.shape.frozen for m in alternatives):
            made = f"{text}._replace" if first.shape.ordered else f"dataclasses.replace({text}, "
            made += f"({target.attr}=…)" if first.shape.ordered else f"{target.attr}=…)"
            message = f"{text} is a {first.shape.name}, whose fields cannot be set again. Make a new one: {made}."
            core.report("wrong-operand", target, message, better=made)
    elif all(map(_keeps, alternatives)):
        what = f"a {first.shape.name}" if isinstance(first, Instance) else described(first)
        core.report("wrong-operand", target, f"{text} is {what}: nothing can be assigned to a part of it.")


def _keeps(member: Type) -> bool:
    match member:
        case Tuple(kind=kind) | Listing(kind=kind):
            return kind in _FIXED
        case Instance(shape):
            return shape.ordered and "__setitem__" not in shape.members
        case Atom() | Iterating():
            return True
        case _:
            return False
