"""Pagination: detect tools of which a program read only the first page, and rewrite the program to
read all pages.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atc.core.source_edits import Edit, SourceOffsets, apply_edits
from atc.core.types import Program
from protocols.python_source import parse_python
from protocols.schema import Json, resolve, types
from protocols.toolbox import Tool, Toolbox, format_subscript
from sandbox.trace import ToolCall, Trace

_NUMBERS = ("page", "page_number")
_OFFSETS = ("offset", "skip", "start")
_PAGE_ARGUMENTS = frozenset({*_NUMBERS, *_OFFSETS, "cursor", "page_token", "after"})
SIZE_ARGUMENTS = ("page_size", "per_page", "limit", "size")
_PAGE_COUNTS = ("pages", "total_pages", "page_count")
_TOTALS = ("total", "total_count", "total_results")
_NEXT = ("next", "next_page", "next_cursor", "next_page_token", "has_more", "has_next", "more")


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """A tool whose results continue beyond what a program read.

    `argument` asks for more (a page, an offset or a size); `evidence` quotes what shows that there
    is more. `count` is the response key with the number of pages. `size` is the number of rows of a
    page, set if the only evidence is a full page. `key` is the response key of the rows, None if
    the result itself is the list.
    """

    tool: str
    argument: str
    evidence: str
    count: str | None = None
    size: int | None = None
    key: str | None = None


def unread_pages(program: Program, trace: Trace, tools: Toolbox) -> tuple[UnreadPages, ...]:
    """Return the tools with more results, if the program read neither all pages nor a total.

    A program that uses only the first rows is not reported, since later pages cannot change its
    answer.
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
    """Return what the last result of a series of calls says about further pages, or else check for
    a full page.
    """
    value = tool.unwrap(calls[-1].result)
    said = value if isinstance(value, Mapping) else {}
    if not any(key in said for key in (*_PAGE_COUNTS, *_TOTALS, *_NEXT)):
        return _full_page(tool, calls[-1])
    argument = next((alias for alias in tool.arguments if alias in _PAGE_ARGUMENTS), None)
    reads_total = any(
        key in said and re.search(rf"""["']{key}["']""", program.source) for key in _TOTALS
    )
    if argument is None or reads_total:
        return None
    count = next((key for key in _PAGE_COUNTS if _is_number(said.get(key))), None)
    total = next((key for key in _TOTALS if _is_number(said.get(key))), None)
    more = next((key for key in _NEXT if said.get(key)), None)
    pages = (call.result.values() if isinstance(call.result, Mapping) else () for call in calls)
    read = sum(
        max((len(rows) for rows in page if isinstance(rows, list)), default=0) for page in pages
    )
    if count is not None and _is_number(said.get("page")) and said["page"] < said[count]:
        evidence = f"page {said['page']} of {said[count]}"
    elif total is not None and 0 < read < said[total]:
        evidence = f"{read} of {said[total]}"
    elif more is not None:
        evidence = f"{more} = {said[more]!r}"
    else:
        return None
    key = _rows_of(value)[0]
    return UnreadPages(
        tool.alias, argument, evidence, count if argument in _NUMBERS else None, key=key
    )


