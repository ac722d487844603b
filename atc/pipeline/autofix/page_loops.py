"""Rewrites a program that read only the first page of a result, so that it reads all pages."""

from __future__ import annotations

import ast

from atc.core.source_edits import Edit, SourceOffsets, apply_edits
from atc.core.types import Program
from atc.pipeline.autofix.paging import (
    NUMBER_ARGUMENTS,
    SIZE_ARGUMENTS,
    UnreadPages,
    argument_schema,
    is_number,
)
from protocols.schema import types
from protocols.tool import Tool
from protocols.toolbox import Toolbox, format_subscript


def read_every_page(program: Program, unread: UnreadPages, tools: Toolbox) -> Program | None:
    """Rewrite the program so that each call of a paged tool reads all pages.

    Rows of later pages are appended to those of the first page. Return None if the program already
    passes `unread.argument`, if it asks for fewer rows than the default (because it may not need
    more), or if it is not known how to ask for the next page.
    """
    tool = tools[unread.tool]
    helper = _helper(unread, tool)
    tree = program.tree
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
    """Return True if the argument `alias` asks for fewer rows than a page has by default."""
    size = getattr(asked, "value", None) if alias in SIZE_ARGUMENTS else None
    return isinstance(size, int) and size < (argument_schema(tool, alias).get("default") or 0)


def _helper(unread: UnreadPages, tool: Tool) -> str | None:
    """Return the Python source of a function that calls a tool until it has read all pages.

    Return None if it is not known how to ask the tool for the next page.
    """
    schema = argument_schema(tool, unread.argument)
    key = unread.key
    if unread.size is not None and unread.argument in SIZE_ARGUMENTS:
        most = schema.get("maximum")
        if not isinstance(most, int) or most <= unread.size:
            return None
        return _AT_ONCE.format(tool=tool.alias, argument=unread.argument, most=most)
    sizes = ""
    step = 1
    if unread.count is not None and key is not None:
        sizes = _largest_page_size(tool)
        more = f'page["page"] < page["{unread.count}"]'
    elif unread.total is not None and key is not None:
        sizes = _largest_page_size(tool)
        more = f'len({_rows("result", key)}) < page["{unread.total}"]'
    elif unread.size is not None and types(schema) == ("integer",):
        step = 1 if unread.argument in NUMBER_ARGUMENTS else unread.size
        more = f"len({_rows('page', key)}) == {unread.size}"
    else:
        return None
    default = schema.get("default")
    start = default if is_number(default) else int(step == 1)
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


def _largest_page_size(tool: Tool) -> str:
    """Return the keyword argument that asks for the largest page: `"page_size": 100, `.

    The number is the maximum that the schema of the argument for the page size declares. Return ""
    if no schema declares a maximum.
    """
    for alias in tool.arguments:
        if alias in SIZE_ARGUMENTS:
            most = argument_schema(tool, alias).get("maximum")
            if isinstance(most, int):
                return f'"{alias}": {most}, '
    return ""


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
