"""Results that go on: tools of which a program read only the first page, and the program that reads them all."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from atc.edits import Edit, Places, edited
from atc.types import Program
from protocols.jsontypes import Json
from protocols.parsing import parse
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall, Trace

_NUMBERS = ("page", "page_number")
_OFFSETS = ("offset", "skip", "start")
_PAGE_ARGUMENTS = frozenset({*_NUMBERS, *_OFFSETS, "cursor", "page_token", "after"})
SIZE_ARGUMENTS = ("page_size", "per_page", "limit", "size")
_PAGE_COUNTS = ("pages", "total_pages", "page_count")
_TOTALS = ("total", "total_count", "total_results")
_NEXT = ("next", "next_page", "next_cursor", "next_page_token", "has_more", "has_next", "more")


@dataclass(frozen=True, slots=True)
class Unread:
    """A tool whose results go on beyond what a program read.

    `argument` asks for more (a page, an offset, a size), `evidence` quotes what says that there is more. `count` is the
    key that holds the number of pages; `size` is the number of rows that a page has, where all that says that there is
    more is a page as full as that. `key` holds the rows, None where the result is the list.
    """

    tool: str
    argument: str
    evidence: str
    count: str | None = None
    size: int | None = None
    key: str | None = None


def unread_pages(program: Program, trace: Trace, tools: Toolbox) -> tuple[Unread, ...]:
    """The tools whose results go on, of which the program read neither all pages nor a total.

    Of a program that takes only the first rows it is none: no later page would change these.
    """
    found: dict[str, Unread] = {}
    for (alias, _), calls in _series(trace, tools).items():
        result = calls[-1].result
        if alias in found or (isinstance(result, Mapping) and _reads_any(program, _TOTALS, result)):
            continue
        unread = _going_on(tools[alias], calls) or _full_page(tools[alias], calls[-1])
        if unread is not None and not _only_first_rows(program, alias):
            found[alias] = unread
    return tuple(found.values())


def _going_on(tool: Tool, calls: list[ToolCall]) -> Unread | None:
    """What the last result of a series says itself."""
    result, argument = calls[-1].result, next((a for a in tool.arguments if a in _PAGE_ARGUMENTS), None)
    if argument is None or not isinstance(result, Mapping):
        return None
    count = next((key for key in _PAGE_COUNTS if _is_number(result.get(key))), None)
    total = next((key for key in _TOTALS if _is_number(result.get(key))), None)
    more = next((key for key in _NEXT if result.get(key)), None)
    read = sum(_length(call.result) for call in calls)
    if count is not None and _is_number(result.get("page")) and result["page"] < result[count]:
        evidence = f"page {result['page']} of {result[count]}"
    elif total is not None and 0 < read < result[total]:
        evidence = f"{read} of {result[total]}"
    elif more is not None:
        evidence = f"{more} = {result[more]!r}"
    else:
        return None
    return Unread(tool.alias, argument, evidence, count if argument in _NUMBERS else None, key=_list_key(tool))


def _full_page(tool: Tool, call: ToolCall) -> Unread | None:
    """A result that says nothing of more, but has exactly as many rows as a page may have.

    That is the declared default, or the maximum; any other size is what the program wants.
    """
    value = tool.unwrap(call.result)
    lists = [key for key, inner in value.items() if isinstance(inner, list)] if isinstance(value, Mapping) else []
    if isinstance(value, Mapping) and (len(lists) != 1 or any(k in value for k in (*_PAGE_COUNTS, *_TOTALS, *_NEXT))):
        return None
    key = lists[0] if lists else None
    rows = value[key] if isinstance(value, Mapping) else value
    for alias in SIZE_ARGUMENTS:
        if alias in tool.arguments and isinstance(rows, list):
            schema = _argument(tool, alias)
            size = call.arguments.get(alias, schema.get("default"))
            if not _is_number(size) or len(rows) != size or size not in (schema.get("default"), schema.get("maximum")):
                continue
            turns = next((a for a in tool.arguments if a in (*_NUMBERS, *_OFFSETS)), alias)
            return Unread(tool.alias, turns, f"exactly {size} came, as many as {alias} lets come", None, size, key)
    return None


def _only_first_rows(program: Program, tool: str) -> bool:
    """Whether all that the program takes of a tool's results are rows counted from the first: `near[0]`, `rows[:3]`."""
    tree = parse(program.source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def first(node: ast.AST, names: frozenset[str]) -> bool:
        parent = parents.get(node)
        match parent:
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is node:
                return first(parent, names)
            case ast.Subscript(value=value, slice=ast.Constant(value=int(number))) if value is node:
                return number >= 0
            case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=ast.Constant(), step=None)):
                return value is node
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in names:
                uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
                return all(first(n, names | {name}) for n in uses if isinstance(n.ctx, ast.Load))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                return test is node
            case ast.UnaryOp(op=ast.Not()):
                return True
        return False

    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", None) == tool]
    return bool(calls) and all(first(call, frozenset()) for call in calls)


