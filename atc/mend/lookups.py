"""Which calls lead from what a program has to what it wants: from a name to an id, from a record to a field it lacks.

A flight of `list_departures` has a `flight_id` but no `status`; `get_flight_status(flight_id=…)["status"]` does. A
model that forgets such a lookup reads the field from the record at hand; schemas and links say where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from protocols.schema import resolve, types
from protocols.toolbox import Producers, Tool, Toolbox

_FURTHEST = 2
"""Lookups in a row; a longer way is more likely chance than meaning."""
_NAME = re.compile(r"[^\W\d_]{3}")
"""What a person calls a thing has letters in a row; a date or a number is no name to search by."""


def search_for(text: str, tool: Tool, argument: str, tools: Toolbox) -> str | None:
    """`search_airlines(query="Hawaiian Airlines")[0]["code"]`, the value of an argument (an alias) that `text` names.

    Only where a link says which tool yields the argument's values, in a list with the best match first, and that tool
    searches by words: one required argument, a free text that no other tool yields.
    """
    if not _NAME.search(text):
        return None
    producers = Producers(tools)
    for producer in producers.of(tool, tool.arguments.get(argument, argument)):
        words = _words_argument(tools[producer.tool], producers)
        if words is not None and "[" in producer.path and not tools[producer.tool].protocol.writes:
            return producers.expression(producer, arguments=f"{words}={text!r}")
    return None


def _words_argument(tool: Tool, producers: Producers) -> str | None:
    """The alias of the one argument by which a tool searches freely, if that is how it works."""
    if len(required := _required(tool)) != 1:
        return None
    name = tool.arguments[required[0]]
    schema = resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
    free = types(schema) == ("string",) and not {"enum", "const", "pattern", "format"} & schema.keys()
    return required[0] if free and not producers.of(tool, name) else None


class _Route(NamedTuple):
    """A record that calls lead to: the expression that gives it, its keys, and how many arguments the way took."""

    expression: str
    keys: frozenset[str]
    arguments: int


def lookup(field: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """The expression that reads `field` for a record with `keys`, with `{}` where the record goes, or None.

    The shortest way wins, then the one that takes the fewest arguments; where two are left, neither does. Only tools
    that read take part. A key fills an argument of its name, or one whose links end in it (`destination` an `airport`).
    """
    producers = Producers(tools)
    routes = [_Route("{}", frozenset(keys), 0)]
    for _ in range(_FURTHEST):
        routes = [longer for route in routes for longer in _further(route, tools, producers)]
        if found := [route for route in routes if field in route.keys]:
            least = min(route.arguments for route in found)
            fewest = [route for route in found if route.arguments == least]
            return f'{fewest[0].expression}["{field}"]' if len(fewest) == 1 else None
    return None


def argument_lookup(argument: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """As `lookup`, for the value of an argument: the key or the field of its name."""
    known = frozenset(keys)
    return f'{{}}["{argument}"]' if argument in known else lookup(argument, known, tools)


def _further(route: _Route, tools: Toolbox, producers: Producers) -> Iterator[_Route]:
    """One lookup further: each reading tool whose required arguments the record's keys fill."""
    for tool in tools.values():
        required, fields = _required(tool), _fields(tool)
        if tool.protocol.writes or not required or not fields:
            continue
        for keys in product(*(_fitting_keys(tool, alias, route.keys, producers) for alias in required)):
            given = zip(required, keys, strict=True)
            arguments = ", ".join(f'{alias}={route.expression}["{key}"]' for alias, key in given)
            yield _Route(f"{tool.alias}({arguments})", fields, route.arguments + len(required))


def _fitting_keys(tool: Tool, alias: str, keys: frozenset[str], producers: Producers) -> list[str]:
    """The key of an argument's own name, else those that a link of the argument ends in."""
    if alias in keys:
        return [alias]
    return sorted({_end(producer.path) for producer in producers.of(tool, tool.arguments[alias])} & keys)


def _required(tool: Tool) -> list[str]:
    return [alias for alias in tool.arguments if alias in tool.required]


def _fields(tool: Tool) -> frozenset[str]:
    """The fields of a tool's answer as programs get it, where that is one object and its protocol was declared."""
    root = tool.protocol.output_schema
    if root is None or tool.protocol.evidence.level == "guessed":
        return frozenset()
    top: Mapping[str, Any] = resolve(root, root)
    if tool.wrapper is not None:
        top = resolve(top["properties"][tool.wrapper], root)
    return frozenset(top.get("properties", {}) if types(top) == ("object",) else ())


def _end(path: str) -> str:
    """The key that a path ends in."""
    return path.rpartition(".")[2].removesuffix("[]")
