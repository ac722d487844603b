"""Joins records through tools: which call turns the keys that a record has into a field that it lacks.

A flight of `list_departures` has a `flight_id` but no `status`; `get_flight_status(flight_id=…)["status"]` does. A
model that forgets such a lookup reads the field from the record at hand; the schemas and links say where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from protocols.producers import Producers
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

_FURTHEST = 2
"""Lookups in a row; a longer way is more likely chance than meaning."""


def lookup(field: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """The expression that reads `field` for a record with `keys`, with `{}` where the record goes, or None.

    The shortest way wins, then the one that takes the fewest arguments; where two are left, neither does. Only tools
    that read take part. A key fills an argument of its name, or one whose links end in it (`destination` an `airport`).
    """
    producers = Producers(tools)
    routes = [_Route("{}", frozenset(keys), 0)]
    for _ in range(_FURTHEST):
        routes = [longer for route in routes for longer in _steps(route, tools, producers)]
        found = [route for route in routes if field in route.keys]
        fewest = [route for route in found if route.arguments == min(r.arguments for r in found)]
        if found:
            return f'{fewest[0].expression}["{field}"]' if len(fewest) == 1 else None
    return None


def argument_lookup(argument: str, keys: Iterable[str], tools: Toolbox) -> str | None:
    """As `lookup`, for the value of an argument: the key or the field of its name."""
    known = frozenset(keys)
    return f'{{}}["{argument}"]' if argument in known else lookup(argument, known, tools)


@dataclass(frozen=True, slots=True)
class _Route:
    """A record that calls lead to: the expression that gives it, its keys, and how many arguments the way took."""

    expression: str
    keys: frozenset[str]
    arguments: int


def _steps(route: _Route, tools: Toolbox, producers: Producers) -> Iterator[_Route]:
    """One lookup further: each reading tool whose required arguments the record's keys fill."""
    for tool in tools.values():
        required = [alias for alias in tool.arguments if alias in tool.required]
        fields = fields_of(tool)
        if tool.protocol.writes or not required or not fields:
            continue
        choices = [_fitting_keys(tool, alias, route.keys, producers) for alias in required]
        for chosen in product(*choices):
            arguments = ", ".join(
                f'{alias}={route.expression}["{key}"]' for alias, key in zip(required, chosen, strict=True)
            )
            yield _Route(f"{tool.alias}({arguments})", fields, route.arguments + len(required))


def _fitting_keys(tool: Tool, alias: str, keys: frozenset[str], producers: Producers) -> list[str]:
    """The key of an argument's own name, else those that a link of the argument ends in."""
    if alias in keys:
        return [alias]
    ends = {p.path.rpartition(".")[2].removesuffix("[]") for p in producers.of(tool, tool.arguments[alias])}
    return sorted(ends & keys)


def fields_of(tool: Tool, *, plain: bool = False) -> frozenset[str]:
    """The fields of a tool's answer as programs get it, where that is one object and its protocol was declared.

    `plain`: only those that hold neither a list nor an object.
    """
    root = tool.protocol.output_schema
    if root is None or tool.protocol.evidence.level == "guessed":
        return frozenset()
    top: Mapping[str, Any] = resolve(root, root)
    if tool.wrapper is not None:
        top = resolve(top["properties"][tool.wrapper], root)
    if types(top) != ("object",):
        return frozenset()
    fields: Mapping[str, Any] = top.get("properties", {})
    deep = {name for name, schema in fields.items() if {"array", "object"} & set(types(resolve(schema, root)))}
    return frozenset(fields.keys() - deep if plain else fields)
