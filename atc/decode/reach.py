"""What calls that are made one by one may refer to: an id takes what the task gives, or what a result held.

Scope-aware decoding for turns, as `program/` has it for whole programs. A model that knows names alone calls
`get_credits(movie_id=1234)` with an id that it made up; here it is told to search first, and then held to what it
found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.decode.bounds import BOUNDS
from atc.decode.program.arguments import Made, Reading
from atc.decode.program.given import Given, of_ids
from protocols.id_names import argument_key, field_key
from protocols.jsontypes import Json
from protocols.producers import Producers
from protocols.schema import types, validator
from protocols.toolbox import Tool, Toolbox
from protocols.vocabulary import VAGUE
from protocols.words import snake

_MOST_VALUES = 300
"""Of one argument; where more are known, it takes any value."""
_MOST_NAMED = 3
"""Tools that are named as those which yield an id."""
_MOST_PLACES = 5_000
"""Of one result."""

Result = tuple[str, Json]
"""A tool, by alias, and what a call of it gave, as a program gets it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The texts and whole numbers that results of a tool held at one path (`results[].id`)."""

    tool: Tool
    path: str
    values: list[str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What calls may refer to at one point.

    `tools` are held to the ids that are known. `waiting` are those of which an id is required and none is known: by
    alias, its arguments with the tools that yield them. They stand in `tools` as they are: a model that has begun to
    name one would have to end with another name.
    """

    tools: Toolbox
    waiting: Mapping[str, Mapping[str, Sequence[str]]]

    def problem(self, tool: str) -> str:
        """Why a call of this tool has to wait, and for what; empty where it has not."""
        if (unknown := self.waiting.get(tool)) is None:
            return ""
        told = [
            f"no {argument} is known yet: {' or '.join(tools[:_MOST_NAMED])} gives it"
            for argument, tools in unknown.items()
        ]
        return f"{tool} was not called, {'; '.join(told)}. Call that first, and never make up an id."

    def reminder(self, tool: str) -> str:
        """That a tool which had to wait can be called now; empty where it still cannot, or for no tool."""
        return "" if not tool or tool in self.waiting else f"\n{tool} can be called now, with the id that was found."


class Reach:
    """The tools of a task, and what their ids may be. Where no task is known, nothing is narrowed."""

    def __init__(self, tools: Toolbox, task: str) -> None:
        self._tools, self._given = tools, Given(task)
        self._producers = Producers(tools)
        reading = Reading(tools, self._given, BOUNDS)
        self._made = {tool.alias: list(reading.made(tool)) for tool in tools.values()} if task else {}

    def after(self, results: Sequence[Result]) -> Scope:
        """What may be called after these results."""
        tools = self._tools
        places = [place for alias, value in results if alias in tools for place in _places(tools[alias], value)]
        known: dict[str, dict[str, list[Any] | None]] = {}
        unknown: dict[str, dict[str, Sequence[str]]] = {}
        for alias, arguments in self._made.items():
            tool = tools[alias]
            known[alias] = {made.name: self._values(tool, made, places) for made in arguments}
            missing = [m for m in arguments if known[alias][m.name] == [] and m.name in tool.protocol.required]
            unknown[alias] = {made.alias: self._yielding(tool, made) for made in missing}
        waiting = {alias: unknown[alias] for alias in _found_later(unknown)}

        def offered(tool: Tool) -> Tool:
            free = tool.alias in waiting or unknown.get(tool.alias)  # of the latter nothing here yields an id, ever
            return tool if free else _narrowed(tool, known.get(tool.alias, {}))

        return Scope(tools=tools.map(offered), waiting=waiting)

    def _yielding(self, tool: Tool, made: Made) -> Sequence[str]:
        """The tools that yield an argument; those that look something up by words go first."""
        found = [self._tools[producer.tool] for producer in self._producers.of(tool, made.name)]
        return [one.alias for one in sorted(found, key=lambda one: not self._looks_up(one))]

    def _looks_up(self, tool: Tool) -> bool:
        made = {one.name for one in self._made.get(tool.alias, ())}
        return any(types(tool.protocol.parameters[name]) == ("string",) for name in tool.protocol.required - made)

    def _values(self, tool: Tool, made: Made, places: Iterable[_Place]) -> list[Any] | None:
        """What an argument may be; None for anything."""
        schema, root = made.schema, tool.protocol.input_schema
        takes = _Takes(tool, made)
        definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
        try:
            conforms = validator({**definitions, **schema}).is_valid
        except ValueError:
            return None
        seen = (value for place in places if takes(place) for value in place.values)
        found = [*dict.fromkeys(value for value in seen if conforms(value))]
        values = [*found, *(value for value in self._given.values(made.alias, schema, root) if value not in found)]
        return values if len(values) <= _MOST_VALUES else None


