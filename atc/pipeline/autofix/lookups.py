"""Chains of lookup calls: from a name to an id, or from a record to a field that it does not have.

A flight of `list_departures` has a `flight_id` but no `status`;
`get_flight_status(flight_id=…)["status"]` returns it. A model that forgets such a lookup reads the
field from the record that it has, or prints the id. The response schemas and the links between
tools show which call is missing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from atc.core.answer_print import print_name
from atc.core.answers import parse_answer
from atc.core.program import Program
from atc.core.source_edits import SourceOffsets, apply_edits
from atc.pipeline.attribute import find_origins
from protocols.naming import VAGUE, singular
from protocols.schema import resolve, types, unwrap_schema
from protocols.tool import Tool
from protocols.toolbox import Toolbox, format_subscript
from sandbox.trace import Trace

_FURTHEST = 2
"""Maximum number of lookups in a row. A longer chain is more likely a coincidence."""
_NAME = re.compile(r"[^\W\d_]{3}")
"""Pattern of text that can be searched for: a name has three letters in a row, unlike a date."""
_MOST_VALUES = 20
"""Maximum number of values in an answer; if there are more, none is looked up."""


def search_for(text: str, tool: Tool, argument: str, tools: Toolbox) -> str | None:
    """Return an expression that searches for the id of what `text` names, or None.

    An example is `search_airlines(query="Hawaiian Airlines")[0]["code"]`. `argument` is the
    argument of `tool` that needs the id. The links of `tool` must say that the search tool returns
    values for this argument. These must be in a list, whose first item is taken. The search tool
    must have exactly one required argument, which takes free text that no other tool returns.
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
    """A chain of lookup calls, as Python source, and the keys of the record that it returns."""

    expression: str
    keys: frozenset[str]


