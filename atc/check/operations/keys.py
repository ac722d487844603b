"""Keys of a kind that no key of the dict has: neither `d[key]`, `d.get(key)` nor `key in d` can find anything."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.kinds import ANY, NEVER, Atom, Mapped, Null, Record, Tuple, Type
from atc.check.known.lattice import join, members
from atc.check.known.words import described
from atc.check.operations.hashing import check_hashable
from atc.check.operations.operators import category
from atc.check.report import spelled


def never_equal(left: Type, right: Type) -> bool:
    """Whether no value of one type equals one of the other, by their kinds alone."""
    return all(_differ(one, other) for one in members(left) for other in members(right))


def _differ(left: Type, right: Type) -> bool:
    if isinstance(left, Tuple) and isinstance(right, Tuple) and left.kind == right.kind:
        pairs = zip(left.items, right.items, strict=False)
        return len(left.items) != len(right.items) or any(never_equal(one, other) for one, other in pairs)
    if isinstance(left, Null) or isinstance(right, Null):
        return False
    kinds = category(left), category(right)
    return None not in kinds and kinds[0] != kinds[1]


def keys_of(value: Mapped) -> Type:
    """What the keys of a dict are."""
    known = [Atom(type(key).__name__) if isinstance(key, str | int | float) else ANY for key in value.cell.keys]
    return join(*known, value.cell.key if value.cell.open else NEVER)


def check_key(core: Core, value: Type, index: Type, node: ast.expr, place: ast.expr) -> bool:
    """Report a key that no dict among the alternatives of `value` can have; `node` is what reads, at `place`."""
    dicts = [member for member in members(value) if isinstance(member, Mapped | Record)]
    if len(dicts) < len(members(value)) or not dicts:
        return False
    found = len(core.findings)
    check_hashable(core, index, place)
    if len(core.findings) > found:
        return True
    if core.catches("KeyError", "LookupError"):
        return False
    if any(isinstance(member, Record) for member in dicts):
        return False
    made = [member for member in dicts if isinstance(member, Mapped)]
    if not finds_nothing(made, index):
        return False
    what = f"{spelled(place)} is {described(members(index)[0])}"
    kinds = plural(keys_of(made[0]))
    message = f"{what}, and the keys of {spelled(_owner(node))} are {kinds}: none is equal."
    # What is put into it later may be found when this runs again, as in a memo that is asked first.
    core.defer(lambda: finds_nothing(made, index), "missing-key", node, message)
    return False


def finds_nothing(dicts: list[Mapped], index: Type) -> bool:
    """Whether dicts with keys, as far as they are known now, have none that could equal this one."""
    for member in dicts:
        keys = keys_of(member)
        if member.cell.default is not None or keys is NEVER or not never_equal(keys, index):
            return False
    return True


def _owner(node: ast.expr) -> ast.expr:
    match node:
        case ast.Subscript(value=owner) | ast.Call(func=ast.Attribute(value=owner)):
            return owner
        case _:
            return node


def plural(value: Type) -> str:
    """What values are, in words for several."""
    kind = category(value) or "of another kind"
    return {"str": "strings", "number": "numbers", "dict": "objects", "list": "lists"}.get(kind, f"{kind}s")
