"""What to say of a subscript that cannot work: the real keys, the nearest one, the list that was meant."""

from __future__ import annotations

import ast
from typing import Any

from atc.check.known.core import Core
from atc.check.known.fields import field_type, item_type
from atc.check.known.kinds import (
    ANY,
    Array,
    Atom,
    Awaitable,
    Function,
    Iterating,
    KeyOf,
    Listing,
    Mapped,
    Record,
    ToolRef,
    Tuple,
    Type,
)
from atc.check.known.lattice import members
from atc.check.known.objects import Instance, Made
from atc.check.known.words import described
from atc.check.operations.iteration import called, keys_text, list_keys, report_iterated
from atc.check.report import listed, may_guess, nearest, spelled

MOST_GIVERS = 5
"""A key that more tools than this give tells nothing (`name`, `id`)."""

_LIST_NAMES = {"data", "items", "results", "result", "list", "records", "entries", "values", "rows", "content"}


def report_read(core: Core, value: Type, key: Any, node: ast.expr) -> None:
    """Report that `value[key]`, or `value.get(key)`, at `node` cannot work; `key` is None where it is not known."""
    base, place = _parts(node)
    text = spelled(base)
    match value:
        case Record() if isinstance(key, str):
            _report_missing(core, value, key, place, text)
        case Mapped(cell) if isinstance(key, str):
            near = nearest(key, [known for known in cell.keys if isinstance(known, str)])
            meant = f" Did you mean {near!r}?" if near else ""
            message = f"{text} has no key {key!r}; the program gives it only {listed(map(repr, cell.keys))}.{meant}"
            if cell.keys:
                core.report("missing-key", place, message, better=near)
        case Record():
            _report_object(core, value, node, text)
        case Atom("str", key_of=KeyOf() as source):
            report_iterated(core, source)
        case Array():
            _report_list(core, value, key, node, text)
        case Mapped():
            return
        case _:
            _report_other(core, value, key, node, text)


def _parts(node: ast.expr) -> tuple[ast.expr, ast.expr]:
    """What is read from, and the key: the places that a message names and points at."""
    match node:
        case ast.Subscript(value=base, slice=index):
            return base, index
        case ast.Call(func=ast.Attribute(attr="get" | "pop", value=base), args=[first, *_]):
            return base, first
        case ast.Call(args=[first]):  # itemgetter("key")
            return ast.Name("each item"), first
        case _:
            return node, node


def _report_other(core: Core, value: Type, key: Any, node: ast.expr, text: str) -> None:
    match value:
        case Iterating(kind=kind):
            message = f"{text} is a {kind}, which has no index. Write list({text}) first."
            core.report("not-a-list", node, message, better=f"list({text})")
        case Listing(kind="set" | "frozenset" | "deque" as kind):
            lacks = "slices" if kind == "deque" else "index"
            message = f"{text} is a {kind}, which has no {lacks}. Write list({text}) first."
            core.report("not-a-list", node, message, better=f"list({text})")
        case Awaitable():
            message = f"{text} was not awaited. Write `await {text}`."
            core.report("missing-await", node, message, better=f"await {text}")
        case Tuple() | Listing(kind="list" | "tuple"):
            message = f"{text} is {described(value)}, which is indexed by number, as in {text}[0], or iterated."
            core.report("not-an-object", node, message, better=f"{text}[0]")
        case Instance(shape) if isinstance(key, str):
            better = f"{text}.{key}" if key in shape.attributes else None
            then = f" Write {better}." if better else ""
            message = f"{text} is a {shape.name}, whose values are attributes: {listed(shape.attributes)}.{then}"
            core.report("not-an-object", node, message, better=better)
        case ToolRef(alias):
            better = called(core, value)
            message = f"{text} is the tool itself, which has no items. Call it: {better}."
            core.report("not-an-object", node, message, tool=alias, better=better)
        case Made() | Function():
            message = f"{text} is {described(value)}, which has no keys."
            core.report("not-an-object", node, message)
        case _ if isinstance(key, str):
            message = f"{text} is {described(value)}; it has no key {key!r}. Use {text} itself."
            core.report("not-an-object", node, message, better=text)
        case Atom():
            message = f"{text} is {described(value)}; it cannot be indexed like that. Use {text} itself."
            core.report("not-an-object", node, message, better=text)


