"""Texts with places to fill: `%` and `str.format`, and the keys that they take from objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from string import Formatter

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import ANY, Atom, Mapped, Record, Tuple, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.operations.formats import refused, report_refused
from atc.check.operations.operators import category
from atc.check.reading.access import read
from atc.check.report import spelled

_PLACE = re.compile(
    r"%(?:\((?P<key>[^)]{0,200})\))?[#0\- +]{0,8}(?P<width>\*|\d{1,9})?(?:\.(?:\*|\d{1,9}))?[hlL]?(?P<kind>[a-zA-Z%])"
)
_NUMERIC = frozenset("diouxXeEfFgG")


def check_percent(core: Core, text_node: ast.expr, text: Type, value_node: ast.expr, value: Type) -> None:
    """Check what `text % value` fills in."""
    if not (isinstance(text, Atom) and text.values is not None and len(text.values) == 1):
        return
    places = [place for place in _PLACE.finditer(str(text.values[0])) if place["kind"] != "%"]
    if any(place["width"] == "*" for place in places) or "*" in str(text.values[0]):
        return
    if places and all(place["key"] is not None for place in places):
        for place in places:
            _fill(core, place, _key_of(core, value, value_node, place["key"], text_node), value_node)
        return
    values = value.items if isinstance(value, Tuple) and value.kind == "tuple" else None
    nodes = value_node.elts if isinstance(value_node, ast.Tuple) else [value_node]
    if values is None:
        values = (value,) if category(value) in ("str", "number", "dict", "list") else ()
    if len(values) == len(places) == len(nodes):
        for place, part, node in zip(places, values, nodes, strict=True):
            _fill(core, place, part, node)


def _fill(core: Core, place: re.Match[str], value: Type, node: ast.expr) -> None:
    if place["kind"] not in _NUMERIC:
        return
    value = need_value(core, value, node, f"{place[0]!r} fails on None")
    if category(value) in ("str", "dict", "list") and not core.catches("TypeError"):
        message = f"{spelled(node)} is {described(members(value)[0])}, and {place[0]!r} takes a number."
        core.report("wrong-operand", node, message)


def _key_of(core: Core, value: Type, node: ast.expr, key: str, text_node: ast.expr) -> Type:
    """What stands under a key that a text names; the finding points at the text."""
    if not all(isinstance(member, Record | Mapped) for member in members(value)):
        return ANY
    return read(core, value, key, ast.copy_location(ast.Subscript(node, _at(key, text_node), ast.Load()), text_node))


def _at(key: str | int, node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(key), node)


def check_fields(core: Core, text: Type, func: ast.Attribute, node: ast.Call, arguments: Arguments) -> None:
    """Check what `text.format(…)` and `text.format_map(…)` fill in."""
    if not (isinstance(text, Atom) and text.values is not None and len(text.values) == 1):
        return
    for first, rest, spec in _fields(str(text.values[0])):
        value, where = _argument(core, first, func, node, arguments)
        for is_attribute, part in rest:
            if is_attribute or not all(isinstance(member, Record | Mapped) for member in members(value)):
                break
            value = _key_of(core, value, where, part, func.value)
        else:
            if spec and "{" not in spec and refused(value, spec):
                report_refused(core, value, spec, where if where is not node and not rest else func.value)


def _fields(text: str) -> Iterator[tuple[str | int, list[tuple[bool, str]], str]]:
    """The fields of a format text: the argument's name, what is taken from it, and how it is written."""
    try:
        parsed = list(Formatter().parse(text))
    except ValueError:
        return
    unnamed = 0
    # What `!r` and `!s` write is text, whatever was there before.
    for name, spec in ((name, "" if kind else spec) for _, name, spec, kind in parsed if name is not None):
        first, rest = _split(name)
        if first == "":
            unnamed += 1
        number = unnamed - 1 if first == "" else int(first) if first.isdigit() else None
        yield (first if number is None else number), rest, spec or ""


def _split(name: str) -> tuple[str, list[tuple[bool, str]]]:
    """`city[name].lower` → `city`, and the steps from there: whether each is an attribute, and its name."""
    first = re.split(r"[.\[]", name, maxsplit=1)[0]
    steps = re.findall(r"\.([^.\[]+)|\[([^\]]{0,200})\]", name[len(first) :])
    return first, [(bool(attribute), attribute or key) for attribute, key in steps]


def _argument(
    core: Core, name: str | int, func: ast.Attribute, node: ast.Call, arguments: Arguments
) -> tuple[Type, ast.expr]:
    if isinstance(name, int):
        if arguments.sure and func.attr == "format" and name >= len(arguments.values):
            _report_absent(core, f"place {name}", f"format() is given {len(arguments.values)} values by position", node)
        known = arguments.sure and name < len(arguments.values)
        return (arguments.values[name], arguments.nodes[name]) if known else (ANY, node)
    if name in arguments.named:
        return arguments.named[name], node
    if func.attr == "format_map" and arguments.values:
        return _key_of(core, arguments.values[0], arguments.nodes[0], name, func.value), node
    spread = [keyword.value for keyword in node.keywords if keyword.arg is None]
    if len(spread) == 1 and len(arguments.loose) == 1 and not arguments.values:
        return _key_of(core, arguments.loose[0], spread[0], name, func.value), node
    if arguments.sure and func.attr == "format":
        given = ", ".join(arguments.named) or "nothing by name"
        _report_absent(core, f"a field {name!r}", f"format() is given {given}", node)
    return ANY, node


def _report_absent(core: Core, what: str, given: str, node: ast.Call) -> None:
    if not core.catches("KeyError", "IndexError", "LookupError"):
        core.report("missing-key", node, f"the text has {what}, and {given}.")
