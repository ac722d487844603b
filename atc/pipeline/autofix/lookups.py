"""Which calls lead from what a program has to what it wants: from a name to an id, from a record to a field it lacks.

A flight of `list_departures` has a `flight_id` but no `status`; `get_flight_status(flight_id=…)["status"]` does. A
model that forgets such a lookup reads the field from the record at hand, or prints the id; schemas and links say where
it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from atc.core.source_edits import SourceOffsets, apply_edits
from atc.core.types import Program, parse_answer
from atc.pipeline.attribute import find_origins
from protocols.naming import singular
from protocols.python_source import parse_python
from protocols.schema import resolve, types, unwrap_schema
from protocols.toolbox import Tool, Toolbox, format_subscript
from sandbox.trace import Trace

_FURTHEST = 2
"""Lookups in a row; a longer way is more likely chance than meaning."""
_NAME = re.compile(r"[^\W\d_]{3}")
"""What a person calls a thing has letters in a row; a date or a number is no name to search by."""
_MOST_VALUES = 20
"""Of an answer that are looked up."""


def search_for(text: str, tool: Tool, argument: str, tools: Toolbox) -> str | None:
    """`search_airlines(query="Hawaiian Airlines")[0]["code"]`, the value of an argument (an alias) that `text` names.

    Only where a link says which tool yields the argument's values, in a list with the best match first, and that tool
    searches by words: one required argument, a free text that no other tool yields.
    """
    for producer in (
        tools.producers(tool, tool.arguments.get(argument, argument)) if _NAME.search(text) else ()
    ):
        search = producer.tool
        required = _required(producer.tool)
        if search.protocol.writes or "[" not in producer.path or len(required) != 1:
            continue
        name = search.arguments[required[0]]
        schema = resolve(search.protocol.parameters[name], search.protocol.input_schema)
        free = (
            types(schema) == ("string",)
            and not {"enum", "const", "pattern", "format"} & schema.keys()
        )
        if free and not tools.producers(search, name):
            return producer.expression(arguments=f"{required[0]}={text!r}")
    return None


class _Route(NamedTuple):
    """A record that calls lead to: the expression that gives it, and its keys."""

    expression: str
    keys: frozenset[str]


def lookup(field: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """The expression that reads `field` for a record with `keys`, with `{}` where the record goes, or None.

    The shortest way wins; of two, neither does. Only tools that read take part. A key fills an argument of its name, or
    one whose links end in it (`destination` an `airport`).
    """
    routes = [_Route("{}", frozenset(keys))]
    for calls in range(_FURTHEST + 1):
        if calls:
            routes = [longer for route in routes for longer in _extend_route(route, tools)]
        if found := [route for route in routes if field in route.keys]:
            return f"{found[0].expression}{format_subscript(field)}" if len(found) == 1 else None
    return None


def _extend_route(route: _Route, tools: Toolbox) -> Iterator[_Route]:
    """One lookup further: each reading tool whose required arguments the record's keys fill."""
    for tool in tools.values():
        required = _required(tool)
        fields = _fields(tool)
        if tool.protocol.writes or not required or not fields:
            continue
        linked = {
            alias: {_end(one.path) for one in tools.producers(tool, tool.arguments[alias])}
            for alias in required
        }
        fitting = (
            [alias] if alias in route.keys else sorted(linked[alias] & route.keys)
            for alias in required
        )
        for keys in product(*fitting):
            given = zip(required, keys, strict=True)
            arguments = ", ".join(
                f"{alias}={route.expression}{format_subscript(key)}" for alias, key in given
            )
            yield _Route(f"{tool.alias}({arguments})", frozenset(fields))


def _required(tool: Tool) -> list[str]:
    return [alias for alias in tool.arguments if alias in tool.required]


def _fields(tool: Tool) -> Mapping[str, bool]:
    """The fields of a tool's answer as programs get it, where that is one object and its protocol was declared.

    By name, and whether it holds neither a list nor an object.
    """
    root = tool.protocol.output_schema
    if root is None or tool.protocol.evidence.level == "guessed":
        return {}
    top = unwrap_schema(root)
    fields = top.get("properties", {}) if types(top) == ("object",) else {}
    return {
        name: not {"array", "object"} & set(types(resolve(schema, root)))
        for name, schema in fields.items()
    }


def look_up_answer(
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox
) -> Program | None:
    """The program with its one `print` looking up what the task asks for: the airport's name instead of its code.

    The facts say so: the printed value stands in a response at a place whose values a lookup tool takes (a link), and
    the task names a field of that tool's answer, but not the field that was printed. None where nothing says so.
    """
    values, several = _values(answer)
    if not values:
        return None
    words = {singular(word) for word in re.findall(r"[a-z]+", task.casefold())}
    common = set.intersection(*(_lookups(value, trace, tools, words) for value in values))
    prints: list[ast.expr] = []
    for node in ast.walk(parse_python(program.source)):
        match node:
            case ast.Call(func=ast.Name(id=program.printing), args=[value]):
                prints += [value] if not isinstance(value, ast.Starred | ast.JoinedStr) else []
    if len(common) != 1 or len(prints) != 1:
        return None
    alias, argument, field = common.pop()
    printed = ast.unparse(prints[0])
    found = f"{alias}({argument}={'item' if several else printed}){format_subscript(field)}"
    new = f"[{found} for item in {printed}]" if several else found
    return apply_edits(program, [SourceOffsets(program.source).replacement(prints[0], new)])


def _values(answer: str) -> tuple[list[str], bool]:
    """The texts in an answer, and whether they were printed as one list. A value a line is printed one by one."""
    said = parse_answer(answer.strip())
    several = isinstance(said, list | tuple)
    found = said if several else [line.strip() for line in answer.splitlines() if line.strip()]
    if len(found) > _MOST_VALUES or not all(isinstance(value, str) for value in found):
        return [], several
    return sorted(set(found)), several


def _lookups(
    value: str, trace: Trace, tools: Toolbox, words: set[str]
) -> set[tuple[str, str, str]]:
    """The (tool, argument, field) by which this value, an id, leads to a field that the task names."""
    found: set[tuple[str, str, str]] = set()
    for origin in find_origins(value, trace.calls):
        path = re.sub(r"\[\d+\]", "[]", origin.path)
        printed = _end(path)
        name = tools[origin.tool].protocol.name if origin.tool in tools else origin.tool
        for tool in tools.values():
            required = _required(tool)
            if tool.protocol.writes or len(required) != 1:
                continue
            given = (tool.arguments[required[0]], name, path)
            known = {
                (link.argument, link.tool, link.path)
                for link in tool.protocol.links
                if link.support != "guessed"
            }
            if given not in known:
                continue
            # "Which airlines" names the things, whose id stands under `airline`; "which tail numbers" names the ids.
            if _is_named_in_task(printed, words) and (
                singular(printed) != required[0] or "_" in printed
            ):
                return set()
            plain = [
                field
                for field, is_plain in _fields(tool).items()
                if is_plain and _is_named_in_task(field, words)
            ]
            found |= {(tool.alias, required[0], field) for field in plain}
    return found


def _end(path: str) -> str:
    """The key that a path ends in."""
    return path.rpartition(".")[2].removesuffix("[]")


def _is_named_in_task(field: str, words: set[str]) -> bool:
    """Whether the task holds every word of a field's name."""
    parts = [singular(part) for part in field.casefold().split("_") if part]
    return bool(parts) and all(part in words for part in parts)
