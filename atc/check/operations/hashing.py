"""Keys of dicts and items of sets: lists and dicts cannot be either."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.kinds import Listing, Mapped, Record, Tuple, Type
from atc.check.known.lattice import members
from atc.check.operations.operators import category
from atc.check.report import nearest, spelled


def check_hashable(core: Core, value: Type, node: ast.expr) -> None:
    """Report a value that is to be a key or a set's item and can be neither."""
    if core.catches("TypeError"):
        return
    alternatives = members(value)
    dicts = all(isinstance(member, Record | Mapped) for member in alternatives)
    sets = all(isinstance(member, Listing) and member.kind == "set" for member in alternatives)
    if not (dicts or sets or category(value) == "list"):
        _check_tuple(core, value, node)
        return
    kind = "dict" if dicts else "set" if sets else "list"
    first = alternatives[0]
    keys = list(first.shape.properties) if isinstance(first, Record) else []
    key = nearest("id", keys) or next((name for name in keys if name.endswith(("id", "code", "name"))), None)
    better = f"{spelled(node)}[{key!r}]" if key else None
    then = f" Use {better}." if better else ""
    message = f"{spelled(node)} is a {kind}, which can be neither a key nor an item of a set.{then}"
    core.report("unhashable", node, message, better=better)


def _check_tuple(core: Core, value: Type, node: ast.expr) -> None:
    """A tuple can be a key only if all that it holds can."""
    if not isinstance(value, Tuple):
        return
    found = len(core.findings)
    for item in value.items:
        place = ast.copy_location(ast.Name(f"an item of {spelled(node)}", ast.Load()), node)
        if len(core.findings) == found:
            check_hashable(core, item, place)
