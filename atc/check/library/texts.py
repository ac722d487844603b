"""Methods of strings."""

from __future__ import annotations

import ast

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.folding import called_method, formatted
from atc.check.known.kinds import ANY, BOOL, INT, STR, Atom, Null, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.library.ordering import element_of
from atc.check.library.taken import check_taken_by_text
from atc.check.library.templates import check_fields
from atc.check.operations.iteration import iterate
from atc.check.operations.operators import category
from atc.check.report import spelled

_TEXT = "lower upper strip lstrip rstrip title capitalize replace format zfill ljust rjust center swapcase casefold"
_TEXT_RESULTS = dict.fromkeys(f"{_TEXT} join expandtabs removeprefix removesuffix translate format_map".split(), STR)
_STR: dict[str, Type] = {
    **_TEXT_RESULTS,
    **dict.fromkeys(
        ["startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric"], BOOL
    ),
    **dict.fromkeys(["find", "rfind", "index", "rindex", "count"], INT),
    "partition": Tuple((STR, STR, STR)),
    "rpartition": Tuple((STR, STR, STR)),
}


def call_text(core: Core, text: Atom, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> Type:
    """What `text.method(…)` gives."""
    check_taken_by_text(core, func.attr, node, arguments)
    match func.attr:
        case "join" if arguments.first() is not None:
            _check_join(core, node, arguments)
        case "split" | "rsplit" | "splitlines":
            return core.listing(node, STR)
        case "format" | "format_map":
            check_fields(core, text, func, node, arguments)
            sure = arguments.sure and func.attr == "format"
            return (formatted(text, arguments.values, arguments.named) if sure else None) or STR
    if arguments.sure and not arguments.named and (found := called_method(func.attr, text, arguments.values)):
        return found
    if func.attr in _STR:
        return _STR[func.attr]  # a text keeps and changes nothing of what it is given
    core.escape(arguments.every())
    return ANY


def _check_join(core: Core, _node: ast.Call, arguments: Arguments) -> None:
    value, where = arguments.values[0], arguments.nodes[0]
    item = iterate(core, value, where)
    if any(isinstance(member, Null) for member in members(item)):
        need_value(core, item, element_of(where), "join() fails on None")
        return
    if category(item) in ("number", "dict", "list") and not core.catches("TypeError"):
        kind = {"number": "numbers", "dict": "objects", "list": "lists"}[category(item) or ""]
        what = spelled(where)
        better = f"(str(x) for x in {what})" if kind == "numbers" else None
        message = f"join() takes strings, and {what} holds {kind}. Make strings of them first."
        core.report("wrong-operand", where, message, better=better)