def lookup(field: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """Return an expression that looks up the field `field` of a record with `keys`, or None.

    The expression has `{}` in place of the record. The shortest chain of lookups is used; if two
    are equally short, the result is None. Only tools that do not write are called. The record's
    value under a key is passed as the argument of the same name, or as an argument which, according
    to the links between tools, takes values with this key (`destination` as an `airport`).
    """
    routes = [_Route("{}", frozenset(keys))]
    for calls in range(_FURTHEST + 1):
        if calls:
            routes = [longer for route in routes for longer in _extend_route(route, tools)]
        if found := [route for route in routes if field in route.keys]:
            return f"{found[0].expression}{format_subscript(field)}" if len(found) == 1 else None
    return None


def _extend_route(route: _Route, tools: Toolbox) -> Iterator[_Route]:
    """Yield the chains of lookup calls that consist of `route` and one more call.

    There is one for each reading tool whose required arguments can be taken from the record that
    `route` returns.
    """
    for tool in tools.values():
        required = _required(tool)
        fields = _fields(tool)
        if tool.protocol.writes or not required or not fields:
            continue
        fitting = [_find_fitting_keys(tool, alias, route, tools) for alias in required]
        for keys in product(*fitting):
            given = zip(required, keys, strict=True)
            arguments = ", ".join(
                f"{alias}={route.expression}{format_subscript(key)}" for alias, key in given
            )
            yield _Route(f"{tool.alias}({arguments})", frozenset(fields))


def _find_fitting_keys(tool: Tool, alias: str, route: _Route, tools: Toolbox) -> list[str]:
    """Return the keys of a record whose values may be passed as the argument `alias` of a tool.

    `route` is the chain of lookups that returns the record. If the record has a key with the name
    of the argument, such as `flight_id`, this is the only one. Otherwise, and for a name such as
    `id`, these are the keys whose values the argument takes according to the links between tools
    that are declared or were observed.
    """
    if alias in route.keys and alias not in VAGUE:
        return [alias]
    producers = tools.producers(tool, tool.arguments[alias])
    linked = {_end(producer.path) for producer in producers if producer.support != "guessed"}
    return sorted(linked & route.keys)


def _required(tool: Tool) -> list[str]:
    return [alias for alias in tool.arguments if alias in tool.required]


def _fields(tool: Tool) -> Mapping[str, bool]:
    """Return the names of the fields of a tool's result, mapped to True if the value is a scalar.

    Empty if the result is not a single object, or if its schema is missing or guessed.
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
    """Rewrite a program that prints an id, so that it prints what the task asks for.

    For example, it then prints the airport's name instead of its code. Two facts must justify the
    change: a link shows that a lookup tool takes the printed value, and the task names a field of
    that tool's result but not the printed field. Otherwise return None.
    """
    values, several = _values(answer)
    if not values:
        return None
    words = {singular(word) for word in re.findall(r"[a-z]+", task.casefold())}
    common = set.intersection(*(_lookups(value, trace, tools, words) for value in values))
    prints: list[ast.expr] = []
    printer = print_name(program)
    for node in ast.walk(program.tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value]) if name == printer:
                prints += [value] if not isinstance(value, ast.Starred | ast.JoinedStr) else []
    if len(common) != 1 or len(prints) != 1:
        return None
    alias, argument, field = common.pop()
    printed = ast.unparse(prints[0])
    found = f"{alias}({argument}={'item' if several else printed}){format_subscript(field)}"
    new = f"[{found} for item in {printed}]" if several else found
    return apply_edits(program, [SourceOffsets(program.source).replacement(prints[0], new)])


def _values(answer: str) -> tuple[list[str], bool]:
    """Return the strings that a program printed as its answer, and True if it printed a list.

    If no list was printed, each line is one string. If an item of the list is not a string, or if
    there are too many strings, the returned list is empty.
    """
    parsed = parse_answer(answer.strip())
    several = isinstance(parsed, list | tuple)
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    found = list(parsed) if isinstance(parsed, list | tuple) else lines
    texts = [value for value in found if isinstance(value, str)]
    if len(found) > _MOST_VALUES or len(texts) < len(found):
        return [], several
    return sorted(set(texts)), several


def _lookups(
    value: str, trace: Trace, tools: Toolbox, words: set[str]
) -> set[tuple[str, str, str]]:
    """Return the ways to look up the printed id `value`, each as (tool, argument, field).

    The tool takes the id as this argument and returns this field, which the task names.
    """
    found: set[tuple[str, str, str]] = set()
    for origin in find_origins(value, trace.calls):
        path = re.sub(r"\[\d+\]", "[]", origin.path)
        printed = _end(path)
        name = tools[origin.tool].protocol.name if origin.tool in tools else origin.tool
        for tool in tools.values():
            argument = _find_linked_argument(tool, name, path)
            if argument is None:
                continue
            # "Which airlines" asks for names, and `airline` holds their ids; "which tail numbers"
            # asks for the ids.
            if _is_named_in_task(printed, words) and (
                singular(printed) != argument or "_" in printed
            ):
                return set()
            for field, is_plain in _fields(tool).items():
                if is_plain and _is_named_in_task(field, words):
                    found.add((tool.alias, argument, field))
    return found


def _find_linked_argument(tool: Tool, source: str, path: str) -> str | None:
    """Return the only required argument of `tool` if a link says where its values come from.

    The link must say that the argument takes the values at `path` in results of the tool `source`.
    Return None if there is no such link, if several arguments are required, or if `tool` writes.
    """
    required = _required(tool)
    if tool.protocol.writes or len(required) != 1:
        return None
    given = (tool.arguments[required[0]], source, path)
    for link in tool.protocol.links:
        if link.support != "guessed" and (link.argument, link.tool, link.path) == given:
            return required[0]
    return None


def _end(path: str) -> str:
    """Return the last key of a path: `id` for `rows[].id`, `ids` for `user.ids[]`."""
    return path.rpartition(".")[2].removesuffix("[]")


def _is_named_in_task(field: str, words: set[str]) -> bool:
    """Return True if the task contains every word of a field's name."""
    parts = [singular(part) for part in field.casefold().split("_") if part]
    return bool(parts) and all(part in words for part in parts)
