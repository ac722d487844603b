"""What calls that are made one by one may refer to: an id takes what the task gives, or what a result held.

Scope-aware decoding for turns, as `program/` has it for whole programs. A model that knows names alone calls
`get_credits(movie_id=1234)` with an id that it made up; where ids are held to those in reach, it must search first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.decode.bounds import BOUNDS
from atc.decode.program.arguments import Made, Reading
from atc.decode.program.given import Given, of_ids
from protocols.jsontypes import Json
from protocols.links import argument_key, field_key, snake
from protocols.producers import Producers
from protocols.schema import validator
from protocols.toolbox import Tool, Toolbox
from protocols.vocabulary import VAGUE

_MOST_VALUES = 300
"""Of one argument; where more are known, it takes any value."""
_MOST_PLACES = 5_000
"""Of one result."""

Result = tuple[str, Json]
"""A tool, by alias, and what a call of it gave, as a program gets it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A text or number in a result: of which tool, at which path (`results[].id`)."""

    tool: Tool
    path: str
    value: str | int


class Reach:
    """The tools of a task as its calls are held to them. Where no task is known, nothing is narrowed."""

    def __init__(self, tools: Toolbox, task: str) -> None:
        self._tools, self._given = tools, Given(task)
        self._producers = Producers(tools)
        reading = Reading(tools, self._given, BOUNDS)
        self._made = {tool.alias: list(reading.made(tool)) for tool in tools.values()} if task else {}

    def after(self, results: Sequence[Result]) -> Toolbox:
        """The tools that can be called after these results, with what their ids may be.

        A tool that requires an id of which none is known is left out, if the others may lead to one.
        """
        tools = self._tools
        places = [place for alias, value in results if alias in tools for place in _places(tools[alias], value)]
        known: dict[str, dict[str, list[Any] | None]] = {alias: {} for alias in tools}
        for alias, arguments in self._made.items():
            known[alias] = {made.name: self._values(tools[alias], made, places) for made in arguments}
        waiting = {alias: _unknown(tools[alias], values) for alias, values in known.items()}
        later = self._found_later(waiting)
        offered = tools.only(alias for alias in tools if alias not in later)
        return offered.map(lambda tool: tool if waiting[tool.alias] else _narrowed(tool, known[tool.alias]))

    def _found_later(self, waiting: Mapping[str, Sequence[str]]) -> Collection[str]:
        """The tools whose ids others yield, which can be called now or later themselves."""
        reached = {alias for alias, names in waiting.items() if not names}
        found: set[str] = set()
        grown = True
        while grown:
            more = {
                alias
                for alias, names in waiting.items()
                if alias not in reached
                and all(any(p.tool in reached for p in self._producers.of(self._tools[alias], name)) for name in names)
            }
            grown, found = bool(more), found | more
            reached |= more
        return found

    def _values(self, tool: Tool, made: Made, places: Iterable[_Place]) -> list[Any] | None:
        """What an argument may be; None for anything."""
        schema, root = made.schema, tool.protocol.input_schema
        takes = _Takes(tool, made)
        definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
        try:
            conforms = validator({**definitions, **schema}).is_valid
        except ValueError:
            return None
        seen = (place.value for place in places if takes(place))
        found = [*dict.fromkeys(value for value in seen if conforms(value))]
        values = [*found, *(value for value in self._given.values(made.alias, schema, root) if value not in found)]
        return values if len(values) <= _MOST_VALUES else None


def _unknown(tool: Tool, known: Mapping[str, list[Any] | None]) -> list[str]:
    """The required arguments of which no value is known."""
    return [name for name, values in known.items() if values == [] and name in tool.protocol.required]


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
    found: list[_Place] = []
    waiting: list[tuple[str, Json]] = [(tool.wrapper or "", value)]
    while waiting and len(found) < _MOST_PLACES:
        path, here = waiting.pop()
        match here:
            case Mapping():
                waiting += [(f"{path}.{key}" if path else key, inner) for key, inner in reversed([*here.items()])]
            case list() | tuple():
                waiting += [(f"{path}[]", inner) for inner in reversed(here)]
            case str() | int() if not isinstance(here, bool):
                found.append(_Place(tool, path, here))
    return found


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
