"""Rewrites a program that read only the first page of a result, so that it reads all pages."""

from __future__ import annotations

import ast

from atc.core.program import Program
from atc.core.source_edits import Edit, SourceOffsets, apply_edits
from atc.core.tool_calls import PAGES
from atc.pipeline.autofix.paging import UnreadPages, argument_schema, page_roles
from atc.pipeline.check.syntax import names_bound_by
from protocols.tool import Tool
from protocols.toolbox import Toolbox, format_subscript


def read_every_page(program: Program, unread: UnreadPages, tools: Toolbox) -> Program | None:
    """Rewrite the program so that each call of a paged tool reads all pages.

    The rows of later pages are appended to those of the first page. Return None if the next page
    cannot be read, if the program already passes an argument that pages, or if the rows are not
    known. If it asks for fewer rows than the default, it may not need more.
    """
    tool = tools[unread.tool]
    if unread.why or unread.path is None or PAGES in tools:
        return None
    calls = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == unread.tool
    ]
    roles = page_roles(tool)
    turns = {alias for alias, role in roles.items() if role != "size"}
    given = {keyword.arg: keyword.value for call in calls for keyword in call.keywords}
    few = any(_is_few(tool, alias, value) for alias, value in given.items() if alias in roles)
    if not calls or few or given.keys() & {*turns, None}:
        return None
    # The program may use the name of the builtin for a variable of its own.
    binds = any(PAGES in names_bound_by(node) for node in ast.walk(program.tree))
    helper = _helper(tool, unread, is_taken=binds)
    if helper is None:
        return None
    place = SourceOffsets(program.source)
    paged = apply_edits(
        program,
        (Edit(place.start(call.func), place.start(call.func), "every_page_of_") for call in calls),
    )
    return Program(helper + paged.source)


def _is_few(tool: Tool, alias: str | None, asked: ast.expr) -> bool:
    """Return True if the argument `alias` asks for fewer rows than a page has by default."""
    size = getattr(asked, "value", None)
    usual = argument_schema(tool, alias or "").get("default")
    return isinstance(size, int) and isinstance(usual, int) and size < usual


def _helper(tool: Tool, unread: UnreadPages, *, is_taken: bool) -> str | None:
    """Return the source of a function that reads all pages, or None if that is not possible.

    `is_taken` is True if the program gives the name `pages` another meaning later.
    """
    if unread.larger is not None:
        alias, most = unread.larger
        return _AT_ONCE.format(tool=tool.alias, argument=alias, most=most) if most else None
    sizes = _largest_page_size(tool)
    return _PAGE_BY_PAGE.format(
        tool=tool.alias,
        read="read_pages" if is_taken else PAGES,
        keep=f"read_pages = {PAGES}\n\n\n" if is_taken else "",
        arguments=f"**{{{sizes}**arguments}}" if sizes else "**arguments",
        joined=_join(unread.path or ()),
    )


def _join(path: tuple[str, ...], *, depth: int = 0) -> str:
    """Return an expression for `page` with the rows of `result` before its own.

    `path` are the keys that lead to the rows, of which the first `depth` are already read.
    """
    place = "".join(format_subscript(key) for key in path[:depth])
    if depth == len(path):
        return f"result{place} + page{place}"
    return f"{{**page{place}, {path[depth]!r}: {_join(path, depth=depth + 1)}}}"


def _largest_page_size(tool: Tool) -> str:
    """Return the entry of a dict that asks for the largest page: `"page_size": 100, `.

    The number is the maximum that the schema of the argument for the page size declares. Return ""
    if no schema declares a maximum.
    """
    for alias, role in page_roles(tool).items():
        most = argument_schema(tool, alias).get("maximum") if role == "size" else None
        if isinstance(most, int):
            return f'"{alias}": {most}, '
    return ""


_PAGE_BY_PAGE = """\
{keep}def every_page_of_{tool}(**arguments):
    result = None
    for page in {read}({tool}, {arguments}):
        result = page if result is None else {joined}
    return result


"""
_AT_ONCE = """\
def every_page_of_{tool}(**arguments):
    return {tool}(**{{**arguments, "{argument}": {most}}})


"""