def _full_page(tool: Tool, call: ToolCall) -> UnreadPages | None:
    """Return `UnreadPages` if a result has exactly as many rows as one page allows.

    The page size must be the declared default or the maximum. Any other size is taken as what the
    program wants.
    """
    key, rows = _rows_of(tool.unwrap(call.result))
    for alias in SIZE_ARGUMENTS:
        if alias in tool.arguments and rows is not None:
            schema = _argument(tool, alias)
            size = call.arguments.get(alias, schema.get("default"))
            if (
                _is_number(size)
                and len(rows) == size
                and size in (schema.get("default"), schema.get("maximum"))
            ):
                turns = next((a for a in tool.arguments if a in (*_NUMBERS, *_OFFSETS)), alias)
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
    """Return the key and the rows of a result: the result itself if it is a list, else the only
    list in it.
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
    """Return True if the program uses only rows counted from the first: `near[0]`, `rows[:3]`."""
    tree = parse_python(program.source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def first(node: ast.AST, names: frozenset[str]) -> bool:
        parent = parents.get(node)
        match parent:
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is node:
                return first(parent, names)
            case ast.Subscript(value=value, slice=ast.Constant(value=int(number))) if value is node:
                return number >= 0
            case ast.Subscript(
                value=value, slice=ast.Slice(lower=None, upper=ast.Constant(), step=None)
            ):
                return value is node
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in names:
                uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
                return all(first(n, names | {name}) for n in uses if isinstance(n.ctx, ast.Load))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                return test is node
            case ast.UnaryOp(op=ast.Not()):
                return True
        return False

    calls = [
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", None) == tool
    ]
    return bool(calls) and all(first(call, frozenset()) for call in calls)


def read_every_page(program: Program, unread: UnreadPages, tools: Toolbox) -> Program | None:
    """Rewrite the program so that each call of a paged tool reads all pages.

    Later pages are appended, so that rows of the first page keep their position. Return None if the
    program already asks for pages, or for fewer rows than the default (it may not want more), or if
    it is not known how to ask for the next page.
    """
    tool = tools[unread.tool]
    helper = _helper(unread, tool)
    tree = parse_python(program.source)
    calls = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and getattr(n.func, "id", None) == unread.tool
    ]
    given = {keyword.arg: keyword.value for call in calls for keyword in call.keywords}
    few = any(
        _is_few(tool, alias, asked)
        for alias, asked in given.items()
        if alias and alias in tool.arguments
    )
    if helper is None or not calls or few or given.keys() & {unread.argument, None}:
        return None
    place = SourceOffsets(program.source)
    paged = apply_edits(
        program,
        (Edit(place.start(call.func), place.start(call.func), "every_page_of_") for call in calls),
    )
    return Program(helper + paged.source)


def _is_few(tool: Tool, alias: str, asked: ast.expr) -> bool:
    """Return True if an argument asks for fewer rows than a page has by default."""
    size = getattr(asked, "value", None) if alias in SIZE_ARGUMENTS else None
    return isinstance(size, int) and size < (_argument(tool, alias).get("default") or 0)


def _helper(unread: UnreadPages, tool: Tool) -> str | None:
    """Return the source of the function that reads all pages, or None if it is not known how to ask
    for the next page.
    """
    schema = _argument(tool, unread.argument)
    key = unread.key
    if unread.size is not None and unread.argument in SIZE_ARGUMENTS:
        most = schema.get("maximum")
        larger = isinstance(most, int) and most > unread.size
        return (
            _AT_ONCE.format(tool=tool.alias, argument=unread.argument, most=most)
            if larger
            else None
        )
    sizes = ""
    step = 1
    default = schema.get("default")
    if unread.count is not None and key is not None:
        largest = {
            alias: _argument(tool, alias).get("maximum")
            for alias in tool.arguments
            if alias in SIZE_ARGUMENTS
        }
        sizes = next(
            (f'"{alias}": {most}, ' for alias, most in largest.items() if isinstance(most, int)), ""
        )
        more = f'page["page"] < page["{unread.count}"]'
    elif unread.size is not None and types(schema) == ("integer",):
        step = 1 if unread.argument in _NUMBERS else unread.size
        more = f"len({_rows('page', key)}) == {unread.size}"
    else:
        return None
    start = default if _is_number(default) else int(step == 1)
    rows = f"{_rows('result', key)} + {_rows('page', key)}"
    joined = rows if key is None else f"{{**page, {key!r}: {rows}}}"
    return _PAGE_BY_PAGE.format(
        tool=tool.alias,
        argument=unread.argument,
        sizes=sizes,
        start=start,
        step=step,
        more=more,
        joined=joined,
    )


def _rows(page: str, key: str | None) -> str:
    return page if key is None else page + format_subscript(key)


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


def _argument(tool: Tool, alias: str) -> Mapping[str, Any]:
    """Return the schema of an argument."""
    return resolve(tool.protocol.parameters[tool.arguments[alias]], tool.protocol.input_schema)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
