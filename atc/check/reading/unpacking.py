"""Values that cannot be unpacked into so many names, whatever they are."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.forms import text_lengths
from atc.check.known.kinds import Array, Atom, Listing, Mapped, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.words import described
from atc.check.operations.operators import category
from atc.check.report import spelled
from atc.check.source.memo import walk

_WHOLE = ("number", "function", "date", "datetime", "time", "timedelta")


def check_unpacked(core: Core, value: Type, parts: list[ast.expr], source: ast.expr) -> bool:
    """Report a value that holds no items, a text of another length, or a list that is too short."""
    if core.catches("ValueError", "TypeError"):
        return False
    starred = any(isinstance(part, ast.Starred) for part in parts)
    count, text = len(parts), spelled(source)
    if category(value) in _WHOLE:
        message = f"{described(members(value)[0])} of {text} cannot be unpacked into {count} names."
    elif category(value) == "str" and not starred and not any(_may_have(m, count) for m in members(value)):
        message = f"a string of {text} never has {count} characters, so that it cannot be unpacked into {count} names."
    elif (most := _greatest_length(core, value, source)) is not None and most < count - starred:
        message = f"{text} gives a list of at most {most}, which cannot be unpacked into {count} names."
        if most == 1:
            message += f" Take its item first: {text}[0]."
    else:
        return False
    core.report("wrong-unpacking", parts[0], message)
    return True


def _may_have(member: Type, count: int) -> bool:
    """Whether a text may have so many characters."""
    if not isinstance(member, Atom):
        return True
    if member.values is not None:
        return any(isinstance(text, str) and len(text) == count for text in member.values)
    if member.pattern is None:
        return True
    low, high = text_lengths(member.pattern)
    return low <= count and (high is None or count <= high)


def _greatest_length(core: Core, value: Type, source: ast.expr) -> int | None:
    """How many items a list has at most, told by the call or slice that makes it."""
    if not isinstance(value, Listing | Array):
        return None
    match source:
        case ast.Call(func=ast.Attribute(attr="most_common"), args=[ast.Constant(value=int(most))], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(attr="split" | "rsplit"), args=[_, ast.Constant(value=int(most))]) if most > 0:
            most += 1
        case ast.Subscript(slice=ast.Slice(lower=None, upper=ast.Constant(value=int(most)), step=None)):
            pass
        case _:
            return None
    with core.silence():
        # In a loop `source` is what is iterated, and `value` an item of it.
        return most if core.evaluate(source) == value and most >= 0 else None


def check_each(core: Core, target: ast.expr, value: Type, node: ast.expr, body: list[ast.stmt]) -> None:
    """Report `for a, b in x` where `x` is a dict whose keys never fit, or one tuple that was meant to be unpacked."""
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(part, ast.Starred) for part in target.elts):
        return
    if core.catches("ValueError", "TypeError"):
        return
    text, count = spelled(node), len(target.elts)
    if isinstance(value, Mapped) and not value.cell.open and value.cell.keys:
        keys = list(value.cell.keys)
        if all(isinstance(key, str) and len(key) != count for key in keys):
            message = f"iterating {text} gives its keys, such as {keys[0]!r}, which do not unpack into {count} names."
            better = f"{text}.items()"
            core.report("wrong-unpacking", target, f"{message} Write {better}.", better=better)
    leaves = any(isinstance(part, ast.Break | ast.Return) for statement in body for part in walk(statement))
    if isinstance(value, Tuple) and not leaves and "number" in map(category, value.items):
        message = f"iterating {text}, which is one tuple, gives a number, which cannot be unpacked into {count} names."
        core.report("wrong-unpacking", target, message)
