"""Types of subscripts, `.get()`, iteration and attributes, and the findings where they cannot
work.
"""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict
from typing import Any

from atc.core.messages import find_nearest, format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import category, constant, describe_value, forget_constants, not_none
from atc.pipeline.check.read_findings import (
    format_call_template,
    format_keys,
    report_iterated,
    report_read,
)
from atc.pipeline.check.schema import (
    assume_filled,
    field_type,
    item_type,
    items_of,
    value_type,
)
from atc.pipeline.check.syntax import parameters, walk_nodes

ENVELOPE = {
    "error", "errors", "message", "messages", "status", "status_code", "detail", "details", "code", "success", "ok",
    "warning", "warnings", "next", "next_page", "next_cursor", "next_token", "next_page_token", "has_more", "cursor",
    "response_metadata",
}  # fmt: skip
"""Keys that cautious programs look up in any response, whether it has them or not."""


def need_value(
    core: Interpreter,
    value: t.Type,
    node: ast.expr,
    use: str,
    argument: str | None = None,
    *,
    item: bool = False,
) -> t.Type:
    """Report a value that may be None, or always is, where None would fail. Return the type without
    None.

    `value` is the type of `node`, or of one of its items if `item` is True. `use` is the part of
    the message that says what fails.
    """
    if core.catches("TypeError", "AttributeError"):
        return not_none(value)
    if value == t.NONE and isinstance(node, ast.Name | ast.Call):
        given = {name for function in core.active for name in parameters(function)}
        # A parameter may be None on purpose, if other parameters decide whether it is used.
        if not (isinstance(node, ast.Name) and node.id in given):
            # A method such as `rows.sort()` changes its object in place.
            func = node.func if isinstance(node, ast.Call) else None
            better = format_expression(func.value) if isinstance(func, ast.Attribute) else None
            then = (
                f" Write {format_expression(node)} on a line of its own, then use {better}."
                if better
                else ""
            )
            core.report(
                "none-value",
                node,
                f"{format_expression(node)} is always None here; {use}.{then}",
                better=better,
            )
        return t.ANY
    for member in t.members(value):
        if (
            isinstance(member, t.Null)
            and member.origin is not None
            and member.origin not in core.env.null_checked
        ):
            text = f"an item of {format_expression(node)}" if item else format_expression(node)
            message = f"{text} may be None here ({member.origin} can be null); {use}. Test `is not None` first."
            better = None if item else f"if {text} is not None"
            more = {"tool": member.origin.tool, "argument": argument, "better": better}
            core.report("none-value", node, message, certain=False, **more)
            break
    return not_none(value)


def read_subscript(core: Interpreter, node: ast.Subscript) -> t.Type:
    """Return the type of `value[index]` or `value[start:stop]`."""
    value = core.evaluate(node.value)
    if isinstance(node.slice, ast.Slice):
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            if part is not None:
                core.evaluate(part)
        value = need_value(core, value, node.value, "it has no items to slice")
        return t.join_all(_read_slice(core, member, node) for member in t.members(value))
    index = core.evaluate(node.slice)
    value = need_value(core, value, node.value, "it has no items")
    key = constant(index)
    return (
        read_item(core, value, key, node)
        if key is not None
        else _read_computed(core, value, index, node)
    )


def read_item(core: Interpreter, value: t.Type, key: Any, node: ast.expr) -> t.Type:
    """Return the type of `value[key]` for a constant key. `node` is the subscript or the `.get()`
    call.
    """
    found = [(member, _read_one(core, member, key)) for member in t.members(value)]
    good = [result for _, result in found if result is not None]
    if good or core.catches("KeyError", "LookupError"):
        return t.join(*good) if good else t.ANY
    report_read(core, found[0][0], key, node)
    return t.ANY


def _read_one(core: Interpreter, member: t.Type, key: Any) -> t.Type | None:
    """Return the type under a constant key, or None if the key cannot exist."""
    match member:
        case t.Record() | t.Mapped():
            return t.ANY if key in core.hints.stored else field_type(member, key)
        case t.Array():
            return item_type(member) if isinstance(key, int) else None
        case t.Listing(cell, kind):
            return (
                assume_filled(cell.item)
                if isinstance(key, int) and kind not in ("set", "frozenset")
                else None
            )
        case t.Tuple(items):
            if not isinstance(key, int):
                return None
            return items[key] if -len(items) <= key < len(items) else t.ANY
        case t.Atom("str" | "bytes" as name):
            if not isinstance(key, int):
                return None
            return t.STR if name == "str" else t.ANY
        case t.Iterating(kind=kind):
            return t.ANY if kind == "range" else None
        case t.Atom() | t.ToolRef() | t.Function():
            return None
        case _:
            return t.ANY


