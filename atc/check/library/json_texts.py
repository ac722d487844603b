"""`json.loads`: of what is no text, and of what was just written as one."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import (
    ANY,
    Array,
    Mapped,
    Record,
    Type,
)
from atc.check.known.lattice import members
from atc.check.known.words import described
from atc.check.operations.operators import category
from atc.check.report import spelled


def read_json(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """What it gives: unknown, but for what is no text at all, and for `json.loads(json.dumps(value))`."""
    first = arguments.first()
    if first is None or arguments.named or core.catches("TypeError"):
        return ANY
    if _reshapes(node):
        return ANY
    match first[1]:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="json"), attr="dumps"), args=[copied_node], keywords=[]):
            with core.silence():
                value = core.evaluate(copied_node)
            return value if isinstance(value, Record | Array) else ANY
    kind = category(first[0])
    if kind in ("dict", "list", "number") or isinstance(first[0], Mapped):
        what = spelled(first[1])
        message = f"{what} is {described(members(first[0])[0])}, not text: it needs no json.loads(). Use {what} itself."
        core.report("wrong-operand", first[1], message, better=what)
        return first[0]
    return ANY


def _reshapes(node: ast.Call) -> bool:
    """Whether `json.loads` makes something else of objects or numbers (`object_hook=`), or its reader is another."""
    kept = ("strict", "parse_constant")
    return any(keyword.arg not in kept for keyword in node.keywords)
