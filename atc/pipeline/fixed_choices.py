"""Detection of programs that read one hour, day or month, and take it for all of them.

A tool may have a required argument that selects a part of a period, such as `hour` from 0 to 23. A
program that calls it with one constant, although the task gives no hour, has read one part only.
The same holds for one date of a month of which the task speaks as a whole.
"""

from __future__ import annotations

import ast
import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from atc.core.program import Program
from protocols.naming import snake
from protocols.schema import Json, resolve
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_PERIODS = frozenset({"hour", "day", "weekday", "week", "month", "quarter"})
"""Last words of names of arguments that select a part of a period."""
_LONGEST_PERIOD = 53
"""Maximum number of values of such an argument."""
_PART = re.compile(
    r"\b(?:noon|midday|midnight|morning|afternoon|evening|night|dawn|dusk|o'clock|hour in which"
    r"|[ap]\.?m\b|weekend|\d{1,2}:\d\d|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?"
    r"|saturdays?|sundays?|(?:first|second|third|fourth|last|final|this|current) "
    r"(?:hour|day|week|month|quarter))\b",
    re.IGNORECASE,
)
"""Words with which a task selects a part of a period without its number."""
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b", re.IGNORECASE
)


_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN_MONTH = re.compile(
    r"\b(?:in|of|during|throughout|all|for|over)\s+(?:the\s+)?(?:whole\s+|entire\s+)?"
    r"(?:month\s+of\s+)?((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)\b"
)
"""A month of which a task speaks as a whole, unless it names a day."""
_DAY_OF_MONTH = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.pattern}|{_MONTH.pattern}\s+\d{{1,2}}(?:st|nd|rd|th)?\b"
    r"|\d{4}-\d\d-\d\d|\b(?:start|beginning|end|middle)\s+of\b",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


class FixedChoice(NamedTuple):
    """A required argument that selects a part of a period, and its only value in a program."""

    tool: str
    argument: str
    value: Json
    least: Json
    greatest: Json


def find_fixed_choices(
    task: str, program: Program, calls: Sequence[ToolCall], tools: Toolbox
) -> list[FixedChoice]:
    """Return the arguments for which a program has one constant although the task gives none."""
    found = []
    for alias in dict.fromkeys(call.tool for call in calls):
        tool = tools.get(alias)
        if tool is None or tool.protocol.writes:
            continue
        for argument, least, greatest in _find_periods(tool):
            values = {repr(call.arguments.get(argument)) for call in calls if call.tool == alias}
            value = next(call for call in calls if call.tool == alias).arguments.get(argument)
            if len(values) > 1 or _is_given(task, argument, value):
                continue
            if _are_constants(program, alias, argument):
                found.append(FixedChoice(alias, argument, value, least, greatest))
        found += _find_fixed_dates(task, program, calls, tool)
    return found


def _find_fixed_dates(
    task: str, program: Program, calls: Sequence[ToolCall], tool: Tool
) -> Iterator[FixedChoice]:
    """Yield the date arguments that have one date of a month of which the task names no day."""
    if _PART.search(task) or _DAY_OF_MONTH.search(task):
        return
    months = {_MONTH_NAMES.index(found[1][:3].lower()) + 1 for found in _IN_MONTH.finditer(task)}
    for alias in tool.required:
        given = {str(call.arguments.get(alias)) for call in calls if call.tool == tool.alias}
        match = _ISO_DATE.fullmatch(next(iter(given))) if len(given) == 1 else None
        if match is None or int(match[2]) not in months:
            continue
        if _are_constants(program, tool.alias, alias):
            year, month = int(match[1]), int(match[2])
            last = calendar.monthrange(year, month)[1]
            bounds = (f"{match[1]}-{match[2]}-{day:02}" for day in (1, last))
            yield FixedChoice(tool.alias, alias, match[0], *bounds)


def _find_periods(tool: Tool) -> Iterator[tuple[str, Json, Json]]:
    """Yield the required arguments that select a part of a period, with first and last value."""
    root = tool.protocol.input_schema
    for alias, name in tool.arguments.items():
        last = snake(alias).split("_")[-1]
        if alias not in tool.required or last not in _PERIODS:
            continue
        schema = resolve(tool.protocol.parameters[name], root)
        bounds = _find_bounds(schema)
        if bounds is not None:
            yield (alias, *bounds)


def _find_bounds(schema: Mapping[str, Any]) -> tuple[Json, Json] | None:
    """Return the first and the last value of a small range or enum, or None."""
    listed = schema.get("enum")
    if isinstance(listed, list) and 1 < len(listed) <= _LONGEST_PERIOD:
        return listed[0], listed[-1]
    least = schema.get("minimum")
    greatest = schema.get("maximum")
    if not isinstance(least, int) or not isinstance(greatest, int):
        return None
    return (least, greatest) if 1 <= greatest - least < _LONGEST_PERIOD else None


def _is_given(task: str, argument: str, value: Json) -> bool:
    """Return True if the task may give the value of an argument that selects a part of a period."""
    is_month = snake(argument).split("_")[-1] in ("month", "quarter")
    if _PART.search(task) or (is_month and _MONTH.search(task)):
        return True
    written = re.escape(str(value).casefold())
    return re.search(rf"(?<![\w.:-])0*{written}(?![\w:-]|\.\d)", _without_dates(task)) is not None


_WITH_MONTH = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?={_MONTH.pattern})", re.IGNORECASE
)
_AFTER_MONTH = re.compile(rf"({_MONTH.pattern})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b", re.IGNORECASE)


def _without_dates(task: str) -> str:
    """Return the task in small letters without the days of its dates, such as 8 in "8 May"."""
    return _AFTER_MONTH.sub(r"\1", _WITH_MONTH.sub("", task)).casefold()


def _are_constants(program: Program, alias: str, argument: str) -> bool:
    """Return True if each call of a tool in the program has a constant for an argument.

    A variable that the program assigns a constant counts as one, and so does one that goes through
    a list of a single constant.
    """
    nodes = list(ast.walk(program.tree))
    constants = {name for node in nodes for name in _names_of_constants(node)}
    changed = {name for node in nodes for name in _names_of_others(node)}
    values = [
        keyword.value
        for node in nodes
        if isinstance(node, ast.Call) and alias in (_name(node.func), *map(_name, node.args))
        for keyword in node.keywords
        if keyword.arg == argument
    ]
    return bool(values) and all(
        isinstance(value, ast.Constant) or _name(value) in constants - changed for value in values
    )


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _names_of_constants(node: ast.AST) -> Iterator[str]:
    """Yield the variables to which a statement gives one constant."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            yield name
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.List(elts=[ast.Constant()]) | ast.Tuple(elts=[ast.Constant()]),
        ):
            yield name


def _names_of_others(node: ast.AST) -> Iterator[str]:
    """Yield the variables and parameters that get another value than one constant."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.stmt | ast.comprehension | ast.NamedExpr):
        if any(True for _ in _names_of_constants(node)):
            return
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets:
            for part in ast.walk(target) if isinstance(target, ast.AST) else ():
                if isinstance(part, ast.Name):
                    yield part.id