def _read_computed(core: Interpreter, value: t.Type, index: t.Type, node: ast.Subscript) -> t.Type:
    """Return the type of `value[index]` if only the type of the index is known."""
    kinds = {member.name if isinstance(member, t.Atom) else "" for member in t.members(index)}
    if kinds == {"str"} and not core.catches("TypeError"):
        wrong = [
            m for m in t.members(value) if isinstance(m, t.Array | t.Tuple | t.Listing | t.Atom)
        ]
        if len(wrong) == len(t.members(value)):
            report_read(core, wrong[0], None, node)
            return t.ANY
    return t.join_all(_read_computed_member(core, member, index) for member in t.members(value))


def _read_computed_member(core: Interpreter, member: t.Type, index: t.Type) -> t.Type:
    match member:
        case t.Record():
            return value_type(member)
        case t.Mapped(cell):
            spend(len(cell.keys))
            if cell.default is not None:
                core.set_item(cell, index if constant(index) is None else t.ANY, cell.default)
            return assume_filled(t.join(*cell.keys.values(), cell.value, cell.default or t.NEVER))
        case t.Array() | t.Listing() | t.Tuple():
            return items_of(member)
        case t.Atom("str"):
            return t.STR
        case _:
            return t.ANY


def _read_slice(core: Interpreter, member: t.Type, node: ast.Subscript) -> t.Type:
    kind = getattr(member, "kind", "list")
    wrong = isinstance(member, t.Record) or (isinstance(member, t.Iterating) and kind != "range")
    if (wrong or kind in ("set", "frozenset", "deque")) and not core.catches(
        "TypeError", "KeyError"
    ):
        report_read(core, member, 0, node)
    elif isinstance(member, t.Listing | t.Tuple):
        return core.add_listing_item(node, items_of(member), kind)
    if isinstance(member, t.Array):
        return member
    return forget_constants(member) if isinstance(member, t.Atom) else t.ANY


def read_get_call(core: Interpreter, value: t.Type, node: ast.Call, given: list[t.Type]) -> t.Type:
    """Return the type of `value.get(key, default)`.

    A key that cannot exist is reported, unless the program evidently expects that.
    """
    default = given[1] if len(given) > 1 else None
    dicts = [member for member in t.members(value) if isinstance(member, t.Record | t.Mapped)]
    key = constant(given[0])
    if key is None:
        return t.join(
            *(_read_computed_member(core, member, given[0]) for member in dicts), default or t.NONE
        )
    falls_back = len(node.args) > 1 and any(
        isinstance(part, ast.Call | ast.Subscript | ast.Name) for part in ast.walk(node.args[1])
    )
    # Programs often look up missing keys in dicts that they fill themselves.
    expected = node in core.hints.tolerated or key in ENVELOPE or falls_back
    records = t.join_all(member for member in dicts if isinstance(member, t.Record))
    found = [_read_one(core, member, key) for member in dicts]
    if not expected and not any(kind is not None for kind in found) and records is not t.NEVER:
        read_item(core, records, key, node)
        return t.ANY
    known = t.join_all(kind for kind in found if kind is not None)
    # Without a default, a declared key has the type of its schema: do not report the None of a
    # missing key.
    sure = default is None and found and all(isinstance(member, t.Record) for member in dicts)
    return known if sure and known is not t.NEVER else t.join(known, default or t.NONE)


def iterate(core: Interpreter, value: t.Type, node: ast.expr) -> t.Type:
    """Return the type of each item when `value` is iterated at `node`."""
    value = need_value(core, value, node, "it cannot be iterated")
    bad = [
        m
        for m in t.members(value)
        if isinstance(m, t.ToolRef | t.Function) or getattr(m, "name", "") in t.NUMBERS
    ]
    if len(bad) == len(t.members(value)) and not core.catches("TypeError"):
        then = (
            f" Call it: {format_call_template(core, bad[0])}."
            if isinstance(bad[0], t.ToolRef)
            else ""
        )
        core.report(
            "not-a-list",
            node,
            f"{format_expression(node)} is {describe_value(value)}; it cannot be iterated.{then}",
        )
        return t.ANY
    # An empty list as an alternative (`.get("rows", [])`) adds no item type.
    return assume_filled(t.join_all(items_of(member, node) for member in t.members(value)))