def _report_object(core: Core, record: Record, node: ast.expr, text: str) -> None:
    """An object was indexed as though it were a list."""
    lists = list_keys(record)
    better = f"{text}[{lists[0]!r}]" if lists else None
    then = f" The list is {better}." if better else " Take a value by its key."
    message = f"{text} ({record.origin}) is an object with keys {keys_text(record)}, not a list.{then}"
    core.report("not-a-list", node, message, tool=record.origin.tool, better=better)


def _report_list(core: Core, array: Array, key: Any, node: ast.expr, text: str) -> None:
    """A list was indexed as though it were an object."""
    origin = array.origin
    tool = core.tools.get(origin.tool)
    if tool is not None and not origin.path and tool.wrapper == key and key is not None:
        message = f"{origin} is already the list that stands under {key!r}: leave out [{key!r}]."
        core.report("not-an-object", node, message, tool=origin.tool, better=text)
        return
    first = item_type(array)
    keys = f" Its items are objects with keys {keys_text(first)}." if isinstance(first, Record) else ""
    message = f"{text} ({origin}) is a list, not an object.{keys} Take one item first: {text}[0], or a loop."
    core.report("not-an-object", node, message, tool=origin.tool, better=f"{text}[0]")


def _report_missing(core: Core, record: Record, key: str, place: ast.expr, text: str) -> None:
    keys = list(record.shape.properties)
    owner = str(record.origin) if not record.origin.path else f"{text} ({record.origin})"
    then, better = _instead(core, record, key)
    message = f"{owner} has no key {key!r}; its keys are {listed(keys)}.{then}"
    core.report("missing-key", place, message, tool=record.origin.tool, better=better, keys=keys)


def _instead(core: Core, record: Record, key: str) -> tuple[str, str | None]:
    """What was probably meant by a key that is not there: a sentence, and what to write."""
    if not may_guess(len(record.shape.properties)):
        return "", None
    keys, lists = list(record.shape.properties), list_keys(record)
    close = nearest(key, keys, cutoff=0.8, loose=False)
    inside = _nested(record, key)
    if inside is not None and (close is None or close.lower() != key.lower()):
        return f" {key!r} is a key of {inside[0]}.", inside[1]
    if close is not None:
        return f" Did you mean {close!r}?", close
    if givers := _givers(core, record, key):
        needs = [f"{alias} ({', '.join(sorted(core.tools[alias].required)) or 'no arguments'})" for alias in givers]
        return f" {key!r} is in what these give: {listed(needs)}.", givers[0]
    near = nearest(key, keys)
    if near is None and len(lists) == 1 and (key.endswith("s") or key.lower() in _LIST_NAMES):
        return f" The list is under {lists[0]!r}.", lists[0]
    return (f" Did you mean {near!r}?", near) if near is not None else ("", None)


def _givers(core: Core, record: Record, key: str) -> list[str]:
    """Tools in whose responses the key stands, at the top or in the items of a list there."""
    found = []
    for alias in core.tools:
        for member in members(core.tool_result(alias)) if alias != record.origin.tool else ():
            top = item_type(member) if isinstance(member, Array) else member
            if isinstance(top, Record) and (key in top.shape.properties or _nested(top, key) is not None):
                found.append(alias)
                break
    return found[:3] if len(found) <= MOST_GIVERS else []


def _nested(record: Record, key: str) -> tuple[str, str] | None:
    """Where one level further down the key is: in words, and as subscripts."""
    for name in record.shape.properties:
        for member in members(field_type(record, name) or ANY):
            if isinstance(member, Record) and key in member.shape.properties:
                return f"{name!r}", f"[{name!r}][{key!r}]"
            if isinstance(member, Array):
                for item in members(item_type(member)):
                    if isinstance(item, Record) and key in item.shape.properties:
                        return f"each item of {name!r}", f"[{name!r}][…][{key!r}]"
    return None