class _Takes:
    """Whether a place in a result may hold what an argument takes.

    By a link; by what the field is called (`movies[].id` for `movie_id`), also where the things listed are those that
    the tool is named for (`results[].id` of `GET /movie/popular`); or by a pattern that only such ids have.
    """

    def __init__(self, tool: Tool, made: Made) -> None:
        protocol = tool.protocol
        self._links = {(tool.source, link.tool, link.path) for link in protocol.links if link.argument == made.name}
        key = argument_key(protocol, made.name)
        self._keys = {key, snake(made.name)} - {None}
        self._noun, _, field = (key or "").rpartition("_")
        self._vague = field if field in VAGUE else ""
        pattern = made.schema.get("pattern")
        self._pattern = pattern if isinstance(pattern, str) and of_ids(pattern) else None

    def __call__(self, place: _Place) -> bool:
        protocol = place.tool.protocol
        if (place.tool.source, protocol.name, place.path) in self._links or self._pattern is not None:
            return True
        if field_key(protocol, place.path) in self._keys:
            return True
        steps = place.path.split(".")
        listed = len(steps) <= 2 and steps[0].endswith("[]") and snake(steps[-1]) == self._vague
        return bool(self._noun) and listed and self._noun in snake(protocol.name).split("_")


def _places(tool: Tool, value: Json) -> list[_Place]:
    """The texts and whole numbers in a result, by the paths that links name."""
    found: dict[str, _Place] = {}
    waiting: list[tuple[str, Json]] = [(tool.wrapper or "", value)]
    for _ in range(_MOST_PLACES):
        if not waiting:
            break
        path, here = waiting.pop()
        match here:
            case Mapping():
                waiting += [(f"{path}.{key}" if path else key, inner) for key, inner in reversed([*here.items()])]
            case list() | tuple():
                waiting += [(f"{path}[]", inner) for inner in reversed(here)]
            case str() | int() if not isinstance(here, bool):
                found.setdefault(path, _Place(tool, path, [])).values.append(here)
    return list(found.values())


def _found_later(unknown: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """The tools that lack ids which others yield, where those can be called, now or once their own ids are known."""
    reached = {alias for alias, arguments in unknown.items() if not arguments}
    later: list[str] = []
    while more := [
        alias
        for alias, arguments in unknown.items()
        if alias not in reached and all(reached.intersection(tools) for tools in arguments.values())
    ]:
        later += more
        reached.update(more)
    return later


def _narrowed(tool: Tool, known: Mapping[str, list[Any] | None]) -> Tool:
    """The tool with its ids held to the known ones; without optional ones of which none is known."""
    properties: dict[str, Any] = {}
    for name, schema in tool.protocol.parameters.items():
        values = known.get(name)
        if values is None:
            properties[name] = schema
        elif values and isinstance(schema, Mapping):
            properties[name] = {**schema, "items": {"enum": values}} if "items" in schema else {"enum": values}
    if not known:
        return tool
    schema = {**tool.protocol.input_schema, "properties": properties}
    return replace(tool, protocol=replace(tool.protocol, input_schema=schema))