def check_hashable(core: Interpreter, value: t.Type, node: ast.expr) -> None:
    """Report a value that cannot be a dict key or a set item."""
    kinds = (t.Record, t.Mapped, t.Array)
    if core.catches("TypeError"):
        return
    if all(
        isinstance(m, kinds) or getattr(m, "kind", "") in ("list", "set", "deque")
        for m in t.members(value)
    ):
        what = f"{format_expression(node)} is {describe_value(value)}"
        core.report(
            "unhashable",
            node,
            f"{what}: it can be no key and no item of a set. Use its id or name.",
        )


_KINDS: dict[str | None, frozenset[str]] = {
    "list": frozenset(dir(list)),
    "dict": frozenset(dir(dict)),
    "str": frozenset(dir(str)),
    "number": frozenset(dir(int)) | frozenset(dir(float)),
}
_KINDS["own dict"] = frozenset(dir(OrderedDict)) | frozenset(dir(Counter)) | {"default_factory"}
_OF_NONE = frozenset(dir(None))


def read_attribute(core: Interpreter, node: ast.Attribute) -> t.Type:
    """Return the type of `value.attr` where it is not called immediately."""
    value = core.evaluate(node.value)
    if isinstance(value, t.Library):
        return library_part(core, value, node)
    if node.attr not in _OF_NONE:
        value = need_value(core, value, node.value, f"it has no attribute {node.attr!r}")
        if has_attribute(core, value, node):
            core.escape([value] if node.attr not in ("get", "count", "index") else ())
    return t.ANY


_OF_ERROR = frozenset(dir(Exception)) | {"status", "body", "__notes__"}


def library_part(core: Interpreter, value: t.Library, node: ast.Attribute) -> t.Library:
    """Return the type of a name in a module or of an attribute of a `ToolError`. Report an
    attribute that `ToolError` does not have.
    """
    known = value != t.TOOL_ERROR or node.attr in _OF_ERROR or core.catches("AttributeError")
    parts = (
        []
        if known
        else [part for part in walk_nodes(core.module) if isinstance(part, ast.Attribute)]
    )
    if not known and not any(
        part.attr == node.attr and isinstance(part.ctx, ast.Store) for part in parts
    ):
        better = f"{format_expression(node.value)}.{'status' if node.attr.endswith(('code', 'status')) else 'body'}"
        message = (
            f"a ToolError has no attribute {node.attr!r}, only status and body. Write {better}."
        )
        core.report("no-attribute", node, message, better=better)
    return t.Library(f"{value.name}.{node.attr}")


def has_attribute(core: Interpreter, value: t.Type, node: ast.Attribute) -> bool:
    """Return True if an alternative may have the attribute, else report it and return False."""
    kinds = [(m, "own dict" if isinstance(m, t.Mapped) else category(m)) for m in t.members(value)]
    known = [
        None if isinstance(m, t.Listing) and m.kind != "list" else _KINDS.get(kind)
        for m, kind in kinds
    ]
    if any(names is None or node.attr in names for names in known) or core.catches(
        "AttributeError"
    ):
        return True
    member = t.members(value)[0]
    text = format_expression(node.value)
    attr = node.attr
    match member:
        case t.Record():
            keys = member.shape.properties
            # an attribute of response objects in HTTP libraries
            whole = attr in ("json", "data", "result")
            near = attr if attr in keys or not (keys or whole) else find_nearest(attr, keys)
            better = text if whole else None
            better = f"{text}[{near!r}]" if near else better
            then = f" Write {better}." if better else ""
            message = f"{text} ({member.origin}) is a dict and has no attribute {attr!r}; its keys are {format_keys(member)}."
            core.report(
                "no-attribute", node, message + then, tool=member.origin.tool, better=better
            )
        case t.Atom("str", key_of=t.KeyOf() as source):
            report_iterated(core, source)
        case _:
            then = (
                " It holds items: take one first."
                if isinstance(member, t.Array | t.Listing)
                else ""
            )
            core.report(
                "no-attribute",
                node,
                f"{text} is {describe_value(member)} and has no attribute {attr!r}.{then}",
            )
    return False
