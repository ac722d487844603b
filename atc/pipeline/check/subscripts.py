"""Types of subscripts, `.get()`, iteration and attributes, and findings if these cannot work."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict
from typing import Any

from atc.core.messages import find_nearest, format_expression
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import category, constant, describe_value, forget_constants, not_none
from atc.pipeline.check.objects import (
    file_field,
    file_has_attribute,
    library_part,
    report_not_a_value,
)
from atc.pipeline.check.read_findings import (
    format_call_template,
    format_keys,
    is_misspelt,
    note_similar_key,
    report_iterated,
    report_read,
    rows_of_page,
)
from atc.pipeline.check.references import selected_type
from atc.pipeline.check.responses import FileType
from atc.pipeline.check.schema import assume_filled, field_type, item_type, items_of, value_type
from atc.pipeline.check.syntax import parameters

ENVELOPE = {
    "error", "errors", "message", "messages", "status", "status_code", "detail", "details", "code",
    "success", "ok", "warning", "warnings", "next", "next_page", "next_cursor", "next_token",
    "next_page_token", "has_more", "cursor", "response_metadata",
}  # fmt: skip
"""Keys that cautious programs look up in any response, whether or not the response has them."""


def need_value(
    core: Interpreter,
    value: t.Type,
    node: ast.expr,
    use: str,
    argument: str | None = None,
    *,
    item: bool = False,
) -> t.Type:
    """Report a use of a value that may be None, if None would make the use fail.

    `value` is the type of `node`, or of one of its items if `item` is True. `use` is the part of
    the message that says what fails. `argument` is the tool's argument for which the value is
    passed, if any. Return `value` without None.
    """
    if core.catches("TypeError", "AttributeError"):
        return not_none(value)
    if value == t.NONE and isinstance(node, ast.Name | ast.Call):
        _report_always_none(core, node, use)
        return t.ANY
    for member in t.members(value):
        if not isinstance(member, t.Null) or member.origin is None:
            continue
        if member.origin not in core.env.null_checked:
            text = f"an item of {format_expression(node)}" if item else format_expression(node)
            message = (
                f"{text} may be None here ({member.origin} can be null); {use}. Test `is not None`"
                " first."
            )
            better = None if item else f"if {text} is not None"
            more = {"tool": member.origin.tool, "argument": argument, "better": better}
            core.report("none-value", node, message, certain=False, **more)
            break
    return not_none(value)


def _report_always_none(core: Interpreter, node: ast.Name | ast.Call, use: str) -> None:
    """Report that an expression is always None. Parameters of the analysed functions are excepted.

    A parameter may be None on purpose, if other parameters decide whether it is used.
    """
    names = {name for function in core.active for name in parameters(function)}
    if isinstance(node, ast.Name) and node.id in names:
        return
    # A method such as `rows.sort()` changes its object in place.
    func = node.func if isinstance(node, ast.Call) else None
    better = format_expression(func.value) if isinstance(func, ast.Attribute) else None
    text = format_expression(node)
    then = f" Write {text} on a line of its own, then use {better}." if better else ""
    core.report("none-value", node, f"{text} is always None here; {use}.{then}", better=better)


def read_subscript(core: Interpreter, node: ast.Subscript) -> t.Type:
    """Return the type of `value[index]` or `value[start:stop]`."""
    value = core.evaluate(node.value)
    if isinstance(value, FileType):
        return report_not_a_value(core, node.value, value)
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
    """Return the type of `value[key]` for a constant key; report a key that cannot exist.

    `node` is the subscript or the `.get()` call.
    """
    found = [(member, _read_one(core, member, key)) for member in t.members(value)]
    good = [result for _, result in found if result is not None]
    if core.catches("KeyError", "LookupError"):
        return t.join(*good) if good else t.ANY
    if good:
        if isinstance(key, str) and isinstance(node, ast.Subscript):
            note_similar_key(core, value, key, node)
        return t.join(*good)
    report_read(core, found[0][0], key, node)
    return rows_of_page(core, value, key)


def _read_one(core: Interpreter, member: t.Type, key: Any) -> t.Type | None:
    """Return the type of the item of a value at a constant key or index; None if none can exist.

    `member` is the type of the value; it must not be a union.
    """
    match member:
        case t.Record() | t.Mapped() if key in core.hints.stored:
            return t.ANY
        case t.Record():
            return selected_type(core, member, key)
        case t.Mapped():
            return field_type(member, key)
        case t.Array() | t.Listing() | t.Tuple() | t.Atom("str" | "bytes"):
            return _read_position(member, key) if isinstance(key, int) else None
        case t.Iterating(kind=kind):
            return t.ANY if kind == "range" else None
        case t.Atom() | t.ToolRef() | t.Function():
            return None
        case _:
            return t.ANY


def _read_position(member: t.Type, index: int) -> t.Type | None:
    """Return the type of a sequence's item at a constant index; None for a set, which has none."""
    match member:
        case t.Array():
            return item_type(member)
        case t.Listing(cell, kind):
            return None if kind in ("set", "frozenset") else assume_filled(cell.item)
        case t.Tuple(items) if -len(items) <= index < len(items):
            return items[index]
        case t.Atom("str"):
            return t.STR
        case _:
            return t.ANY