def read_every_page(program: Program, unread: Unread, tools: Toolbox) -> Program | None:
    """The program with each call of a paged tool, where it asks for no page itself, reading all pages.

    Later pages come behind earlier ones, so that what the program took from the first page stands where it stood.
    None where the program asks for pages itself, or nothing tells how a further page is asked for.
    """
    helper, tree = _helper(unread, tools[unread.tool]), parse(program.source)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", None) == unread.tool]
    given = {keyword.arg for call in calls for keyword in call.keywords}
    if helper is None or not calls or given & {unread.argument, None}:
        return None
    place = Places(program.source)
    paged = edited(program, (Edit(place.start(call.func), place.start(call.func), "every_page_of_") for call in calls))
    return Program(helper + paged.source)


def _helper(unread: Unread, tool: Tool) -> str | None:
    """The function that reads all pages; None where nothing tells how a further page is asked for."""
    schema, key = _argument(tool, unread.argument), unread.key
    if unread.size is not None and unread.argument in SIZE_ARGUMENTS:
        most = schema.get("maximum")
        larger = isinstance(most, int) and most > unread.size
        return _AT_ONCE.format(tool=tool.alias, argument=unread.argument, most=most) if larger else None
    sizes, step, start = "", 1, schema.get("default", 1)
    if unread.count is not None and key is not None:
        most_of = (
            (alias, _argument(tool, alias).get("maximum")) for alias in tool.arguments if alias in SIZE_ARGUMENTS
        )
        sizes = next((f'"{alias}": {most}, ' for alias, most in most_of if isinstance(most, int)), "")
        more = f'page["page"] < page["{unread.count}"]'
    elif unread.size is not None and types(schema) == ("integer",):
        step = 1 if unread.argument in _NUMBERS else unread.size
        start = schema.get("default", int(step == 1))
        more = f"len({_rows('page', key)}) == {unread.size}"
    else:
        return None
    rows = f"{_rows('result', key)} + {_rows('page', key)}"
    joined = rows if key is None else f'{{**page, "{key}": {rows}}}'
    return _PAGE_BY_PAGE.format(
        tool=tool.alias, argument=unread.argument, sizes=sizes, start=start, step=step, more=more, joined=joined
    )


def _rows(page: str, key: str | None) -> str:
    return page if key is None else f'{page}["{key}"]'


_PAGE_BY_PAGE = """\
def every_page_of_{tool}(**arguments):
    arguments = {{{sizes}**arguments}}
    result = page = {tool}(**arguments)
    number = {start}
    while {more}:
        number += {step}
        before, page = page, {tool}(**{{**arguments, "{argument}": number}})
        if page == before:
            break
        result = {joined}
    return result


"""
_AT_ONCE = """\
def every_page_of_{tool}(**arguments):
    return {tool}(**{{**arguments, "{argument}": {most}}})


"""


def _list_key(tool: Tool) -> str | None:
    """The one list in a paged result, as it is declared."""
    root = tool.protocol.output_schema or {}
    properties = resolve(root, root).get("properties", {})
    lists = [key for key, schema in properties.items() if types(resolve(schema, root)) == ("array",)]
    return lists[0] if len(lists) == 1 else None


def _argument(tool: Tool, alias: str) -> Mapping[str, Any]:
    """The schema of an argument."""
    return resolve(tool.protocol.parameters[tool.arguments[alias]], tool.protocol.input_schema)


def _series(trace: Trace, tools: Toolbox) -> dict[tuple[str, str], list[ToolCall]]:
    """Calls that differ only in the page they ask for, or in its size, together."""
    series: dict[tuple[str, str], list[ToolCall]] = {}
    for call in trace.calls:
        if call.error is None and call.tool in tools:
            rest = {k: v for k, v in call.arguments.items() if k not in _PAGE_ARGUMENTS and k not in SIZE_ARGUMENTS}
            series.setdefault((call.tool, json.dumps(rest, sort_keys=True, default=repr)), []).append(call)
    return series


def _reads_any(program: Program, keys: tuple[str, ...], result: Mapping[str, Any]) -> bool:
    return any(re.search(rf"""["']{key}["']""", program.source) for key in keys if key in result)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _length(result: Json) -> int:
    lists: Iterator[Any] = (
        (v for v in result.values() if isinstance(v, list)) if isinstance(result, Mapping) else iter(())
    )
    return max(map(len, lists), default=0)
