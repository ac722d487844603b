"""Types that methods of strings, dicts, lists and sets return, and their effects on containers."""

from __future__ import annotations

import ast

from atc.pipeline.check import types as t
from atc.pipeline.check.functions import CallArguments
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import constant, null_origins
from atc.pipeline.check.library import check_keyed, first_items, items_of_each, reject_kinds
from atc.pipeline.check.objects import call_file_method
from atc.pipeline.check.pending import Pending
from atc.pipeline.check.responses import FileType
from atc.pipeline.check.schema import field_type, items_of, value_type
from atc.pipeline.check.subscripts import check_hashable, read_get_call

_TEXT: dict[str, t.Type] = {
    **dict.fromkeys(
        ["strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "casefold",
         "replace", "zfill", "join", "format", "removeprefix", "removesuffix", "ljust", "rjust",
         "center", "swapcase", "translate"], t.STR
    ),
    **dict.fromkeys(["find", "index", "count", "rfind", "rindex"], t.INT),
    **dict.fromkeys(
        ["startswith", "endswith", "isdigit", "isalpha", "isnumeric", "isupper", "islower"], t.BOOL
    ),
}  # fmt: skip


def call_method(
    core: Interpreter, value: t.Type, func: ast.Attribute, node: ast.Call, arguments: CallArguments
) -> t.Type:
    """Return the type that a method call `value.method(…)` returns.

    `value` is the type of the object. If the method changes a container, as `append` does, its
    known contents are changed in the same way.
    """
    if func.attr == "get" and any(
        isinstance(member, t.Record | t.Mapped) for member in t.members(value)
    ):
        fits = arguments.sure and 0 < len(arguments.values) < 3
        return read_get_call(core, value, node, arguments.values) if fits else t.ANY
    return t.join_all(
        [_call_one(core, member, func, node, arguments) for member in t.members(value)]
    )


def _call_one(
    core: Interpreter, member: t.Type, func: ast.Attribute, node: ast.Call, arguments: CallArguments
) -> t.Type:
    match member:
        case t.Record() | t.Mapped():
            return _call_dict_method(core, member, func.attr, node, arguments)
        case t.Array() | t.Listing():
            return _call_list_method(core, member, func, node, arguments)
        case t.Atom("str"):
            if func.attr == "join" and arguments.values:
                kinds = ("number", "dict", "list")
                then = "; join() takes strings only."
                reject_kinds(
                    core,
                    first_items(core, arguments),
                    arguments.nodes[0],
                    kinds,
                    "join()",
                    then,
                    item=True,
                )
            if func.attr in ("split", "splitlines", "rsplit"):
                return core.add_listing_item(node, t.STR)
            return _TEXT.get(func.attr, t.ANY)
        case t.Atom() | t.Tuple():
            return t.ANY
        case FileType():
            return call_file_method(core, func.attr, node)
        case Pending(result):
            return result if func.attr == "result" else t.ANY
        case _:
            core.escape(arguments.every())
            return t.ANY


def _call_dict_method(
    core: Interpreter,
    member: t.Record | t.Mapped,
    method: str,
    node: ast.Call,
    arguments: CallArguments,
) -> t.Type:
    keys = items_of(member)
    values = t.ANY if core.hints.stored else _values_of(member)
    match method, arguments.values:
        case "keys", _:
            return t.Iterating(keys, "dict_keys")
        case "values", _:
            return t.Iterating(values, "dict_values")
        case "items", _:
            return t.Iterating(t.Tuple((keys, values)), "dict_items")
        case "most_common", _:
            return core.add_listing_item(node, t.Tuple((keys, values)))
        case "copy", _:
            return member
        case "setdefault", [index, *default] if isinstance(member, t.Mapped):
            core.set_item(member.cell, index, default[0] if default else t.NONE)
            return member.cell.keys.get(constant(index), member.cell.value)
        case _:
            core.foreign |= isinstance(member, t.Record) and method in ("update", "setdefault")
            core.escape([member, *arguments.every()])
            return t.ANY


def _values_of(member: t.Record | t.Mapped) -> t.Type:
    """Return the type of the values of a dict: the union of the types of all values."""
    if isinstance(member, t.Mapped):
        return t.join(*member.cell.keys.values(), member.cell.value)
    kinds = [field_type(member, key) or t.ANY for key in member.shape.properties]
    return t.join_all(kinds) if kinds and member.shape.is_closed else value_type(member)


def _call_list_method(
    core: Interpreter,
    member: t.Array | t.Listing,
    func: ast.Attribute,
    node: ast.Call,
    arguments: CallArguments,
) -> t.Type:
    if func.attr in _ADDING:
        for added in _added_items(core, func.attr, arguments):
            _add_item(core, member, added)
        return t.NONE
    item = items_of(member)
    match func.attr:
        case "sort":
            check_keyed(core, item, func.value, arguments, "sort()")
        case "pop" | "popleft":
            return t.ANY if item is t.NEVER else item
        case "copy" | "union" | "intersection" | "difference" | "symmetric_difference":
            more = [items_of(value) for value in arguments.values] if func.attr == "union" else []
            return core.add_listing_item(node, t.join(item, *more), getattr(member, "kind", "list"))
        case "index" | "count":
            return t.INT
        case "clear" | "remove" | "discard" | "reverse":
            if arguments.values == [t.NONE]:
                core.env.null_checked |= null_origins(item)
        case _:
            core.escape([member, *arguments.every()])
            return t.ANY
    return t.NONE


_ADDING = frozenset({"append", "add", "appendleft", "insert", "extend", "update", "extendleft"})
"""Methods that add their arguments, or the items of their arguments, to a list, deque or set."""


def _added_items(core: Interpreter, method: str, arguments: CallArguments) -> list[t.Type]:
    """Return the types of the items that a method such as `append` or `extend` adds."""
    if method in ("extend", "update", "extendleft"):
        return items_of_each(core, arguments)
    if method == "add" and arguments.nodes:
        check_hashable(core, arguments.values[0], arguments.nodes[0])
    return [t.join(*arguments.values[1 if method == "insert" else 0 :])]


def _add_item(core: Interpreter, member: t.Array | t.Listing, item: t.Type) -> None:
    if isinstance(member, t.Listing):
        core.add(member.cell, item)
        return
    core.escape([item])
    own = items_of(member)
    core.foreign |= t.join(own, item) != own