def _read_computed(core: Interpreter, value: t.Type, index: t.Type, node: ast.Subscript) -> t.Type:
    """Return the type of `value[index]` for an index of which only the type is known."""
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
    """Return the type of `value.get(key, default)`. `given` are the types of its arguments.

    A key that cannot exist is reported, unless the program evidently expects a missing key.
    """
    default = given[1] if len(given) > 1 else None
    dicts = [member for member in t.members(value) if isinstance(member, t.Record | t.Mapped)]
    key = constant(given[0])
    if key is not None:
        return _get_known_key(core, dicts, key, default, node)
    possible = [_read_computed_member(core, member, given[0]) for member in dicts]
    return t.join(*possible, default or t.NONE)


def _get_known_key(
    core: Interpreter,
    dicts: list[t.Record | t.Mapped],
    key: Any,
    default: t.Type | None,
    node: ast.Call,
) -> t.Type:
    """Return the type of `value.get(key, default)` for a constant key.

    `dicts` are the possible types of `value`.
    """
    records = [member for member in dicts if isinstance(member, t.Record)]
    found = [_read_one(core, member, key) for member in dicts]
    kinds = [kind for kind in found if kind is not None]
    # Programs often look up missing keys in dicts that they fill themselves.
    if records and not kinds and not _expects_missing_key(core, node, key):
        can_fail = default is None or is_misspelt(records, key)
        report_read(core, records[0], key, node, certain=can_fail)
        return t.ANY
    known = t.join(*kinds)
    # Without a default, a declared key has the type of its schema: do not report the None of a
    # missing key.
    if default is None and len(records) == len(dicts) and known is not t.NEVER:
        return known
    return t.join(known, default or t.NONE)


def _expects_missing_key(core: Interpreter, node: ast.Call, key: Any) -> bool:
    """Return True if the program evidently expects that the key of a `.get()` call may be missing.

    This is so if the call is used as a condition, if its default is computed, or if its key is one
    that careful programs look up in any response, such as `error` (`ENVELOPE`).
    """
    if node in core.hints.tolerated or key in ENVELOPE:
        return True
    return len(node.args) > 1 and any(
        isinstance(part, ast.Call | ast.Subscript | ast.Name) for part in ast.walk(node.args[1])
    )


def iterate(core: Interpreter, value: t.Type, node: ast.expr) -> t.Type:
    """Return the type of each item of `value`, and report a value that cannot be iterated.

    `node` is the expression that is iterated.
    """
    value = need_value(core, value, node, "it cannot be iterated")
    if isinstance(value, FileType):
        return report_not_a_value(core, node, value)
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
    """Return the type of the attribute `value.attr`, except for method calls."""
    value = core.evaluate(node.value)
    if isinstance(value, t.Library):
        return library_part(core, value, node)
    if node.attr not in _OF_NONE:
        value = need_value(core, value, node.value, f"it has no attribute {node.attr!r}")
        if has_attribute(core, value, node):
            core.escape([value] if node.attr not in ("get", "count", "index") else ())
    return file_field(node.attr) if isinstance(value, FileType) else t.ANY


def has_attribute(core: Interpreter, value: t.Type, node: ast.Attribute) -> bool:
    """Return True if a value of this type may have the attribute. Otherwise report the access."""
    if isinstance(value, FileType):
        return file_has_attribute(core, value, node)
    if any(_may_have(member, node.attr) for member in t.members(value)):
        return True
    if core.catches("AttributeError"):
        return True
    member = t.members(value)[0]
    text = format_expression(node.value)
    match member:
        case t.Record():
            _report_attribute_of_object(core, member, node, text)
        case t.Atom("str", key_of=t.KeyOf() as source):
            report_iterated(core, source)
        case _:
            is_list = isinstance(member, t.Array | t.Listing)
            then = " It holds items: take one first." if is_list else ""
            message = (
                f"{text} is {describe_value(member)} and has no attribute {node.attr!r}.{then}"
            )
            core.report("no-attribute", node, message)
    return False


def _may_have(member: t.Type, attr: str) -> bool:
    if isinstance(member, t.Listing) and member.kind != "list":
        return True
    names = _KINDS.get("own dict" if isinstance(member, t.Mapped) else category(member))
    return names is None or attr in names


def _report_attribute_of_object(
    core: Interpreter, record: t.Record, node: ast.Attribute, text: str
) -> None:
    """Report that a program reads an attribute of a response object, which is a dict.

    The message suggests a subscript with a similar key. For attributes that HTTP libraries have,
    such as `json`, it suggests the object itself.
    """
    attr = node.attr
    keys = record.shape.properties
    # Response objects of HTTP libraries have these attributes.
    whole = attr in ("json", "data", "result")
    near = attr if attr in keys or not (keys or whole) else find_nearest(attr, keys)
    better = text if whole else None
    better = f"{text}[{near!r}]" if near else better
    then = f" Write {better}." if better else ""
    message = (
        f"{text} ({record.origin}) is a dict and has no attribute {attr!r}; its keys are"
        f" {format_keys(record)}.{then}"
    )
    core.report("no-attribute", node, message, tool=record.origin.tool, better=better)
