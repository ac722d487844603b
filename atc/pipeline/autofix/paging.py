"""Pagination: find tools of which a program read only the first page."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atc.core.program import Program
from atc.core.tool_calls import PAGES, WITH_HEADERS, called_tool
from atc.pipeline.autofix.first_rows import only_first_rows
from atc.safety.taint.number_words import numbers_in_words
from protocols.next_page import NextPage, Page, UnreadablePage, describe_total, next_page
from protocols.pagination import PageRole, find_rows, page_arguments, read_signs, total_keys
from protocols.schema import Json, JsonObject, resolve
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.page_series import PageSeries
from sandbox.trace import ToolCall, Trace

_ROUND = frozenset({20, 25, 30, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000})
"""Usual sizes of a full page. A list of exactly so many rows may have been cut."""
_ORDER = re.compile(
    r"\b(?:newest|latest|oldest|recent|nearest|closest|highest|lowest|best|cheapest|largest|smallest"
    r"|most \w+)(?: ones)? first\b|\b(?:sorted|ordered|ranked) by\b|\bin (?:de|a)scending\b"
    r"|\bin (?:the |\w+ )?order\b(?! to\b)",
    re.IGNORECASE,
)
_SORTS = re.compile(r"(?<![a-z])(?:sort|order|rank)", re.IGNORECASE)
_COUNTING = frozenset({"len", "sum", "max", "min", "Counter", "mean", "median"})


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """A tool whose result has more pages than a program read.

    `evidence` quotes what shows that there are more. `why` is a clause that says why the next page
    cannot be read, or "" if it can. `path` are the keys that lead to the rows in the value that a
    program gets, or None if the rows were not found. `larger` is the argument for the size of a
    page and its maximum, if a larger page is the only way to get more rows. If `is_enough` is True,
    the program takes only the first rows or the total, or it stopped by itself.
    """

    tool: str
    evidence: str
    why: str = ""
    path: tuple[str, ...] | None = None
    larger: tuple[str, int] | None = None
    is_enough: bool = False


def unread_pages(
    program: Program, trace: Trace, tools: Toolbox, *, task: str = ""
) -> tuple[UnreadPages, ...]:
    """Return the tools whose results have more pages than the program read and may need.

    `task` is the task, or "". A number of rows that it names is enough.
    """
    found = _find_all(program, trace, tools, task)
    return tuple(unread for unread in found if not unread.is_enough)


def page_notes(
    program: Program, trace: Trace, tools: Toolbox, *, task: str = ""
) -> tuple[str, ...]:
    """Return a sentence for each tool of which the program read only the pages that it needs."""
    return tuple(
        f"{unread.tool}: more rows are there than the program read ({unread.evidence})."
        for unread in _find_all(program, trace, tools, task)
        if unread.is_enough
    )


def _find_all(program: Program, trace: Trace, tools: Toolbox, task: str) -> tuple[UnreadPages, ...]:
    """Return what the program left unread, one item a tool."""
    found: dict[str, UnreadPages] = {}
    for alias, calls in _series(trace, tools):
        if alias in found and not found[alias].is_enough:
            continue
        unread = _find_unread_pages(tools[alias], calls, trace.calls)
        if unread is not None:
            is_enough = (
                unread.is_enough
                or (not unread.why and _reads_by_pages(program, alias))
                or (trace.failure is None and only_first_rows(program, alias))
                or _reads_total(program, tools[alias], calls[-1])
                or _asks_for_few(program, tools[alias], calls[-1], task)
            )
            found[alias] = replace(unread, is_enough=is_enough)
    return tuple(found.values())


def _series(trace: Trace, tools: Toolbox) -> Iterator[tuple[str, list[ToolCall]]]:
    """Yield the alias of a tool and its successful calls that only differ in the page or its size.

    The pages that one `pages(…)` read are a series of their own. It takes the place of a series of
    plain calls of the same list.
    """
    found: dict[tuple[str, str], list[ToolCall]] = {}
    read_by_pages: set[tuple[str, str]] = set()
    series_of: dict[int, list[ToolCall]] = {}
    continued = {call.continues for call in trace.calls if call.continues is not None}
    for call in trace.calls:
        if call.error is not None or call.tool not in tools:
            continue
        if call.continues is not None and call.continues in series_of:
            series_of[call.continues].append(call)
            series_of[call.index] = series_of[call.continues]
            continue
        roles = page_roles(tools[call.tool])
        rest = {name: value for name, value in call.arguments.items() if name not in roles}
        key = call.tool, json.dumps(rest, sort_keys=True, default=repr)
        if call.index in continued:
            series_of[call.index] = found[call.tool, f"pages {call.index}"] = [call]
            read_by_pages.add(key)
        else:
            found.setdefault(key, []).append(call)
    return ((key[0], calls) for key, calls in found.items() if key not in read_by_pages)


def _find_unread_pages(
    tool: Tool, calls: list[ToolCall], made: Sequence[ToolCall]
) -> UnreadPages | None:
    """Return what the calls of a series left unread, or None if they read all pages.

    `made` are all calls of the program: one of them may be the next page, also if its argument is
    not known to be one of pages.
    """
    last = calls[-1]
    page = _page(last)
    rows = find_rows(tool.unwrap(last.result))
    path = None if rows is None else rows.path
    if last.continues is not None:
        return _find_rest(tool, calls, path)
    following = next_page(tool, page)
    if isinstance(following, UnreadablePage):
        if _read_to_the_end(tool, calls):
            return None
        return UnreadPages(tool.alias, following.evidence, following.why, path)
    if following is None:
        larger = _larger_page(tool, last, len(rows.rows) if rows is not None else 0)
        if larger is None or read_signs(last.result, last.headers).more is False:
            return None
        return UnreadPages(tool.alias, _full_page(tool, last) or "", path=path, larger=larger)
    is_asked = any(call.tool == tool.alias and _asks_the_same(following, call) for call in made)
    if is_asked or _read_to_the_end(tool, calls):
        return None
    evidence = following.evidence if following.announced else _suspicion(tool, calls)
    return UnreadPages(tool.alias, evidence, path=path) if evidence else None


def _find_rest(
    tool: Tool, calls: list[ToolCall], path: tuple[str, ...] | None
) -> UnreadPages | None:
    """Return what a `pages(…)` left unread, or None if it read all pages."""
    series = PageSeries(tool)
    for call in calls:
        series.take(call)
    last = calls[-1]
    evidence = read_signs(last.result, last.headers).evidence or _total_of(tool, calls)
    if series.following is not None:
        if not series.following.announced:
            return None
        return UnreadPages(tool.alias, evidence, path=path, is_enough=True)
    if not evidence or _read_to_the_end(tool, calls):
        return None
    if not series.problem:
        return UnreadPages(tool.alias, evidence, path=path, is_enough=True)
    return UnreadPages(tool.alias, evidence, series.problem, path)


def _page(call: ToolCall) -> Page:
    return Page(call.arguments, call.query, call.result, call.headers)


def _asks_the_same(following: NextPage, call: ToolCall) -> bool:
    asked = (dict(following.arguments), dict(following.query))
    return asked == (dict(call.arguments), dict(call.query))


# --- evidence for further rows that a response does not announce


def _suspicion(tool: Tool, calls: Sequence[ToolCall]) -> str:
    """Return why a series may have more rows although none are announced, or ""."""
    return _total_of(tool, calls) or _full_page(tool, calls[-1]) or ""


def _total_of(tool: Tool, calls: Sequence[ToolCall]) -> str:
    """Return `100 of 130` if a response gives a total that is greater than the rows that came."""
    total = read_signs(calls[-1].result, calls[-1].headers).total
    count = _count_rows(tool, calls)
    if total is None or not 0 < count < total:
        return ""
    if len(calls) == 1:
        return describe_total(tool, _page(calls[0]), read_signs(calls[0].result, calls[0].headers))
    return f"{count} of {total}"


def _count_rows(tool: Tool, calls: Sequence[ToolCall]) -> int:
    """Return the number of rows of a series. A page that came twice counts once."""
    counts: dict[str, int] = {}
    for call in calls:
        found = find_rows(tool.unwrap(call.result))
        if found is not None:
            # Pages of plain values, such as numbers, may be equal by chance.
            are_plain = not any(isinstance(row, Mapping) for row in found.rows)
            page = [call.arguments, call.query] if are_plain else found.rows
            counts[json.dumps(page, sort_keys=True, default=repr)] = len(found.rows)
    return sum(counts.values())


def _read_to_the_end(tool: Tool, calls: Sequence[ToolCall]) -> bool:
    """Return True if a series has all rows, although the number of a page suggests a further one.

    A service that counts its pages from 0 says "page 2 of 3" on the last one.
    """
    signs = [read_signs(call.result, call.headers) for call in calls]
    from_zero = any(one.page == 0 for one in signs)
    return signs[-1].ends(_count_rows(tool, calls), from_zero=from_zero)


def _full_page(tool: Tool, call: ToolCall) -> str | None:
    """Return a sentence if a result has exactly as many rows as a page can have, else None.

    A program that asks for a size of its own, and gets so many rows, is assumed to need no more.
    """
    rows = find_rows(tool.unwrap(call.result))
    if rows is None:
        return None
    count = len(rows.rows)
    sizes = [alias for alias, role in page_roles(tool).items() if role == "size"]
    for alias in sizes:
        schema = argument_schema(tool, alias)
        asked = call.arguments.get(alias, schema.get("default"))
        if not is_number(asked):
            continue
        if count == asked:
            is_usual = asked in (schema.get("default"), schema.get("maximum"))
            return f"exactly {count} came, as many as {alias} lets come" if is_usual else None
        is_own = alias in call.arguments and asked != schema.get("default")
        if count < asked and count in _ROUND and is_own:
            return f"{alias}={asked} was asked for and exactly {count} came"
        return None
    return f"exactly {count} came" if count in _ROUND else None


def _larger_page(tool: Tool, call: ToolCall, count: int) -> tuple[str, int] | None:
    """Return the argument for the size of a page, and its maximum, if a full page came."""
    roles = page_roles(tool)
    if any(role != "size" for role in roles.values()) or not _full_page(tool, call):
        return None
    for alias in roles:
        most = argument_schema(tool, alias).get("maximum")
        return alias, most if isinstance(most, int) and most > count else 0
    return None


# --- programs that need no further rows


def _reads_by_pages(program: Program, alias: str) -> bool:
    """Return True if a program calls a tool only by `pages(…)`, and so stops where it wants."""
    calls = [node for node in ast.walk(program.tree) if called_tool(node) == alias]
    return bool(calls) and all(getattr(call.func, "id", "") == PAGES for call in _calls_in(calls))


def _reads_total(program: Program, tool: Tool, last: ToolCall) -> bool:
    """Return True if the program reads the number of all rows of each call of the tool.

    Such a program does not need the other pages. A call whose rows are read at once, as in
    `list_flights()["flights"]`, reads no total.
    """
    value = tool.unwrap(last.result)
    fields = value if isinstance(value, Mapping) else {}
    totals = total_keys(fields)
    headers = [name for name, text in last.headers.items() if read_signs(None, {name: text}).total]
    names = [*totals, *headers]
    if not any(
        re.search(rf"""["']{re.escape(key)}["']""", program.source, re.IGNORECASE) for key in names
    ):
        return False
    nodes = list(ast.walk(program.tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    calls = [node for node in nodes if called_tool(node) == tool.alias]
    if headers and any(getattr(call.func, "id", "") == WITH_HEADERS for call in _calls_in(calls)):
        return True
    return not any(_reads_other_keys(node, parents, totals) for node in calls)


def _calls_in(nodes: Sequence[ast.AST]) -> list[ast.Call]:
    return [node for node in nodes if isinstance(node, ast.Call)]


def _reads_other_keys(
    node: ast.AST, parents: Mapping[ast.AST, ast.AST], totals: Sequence[str]
) -> bool:
    """Return True if constant keys are read of a node at once, and none of them is of `totals`."""
    keys: list[Json] = []
    while isinstance(parent := parents.get(node), ast.Subscript) and parent.value is node:
        if not isinstance(parent.slice, ast.Constant):
            break
        keys.append(str(parent.slice.value))
        node = parent
    return bool(keys) and not set(keys) & set(totals)


def _asks_for_few(program: Program, tool: Tool, last: ToolCall, task: str) -> bool:
    """Return True if the program asks for a number of rows, gets so many, and needs no more.

    The task names this number, or the rows have a stated order and are not counted.
    """
    rows = find_rows(tool.unwrap(last.result))
    sizes = [alias for alias, role in page_roles(tool).items() if role == "size"]
    asked = next((last.arguments[alias] for alias in sizes if alias in last.arguments), None)
    if rows is None or not is_number(asked) or len(rows.rows) != asked:
        return False
    if asked == 1 or re.search(rf"(?<![\w.]){asked}(?![\w.])", task):
        return True
    if asked in numbers_in_words(task):
        return True
    has_order = _ORDER.search(f"{tool.protocol.title} {tool.protocol.description}") or any(
        _SORTS.search(alias) for alias in last.arguments
    )
    called = {called_tool(node) for node in ast.walk(program.tree)}
    return bool(has_order) and called.isdisjoint(_COUNTING)


def page_roles(tool: Tool) -> dict[str, PageRole]:
    """Return the role of each argument of a tool that pages, keyed by alias."""
    schemas = {alias: argument_schema(tool, alias) for alias in tool.arguments}
    return page_arguments(schemas, tool.protocol.input_schema)


def argument_schema(tool: Tool, alias: str) -> JsonObject:
    """Return the schema of the argument `alias` of a tool."""
    return resolve(tool.protocol.parameters[tool.arguments[alias]], tool.protocol.input_schema)


def is_number(value: Json) -> bool:
    """Return True if a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)
