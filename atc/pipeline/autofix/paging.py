"""Pagination: find tools of which a program read only the first page."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atc.core.types import Program
from protocols.schema import Json, resolve
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

NUMBER_ARGUMENTS = ("page", "page_number")
_OFFSETS = ("offset", "skip", "start")
_PAGE_ARGUMENTS = frozenset({*NUMBER_ARGUMENTS, *_OFFSETS, "cursor", "page_token", "after"})
SIZE_ARGUMENTS = ("page_size", "per_page", "limit", "size")
_PAGE_COUNTS = ("pages", "total_pages", "page_count")
_TOTALS = ("total", "total_count", "total_results")
_NEXT = ("next", "next_page", "next_cursor", "next_page_token", "has_more", "has_next", "more")


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """A tool whose result has more pages than a program read.

    `argument` is the argument that requests further results (a page, an offset or a size).
    `evidence` quotes the part of the response which shows that there are more. `count` is the
    response key with the number of pages, and `total` the one with the number of all rows. `size`
    is the number of rows of a page; it is only set if a full page is the only evidence. `key` is
    the response key of the rows, or None if the result itself is the list.
    """

    tool: str
    argument: str
    evidence: str
    count: str | None = None
    size: int | None = None
    key: str | None = None
    total: str | None = None


def unread_pages(program: Program, trace: Trace, tools: Toolbox) -> tuple[UnreadPages, ...]:
    """Return the tools whose results have more pages than the program read.

    A program that reads a total, or uses only the first rows, is not reported, because later pages
    cannot change its answer.
    """
    # Calls that only differ in the page or its size.
    series: dict[tuple[str, str], list[ToolCall]] = {}
    for call in trace.calls:
        if call.error is None and call.tool in tools:
            rest = {
                k: v
                for k, v in call.arguments.items()
                if k not in _PAGE_ARGUMENTS and k not in SIZE_ARGUMENTS
            }
            series.setdefault(
                (call.tool, json.dumps(rest, sort_keys=True, default=repr)), []
            ).append(call)
    found: dict[str, UnreadPages] = {}
    for (alias, _), calls in series.items():
        unread = _find_unread_pages(program, tools[alias], calls) if alias not in found else None
        if unread is not None and not _only_first_rows(program, alias):
            found[alias] = unread
    return tuple(found.values())


def _find_unread_pages(program: Program, tool: Tool, calls: list[ToolCall]) -> UnreadPages | None:
    """Return what calls of one tool left unread, or None if they read all pages.

    `calls` differ only in the page or its size. The result of the last one decides. A result
    without fields about pages is judged only by its number of rows.
    """
    value = tool.unwrap(calls[-1].result)
    fields = value if isinstance(value, Mapping) else {}
    if fields.keys().isdisjoint((*_PAGE_COUNTS, *_TOTALS, *_NEXT)):
        return _full_page(tool, calls[-1])
    argument = next((alias for alias in tool.arguments if alias in _PAGE_ARGUMENTS), None)
    if argument is None or _reads_total(program, tool.alias, fields):
        return None
    count = next((key for key in _PAGE_COUNTS if is_number(fields.get(key))), None)
    evidence = _find_evidence_of_more(fields, count, calls)
    if evidence is None:
        return None
    by_number = argument in NUMBER_ARGUMENTS and is_number(fields.get("page"))
    return UnreadPages(
        tool.alias,
        argument,
        evidence,
        count=count if by_number else None,
        key=_rows_of(value)[0],
        total=_find_total(fields) if argument in NUMBER_ARGUMENTS else None,
    )


def _find_total(fields: Mapping[str, Json]) -> str | None:
    """Return the key under which a result has the number of all rows, or None."""
    return next((key for key in _TOTALS if is_number(fields.get(key))), None)


def _reads_total(program: Program, tool: str, fields: Mapping[str, Json]) -> bool:
    """Return True if the program reads the total number of results of each call of the tool.

    Such a program does not need the other pages. `fields` are those of a result. A call whose rows
    are read at once, as in `list_flights()["flights"]`, reads no total.
    """
    totals = [key for key in _TOTALS if key in fields]
    if not any(re.search(rf"""["']{key}["']""", program.source) for key in totals):
        return False
    nodes = list(ast.walk(program.tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    around = (parents.get(node) for node in nodes if _is_call_of(node, tool))
    return not any(_reads_other_key(node, totals) for node in around)


def _reads_other_key(node: ast.AST | None, totals: Sequence[str]) -> bool:
    """Return True if a node reads a constant key that is not one of `totals`."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=key)):
            return key not in totals
    return False


def _find_evidence_of_more(
    fields: Mapping[str, Any], count: str | None, calls: Sequence[ToolCall]
) -> str | None:
    """Return a quote from the last result that shows that there are more pages, or None.

    An example is `page 1 of 3`.
    """
    if count is not None and is_number(fields.get("page")) and fields["page"] < fields[count]:
        return f"page {fields['page']} of {fields[count]}"
    total = _find_total(fields)
    if total is not None and 0 < sum(map(_count_rows, calls)) < fields[total]:
        return f"{sum(map(_count_rows, calls))} of {fields[total]}"
    more = next((key for key in _NEXT if fields.get(key)), None)
    return f"{more} = {fields[more]!r}" if more is not None else None


def _count_rows(call: ToolCall) -> int:
    """Return the length of the longest list in the result of a call."""
    values = call.result.values() if isinstance(call.result, Mapping) else ()
    return max((len(rows) for rows in values if isinstance(rows, list)), default=0)


def _full_page(tool: Tool, call: ToolCall) -> UnreadPages | None:
    """Return `UnreadPages` if a result has exactly as many rows as one page can have, else None.

    The page size must be the declared default or the declared maximum. A program that asks for any
    other size is assumed to need only so many rows.
    """
    key, rows = _rows_of(tool.unwrap(call.result))
    for alias in SIZE_ARGUMENTS:
        if alias in tool.arguments and rows is not None:
            schema = argument_schema(tool, alias)
            size = call.arguments.get(alias, schema.get("default"))
            if (
                is_number(size)
                and len(rows) == size
                and size in (schema.get("default"), schema.get("maximum"))
            ):
                turns = next(
                    (a for a in tool.arguments if a in (*NUMBER_ARGUMENTS, *_OFFSETS)), alias
                )
                return UnreadPages(
                    tool.alias,
                    turns,
                    f"exactly {size} came, as many as {alias} lets come",
                    None,
                    size,
                    key,
                )
    return None


def _rows_of(value: Json) -> tuple[str | None, list[Json] | None]:
    """Return the list of rows in a result, and the key under which the result has it.

    The key is None if the result itself is the list. Return `(None, None)` if the result has no
    list or several.
    """
    if isinstance(value, list):
        return None, value
    lists = (
        [(k, v) for k, v in value.items() if isinstance(v, list)]
        if isinstance(value, Mapping)
        else []
    )
    return lists[0] if len(lists) == 1 else (None, None)


def _only_first_rows(program: Program, tool: str) -> bool:
    """Return True if the program uses only the first rows of a result.

    It reads `near[0]`, `rows[:3]`, or the first row that fits: `next(row for row in rows if …)`.
    """
    tree = program.tree
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    calls = [node for node in ast.walk(tree) if _is_call_of(node, tool)]
    return bool(calls) and all(_takes_first_rows(call, tree, parents) for call in calls)


def _is_call_of(node: ast.AST, tool: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == tool


def _takes_first_rows(
    node: ast.AST,
    tree: ast.Module,
    parents: Mapping[ast.AST, ast.AST],
    names: frozenset[str] = frozenset(),
) -> bool:
    """Return True if the program uses only the first rows of the expression `node`.

    A condition that tests whether there are any rows is allowed, too. `names` are the variables
    that were already examined because the value was assigned to them.
    """
    parent = parents.get(node)
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is node:
            return _takes_first_rows(parent, tree, parents, names)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(number))) if value is node:
            return number >= 0
        case ast.Subscript(
            value=value, slice=ast.Slice(lower=None, upper=ast.Constant(), step=None)
        ):
            return value is node
        case ast.Assign(targets=[ast.Name(id=name)]) if name not in names:
            known = names | {name}
            uses = [use for use in ast.walk(tree) if isinstance(use, ast.Name) and use.id == name]
            reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
            return all(_takes_first_rows(use, tree, parents, known) for use in reads)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.comprehension():
            return parent.iter is node and _is_first_match(parents[parent], parents)
        case ast.Call(func=ast.Name(id="iter"), args=[_]):
            return _is_first_match(parent, parents)
        case ast.Call(func=ast.Name(id=name), args=[_]) if _is_accessor(name, tree):
            return _takes_first_rows(parent, tree, parents, names)
    return False


def _is_first_match(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return True if `node` is a generator of which `next(…)` takes the first item.

    With a default, as in `next(…, None)`, the result is False. The program then continues if the
    first page has no match, although a later page may have one.
    """
    match parents.get(node):
        case ast.Call(func=ast.Name(id="next"), args=[only]):
            return only is node
    return False


_READING = frozenset({"isinstance", "get", "next", "iter", "values", "list"})
"""Functions that a helper may call which only picks the rows out of a result."""


def _is_accessor(name: str, tree: ast.Module) -> bool:
    """Return True if the program defines a function `name` that only picks the rows of a result.

    It has one argument. An example is `def items(result): return result["items"]`.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
            loops = any(isinstance(inner, ast.For | ast.While) for inner in ast.walk(node))
            names = {getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls}
            return len(node.args.args) == 1 and not loops and names <= _READING
    return False


def argument_schema(tool: Tool, alias: str) -> Mapping[str, Any]:
    """Return the schema of the argument `alias` of a tool."""
    return resolve(tool.protocol.parameters[tool.arguments[alias]], tool.protocol.input_schema)


def is_number(value: Json) -> bool:
    """Return True if a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)
