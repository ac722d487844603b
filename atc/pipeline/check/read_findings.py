"""Findings about subscripts and loops that cannot work on a response.

Either a key is missing, or the value has another type than the program expects.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from atc.core.messages import find_nearest, format_expression, format_list, may_guess
from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import describe_value
from atc.pipeline.check.schema import field_type, item_type, list_keys
from atc.pipeline.check.uses import fits_use, key_reader
from protocols.effects.query_arguments import pages_response
from protocols.naming import VAGUE

_MOST_GIVERS = 5
"""Maximum number of tools that a message may suggest because their response has a missing key.

A key in the responses of more tools (`name`, `id`) is too common for a suggestion.
"""


_NEARLY = 0.85
"""Minimum similarity of two keys, from 0 to 1, if one is probably a misspelling of the other."""
_LIST_NAMES = {
    "data",
    "items",
    "results",
    "result",
    "list",
    "records",
    "entries",
    "values",
    "rows",
    "content",
}
_COMMON = VAGUE | {"type", "title", "url"}
"""Keys that objects at several levels have with different meanings."""


def format_call_template(core: Interpreter, tool: t.ToolRef) -> str:
    """Return a call of a tool as text, with `…` as the value of each required argument."""
    known = core.tools[tool.alias]
    required = (f"{name}=…" for name in known.arguments if name in known.required)
    return f"{tool.alias}({', '.join(required)})"


def report_iterated(core: Interpreter, source: t.KeyOf) -> None:
    """Report that a program iterates a response object as if it were a list."""
    record = source.record
    text = format_expression(source.node)
    lists = list_keys(record)
    better = f"{text}[{lists[0]!r}]" if len(lists) == 1 else None
    then = f" Iterate over {better}." if better else ""
    message = (
        f"iterating {text} gives its keys (strings): {record.origin} is an object with keys"
        f" {format_keys(record)}, not a list.{then}"
    )
    core.report("not-a-list", source.node, message, tool=record.origin.tool, better=better)


def report_read(
    core: Interpreter, value: t.Type, key: Any, node: ast.expr, *, certain: bool = True
) -> None:
    """Report that `value[key]` or `value.get(key)` at `node` cannot work.

    `key` is None if the key is not a constant. `certain` is False if a missing key cannot fail.
    """
    base, key_node = _parts(node)
    text = format_expression(base)
    match value:
        case t.Record() if isinstance(key, str):
            _report_missing(core, value, key, key_node, text, certain=certain)
        case t.Record():
            lists = list_keys(value)
            better = f"{text}[{lists[0]!r}]" if len(lists) == 1 else None
            then = f" The list is {better}." if better else " Take a value by its key."
            message = (
                f"{text} ({value.origin}) is an object with keys {format_keys(value)}, not a"
                f" list.{then}"
            )
            core.report("not-a-list", node, message, tool=value.origin.tool, better=better)
        case t.Mapped(cell):
            _report_missing_in_dict(core, cell, key, key_node, text)
        case t.Atom("str", key_of=t.KeyOf() as source):
            report_iterated(core, source)
        case t.Array():
            _report_list(core, value, key, node, text)
        case t.Iterating() | t.Listing(kind="set" | "frozenset" | "deque"):
            message = (
                f"{text} is {describe_value(value)}, which has no index. Write list({text}) first."
            )
            core.report("not-a-list", node, message, better=f"list({text})")
        case _:
            _report_no_keys(core, value, key, node, text)


def note_similar_key(core: Interpreter, value: t.Type, key: str, node: ast.Subscript) -> None:
    """Report, as uncertain, a key that differs only slightly from a declared key of an object.

    The schema allows undeclared keys, so the key may exist.
    """
    if key in core.hints.stored:
        return
    records = [member for member in t.members(value) if isinstance(member, t.Record)]
    if not records or len(records) < len(t.members(value)):
        return
    declared = {name for record in records for name in record.shape.properties}
    spend(8 * len(declared))
    is_declared = key in declared or not all(record.shape.document.strict for record in records)
    if is_declared or any(name == key for record in records for name, _ in record.refined):
        return
    near = find_nearest(key, list(declared), cutoff=_NEARLY, loose=False)
    if near is not None:
        base, place = _parts(node)
        message = (
            f"{key!r} is not a declared key of {format_expression(base)} ({records[0].origin});"
            f" did you mean {near!r}?"
        )
        tool = records[0].origin.tool
        core.report("missing-key", place, message, certain=False, tool=tool, better=near)


def is_misspelt(records: Sequence[t.Record], key: Any) -> bool:
    """Return True if a key that response objects lack differs only slightly from one that is there.

    Such a key is probably a misspelling.
    """
    declared = {name for record in records for name in record.shape.properties}
    spend(8 * len(declared))
    return (
        isinstance(key, str)
        and find_nearest(key, list(declared), cutoff=_NEARLY, loose=False) is not None
    )


def rows_of_page(core: Interpreter, value: t.Type, key: Any) -> t.Type:
    """Return the type of `value[key]` if `value` is documented as a list, and probably is a page.

    Services often return a list inside an object, with a key such as `data`, although their
    document describes only the list. `value` probably is a page of such a list if `key` is a usual
    key for lists and the tool has arguments that select a page. Otherwise, return `ANY`.
    """
    arrays = [member for member in t.members(value) if isinstance(member, t.Array)]
    if key not in _LIST_NAMES or len(arrays) < len(t.members(value)):
        return t.ANY
    tools = [core.tools.get(array.origin.tool) for array in arrays if not array.origin.path]
    paged = [
        tool for tool in tools if tool is not None and any(map(pages_response, tool.arguments))
    ]
    return value if len(paged) == len(arrays) else t.ANY


def _report_missing_in_dict(
    core: Interpreter, cell: t.DictCell, key: Any, node: ast.expr, text: str
) -> None:
    """Report that a program reads a key which it never stores in the dict that it reads.

    `text` is the source of the dict's expression.
    """
    spend(8 * len(cell.keys))
    if not cell.keys:
        return
    names = [known for known in cell.keys if isinstance(known, str)]
    near = find_nearest(key, names) if isinstance(key, str) else None
    meant = f" Did you mean {near!r}?" if near else ""
    message = (
        f"{text} has no key {key!r}; the program gives it only"
        f" {format_list(map(repr, cell.keys))}.{meant}"
    )
    core.report("missing-key", node, message, better=near)


def _report_no_keys(core: Interpreter, value: t.Type, key: Any, node: ast.expr, text: str) -> None:
    """Report that a program reads a key of a scalar or a sequence, as if it were a dict."""
    indexed = isinstance(value, t.Tuple | t.Listing)
    better = f"{text}[0]" if indexed else text
    then = f"it is indexed by number, as in {better}" if indexed else f"use {better} itself"
    lacks = f"no key {key!r}" if isinstance(key, str) else "no items to index like that"
    message = f"{text} is {describe_value(value)} and has {lacks}; {then}."
    core.report("not-an-object", node, message, better=better)


def _parts(node: ast.expr) -> tuple[ast.expr, ast.expr]:
    """Return the two expressions of a read: the one that is read, and the key.

    For `value[key]` and `value.get(key)` these are `value` and `key`; else both are `node`.
    """
    match node:
        case ast.Subscript(value=base, slice=index):
            return base, index
        case ast.Call(func=ast.Attribute(attr="get" | "pop", value=base), args=[first, *_]):
            return base, first
        case _:
            return node, node


def format_keys(record: t.Record) -> str:
    """Return the keys of an object, listed for a message."""
    return format_list(record.shape.properties) if record.shape.properties else "not declared"


def _report_list(core: Interpreter, array: t.Array, key: Any, node: ast.expr, text: str) -> None:
    """Report that a program reads a key of a list, as if it were an object."""
    origin = array.origin
    tool = core.tools.get(origin.tool)
    if tool is not None and not origin.path and tool.wrapper == key and key is not None:
        message = f"{origin} is already the list that stands under {key!r}: leave out [{key!r}]."
        core.report("not-an-object", node, message, tool=origin.tool, better=text)
        return
    first = item_type(array)
    keys = (
        f" Its items are objects with keys {format_keys(first)}."
        if isinstance(first, t.Record)
        else ""
    )
    message = (
        f"{text} ({origin}) is a list, not an object.{keys} Take one item first: {text}[0], or a"
        " loop."
    )
    core.report("not-an-object", node, message, tool=origin.tool, better=f"{text}[0]")


def _report_missing(
    core: Interpreter, record: t.Record, key: str, place: ast.expr, text: str, *, certain: bool
) -> None:
    keys = list(record.shape.properties)
    owner = str(record.origin) if not record.origin.path else f"{text} ({record.origin})"
    then, better = _suggest_key(core, record, key, place)
    message = f"{owner} has no key {key!r}; its keys are {format_list(keys)}.{then}"
    more = {"tool": record.origin.tool, "better": better, "keys": keys}
    core.report("missing-key", place, message, certain=certain, **more)


def _suggest_key(
    core: Interpreter, record: t.Record, key: str, place: ast.expr
) -> tuple[str, str | None]:
    """Guess which existing key a program meant by a key that does not exist.

    Return a sentence for the message, and the key, code or tool that it suggests. Without a guess,
    return `("", None)`. The value of a suggested key has a type that the code around the read at
    `place` can use.
    """
    if not may_guess(len(record.shape.properties)):
        return "", None
    use = key_reader(core.module, place)
    spend(8 * len(record.shape.properties))
    keys = [
        known
        for known in record.shape.properties
        if fits_use(core.module, use, field_type(record, known) or t.ANY)
    ]
    close = find_nearest(key, keys, cutoff=0.8, loose=False)
    inside = _find_nested_key(record, key)
    if inside and (close is None or close.lower() != key.lower()):
        where, subscripts, kind = inside[0]
        is_meant = len(inside) == 1 and key not in _COMMON and fits_use(core.module, use, kind)
        return f" {key!r} is a key of {where}.", subscripts if is_meant else None
    if close is not None:
        return f" Did you mean {close!r}?", close
    return _suggest_other_key(core, record, key, find_nearest(key, keys))


def _suggest_other_key(
    core: Interpreter, record: t.Record, key: str, near: str | None
) -> tuple[str, str | None]:
    """Guess what a program meant by a key that no key of the object closely resembles.

    `near` is the key of the object that resembles it most. The result is that of `_suggest_key`.
    """
    lists = list_keys(record)
    tools = _find_tools_with_key(core, record, key) if near not in lists else []
    if tools:
        needs = [_describe_requirements(core, alias) for alias in tools]
        return f" {key!r} is in what these give: {format_list(needs)}.", tools[0]
    if near is not None:
        return f" Did you mean {near!r}?", near
    if len(lists) == 1 and (key.endswith("s") or key.lower() in _LIST_NAMES):
        return f" The list is under {lists[0]!r}.", lists[0]
    return "", None


def _describe_requirements(core: Interpreter, alias: str) -> str:
    return f"{alias} ({', '.join(sorted(core.tools[alias].required)) or 'no arguments'})"


def _find_tools_with_key(core: Interpreter, record: t.Record, key: str) -> list[str]:
    """Return other tools whose responses have a key that the program read from a wrong response.

    The key is at the top level of their response or in the items of a list.
    """
    found = []
    own = core.tools[record.origin.tool]
    spend(4 * len(core.tools))
    for alias, tool in core.tools.items():
        # Do not suggest a writing tool instead of a reading one.
        other = tool is not own and tool.protocol.writes <= own.protocol.writes
        for member in t.members(core.tool_result(alias)) if other else ():
            top = item_type(member) if isinstance(member, t.Array) else member
            if isinstance(top, t.Record) and (
                key in top.shape.properties or _find_nested_key(top, key)
            ):
                found.append(alias)
                break
    return found[:3] if len(found) <= _MOST_GIVERS else []


def _find_nested_key(record: t.Record, key: str) -> list[tuple[str, str, t.Type]]:
    """Find a key that an object does not have itself, but one level deeper.

    Return for each inner object that has it: the object in words, the subscripts that lead to the
    key, and the type of the value there.
    """
    spend(8 * len(record.shape.properties))
    found = []
    for name in record.shape.properties:
        for member in t.members(field_type(record, name) or t.ANY):
            inside = t.members(item_type(member) if isinstance(member, t.Array) else member)
            each, step = ("each item of ", "[…]") if isinstance(member, t.Array) else ("", "")
            found += [
                (f"{each}{name!r}", f"[{name!r}]{step}[{key!r}]", field_type(one, key) or t.ANY)
                for one in inside
                if isinstance(one, t.Record) and key in one.shape.properties
            ]
    return found
