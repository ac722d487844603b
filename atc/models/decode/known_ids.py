"""Restricts id arguments to ids that occur in the task or in the result of an earlier call.

A model that knows only the names of tools calls `get_credits(movie_id=1234)` with an invented id.
With this module, a prompt asks it to search first, and grammars restrict it to the ids that were
found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.core.value_kinds import is_common
from atc.models.decode.id_schemas import (
    SMALL,
    allows_known_code,
    has_id_pattern,
    is_free,
    is_text_of_date,
)
from protocols.links import argument_key, field_key
from protocols.naming import VAGUE, singular, snake
from protocols.schema import Json, resolve, types
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.validate import validator

_MOST_VALUES = 300
"""If more values than this are known for an argument, the argument is not restricted."""
_MOST_NAMED = 3
"""Maximum number of tools that a message names as those that return an id."""
_MOST_PLACES = 5_000
"""Maximum number of values inspected in one result."""
_ID_NAMES = re.compile(
    r"(^|_)(id|ids|key|code|number|no|num|ref|reference|uuid)$|[a-z]I[dD]s?$", re.IGNORECASE
)

Result = tuple[str, Json]
"""The alias of a tool, and the result of a call of it, as a program receives the result."""


@dataclass(frozen=True, slots=True)
class _ResultValues:
    """The strings and integers at one JSON path in the results of a tool (`results[].id`)."""

    tool: Tool
    path: str
    values: list[str | int]


@dataclass(frozen=True, slots=True)
class _Id:
    """An argument that contains an id, which a model can know only from results of other tools.

    `name` is the argument's name in the API. `schema` is the schema of one value, even if the
    argument is a list.
    """

    alias: str
    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdScope:
    """The ids that the next call may contain.

    `tools` are the tools with schemas that allow only known ids. `waiting` are the tools that
    cannot be called yet, because they require an id that no call has returned. It maps the alias of
    such a tool to its missing arguments, and each of these to the tools that return its values.

    `tools` includes the waiting tools, unchanged. If they were left out, a model that begins to
    write the name of a waiting tool would be forced by the grammar to call another tool instead.
    """

    tools: Toolbox
    waiting: Mapping[str, Mapping[str, Sequence[str]]]

    def problem(self, tool: str) -> str:
        """Return a sentence that says why this tool cannot be called yet, or "" if it can."""
        if (unknown := self.waiting.get(tool)) is None:
            return ""
        missing = [
            f"no {argument} is known yet: {' or '.join(tools[:_MOST_NAMED])} gives it"
            for argument, tools in unknown.items()
        ]
        return (
            f"{tool} was not called, {'; '.join(missing)}. Call that first, and never make up an"
            " id."
        )

    def reminder(self, tool: str) -> str:
        """Return a sentence that tells the model that `tool`, which lacked an id, can be called.

        Return "" if `tool` is empty or cannot be called yet.
        """
        return (
            ""
            if not tool or tool in self.waiting
            else f"\n{tool} can be called now, with the id that was found."
        )


class KnownIds:
    """The tools of a task, and which of their arguments may contain only known ids.

    If `task` is empty, no argument is restricted.
    """

    def __init__(self, tools: Toolbox, task: str) -> None:
        self._tools = tools
        self._task = _TaskWords(task)
        self._ids = (
            {tool.alias: list(self._ids_of(tool)) for tool in tools.values()} if task else {}
        )

    def after(self, results: Sequence[Result]) -> IdScope:
        """Return the ids that the next call may contain.

        `results` are the results of the calls that were made so far.
        """
        tools = self._tools
        fields = [
            field
            for alias, value in results
            if alias in tools
            for field in _collect_values(tools[alias], value)
        ]
        known: dict[str, dict[str, list[Any] | None]] = {}
        unknown: dict[str, dict[str, Sequence[str]]] = {}
        for alias, ids in self._ids.items():
            tool = tools[alias]
            known[alias] = {one.name: self._values(tool, one, fields) for one in ids}
            missing = [
                one
                for one in ids
                if known[alias][one.name] == [] and one.name in tool.protocol.required
            ]
            unknown[alias] = {one.alias: self._find_yielding_tools(tool, one) for one in missing}
        waiting = {alias: unknown[alias] for alias in _find_obtainable_later(unknown)}

        def narrow(tool: Tool) -> Tool:
            # A tool that lacks ids but does not wait is free: no tool here returns these ids.
            free = tool.alias in waiting or unknown.get(tool.alias)
            return tool if free else _narrow_tool(tool, known.get(tool.alias, {}))

        return IdScope(tools=tools.map(narrow), waiting=waiting)

    def _ids_of(self, tool: Tool) -> Iterator[_Id]:
        for alias, name in tool.arguments.items():
            root = tool.protocol.input_schema
            schema = resolve(tool.protocol.parameters[name], root)
            items = schema.get("items") if "array" in types(schema) else None
            one = resolve(items, root) if isinstance(items, Mapping) else schema
            made = bool(self._tools.producers(tool, name)) and not is_free(alias, schema)
            if not (made or has_id_pattern(schema)):
                continue
            if not (is_text_of_date(alias, one) or allows_known_code(one)):
                yield _Id(alias, name, one)

    def _find_yielding_tools(self, tool: Tool, one: _Id) -> Sequence[str]:
        """Return the aliases of the tools whose results contain values for an argument.

        Tools that require a text other than an id, such as a search text, come first.
        """
        found = [producer.tool for producer in self._tools.producers(tool, one.name)]
        return [tool.alias for tool in sorted(found, key=lambda tool: not self._looks_up(tool))]

    def _looks_up(self, tool: Tool) -> bool:
        ids = {one.name for one in self._ids.get(tool.alias, ())}
        return any(
            types(tool.protocol.parameters[name]) == ("string",)
            for name in tool.protocol.required - ids
        )

    def _values(self, tool: Tool, one: _Id, fields: Iterable[_ResultValues]) -> list[Any] | None:
        """Return the values that an id argument may have, or None if it is not restricted.

        They are the matching values in the task, and in the results of earlier calls (`fields`).
        """
        takes = _ArgumentMatcher(tool, one)
        root = tool.protocol.input_schema
        definitions = {
            key: root[key] for key in ("$defs", "definitions", "components") if key in root
        }
        try:
            conforms = validator({**definitions, **one.schema}).is_valid
        except ValueError:
            return None
        seen = (value for field in fields if takes(field) for value in field.values)
        given = self._task.values(one.alias, one.schema)
        values = [*dict.fromkeys(value for value in [*seen, *given] if conforms(value))]
        return values if len(values) <= _MOST_VALUES else None


class _ArgumentMatcher:
    """Tests whether the values of a field in a tool's results may be used for an id argument.

    One of three things must be true. A link connects the field with the argument. Or the field has
    the argument's name: `movies[].id` for the argument `movie_id`, or `results[].id` if the name of
    the field's tool contains the noun `movie`, as `GET /movie/popular` does. Or the argument's
    pattern matches only opaque ids.
    """

    def __init__(self, tool: Tool, one: _Id) -> None:
        protocol = tool.protocol
        self._links = {
            (tool.source, link.tool, link.path)
            for link in protocol.links
            if link.argument == one.name
        }
        key = argument_key(protocol, one.name)
        self._keys = {key, snake(one.name)} - {None}
        self._noun, _, field = (key or "").rpartition("_")
        self._vague = field if field in VAGUE else ""
        self._opaque = has_id_pattern(one.schema)

    def __call__(self, field: _ResultValues) -> bool:
        protocol = field.tool.protocol
        if (field.tool.source, protocol.name, field.path) in self._links or self._opaque:
            return True
        if field_key(protocol, field.path) in self._keys:
            return True
        steps = field.path.split(".")
        listed = len(steps) <= 2 and steps[0].endswith("[]") and snake(steps[-1]) == self._vague
        return bool(self._noun) and listed and self._noun in snake(protocol.name).split("_")


class _TaskWords:
    """The words and numbers of a task that may be ids."""

    def __init__(self, task: str) -> None:
        self._text = task.casefold()
        numbers = sorted(set(re.findall(r"\b[0-9]{1,15}\b", task)))
        words = [word.rstrip(".:") for word in re.findall(r"[^\s\"'`\\{}()\[\],;!?]+", task)[:60]]
        self._words = list(dict.fromkeys(word for word in words if word and word.isprintable()))
        self._words += [word.upper() for word in self._words if any(map(str.isdigit, word))]
        self._numbers = list(map(int, numbers))

    def values(self, argument: str, schema: Mapping[str, Any]) -> list[Any]:
        """Return the words and numbers of the task that may be values of this argument.

        If the argument's schema has an `enum`, return those of its values that occur in the task or
        are common words.
        """
        if isinstance(listed := schema.get("enum"), list | tuple):
            return [
                v
                for v in listed
                if isinstance(v, str | int) and (is_common(v) or str(v).casefold() in self._text)
            ]
        if _ID_NAMES.search(argument) is None:
            return [*self._numbers, *self._words, *range(SMALL)]
        numbers = [
            number
            for number in self._numbers
            if number >= SMALL or self._is_named(number, argument)
        ]
        if "pattern" in schema:
            return [*numbers, *self._words]
        return [
            *numbers,
            *(word for word in self._words if _is_code(word) or self._is_named(word, argument)),
        ]

    def _is_named(self, value: int | str, argument: str) -> bool:
        """Return True if the task names this number or word as a value of the argument.

        For example, "season 2" names a value of `season_number`, but "the top 3 films" does not.
        """
        nouns = set(snake(argument).split("_")) - VAGUE
        before = re.findall(
            rf"(\w+)[ .:]*([#\"'`]?){re.escape(str(value).casefold())}\b", self._text
        )
        return any(sign or singular(word) in nouns | VAGUE for word, sign in before)


def _is_code(word: str) -> bool:
    """Return True if a word looks like a code or an id: `JFK`, `ab12`, `main_street`, `p-4`."""
    return bool(re.search(r"\d|\w[_-]\w", word)) or (word.isupper() and len(word) > 1)


def _collect_values(tool: Tool, value: Json) -> list[_ResultValues]:
    """Return the strings and integers in a result, grouped by path, such as `results[].id`."""
    found: dict[str, _ResultValues] = {}
    waiting: list[tuple[str, Json]] = [(tool.wrapper or "", value)]
    for _ in range(_MOST_PLACES):
        if not waiting:
            break
        path, here = waiting.pop()
        match here:
            case Mapping():
                waiting += [
                    (f"{path}.{key}" if path else key, inner)
                    for key, inner in reversed([*here.items()])
                ]
            case list() | tuple():
                waiting += [(f"{path}[]", inner) for inner in reversed(here)]
            case str() | int() if not isinstance(here, bool):
                found.setdefault(path, _ResultValues(tool, path, [])).values.append(here)
    return list(found.values())


def _find_obtainable_later(unknown: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """Return the tools that can be called once other tools have returned the ids that they lack.

    `unknown` maps each tool to its arguments without a known id, and each of these to the tools
    that return its values.
    """
    reached = {alias for alias, arguments in unknown.items() if not arguments}

    def is_obtainable(arguments: Mapping[str, Sequence[str]]) -> bool:
        return all(reached.intersection(tools) for tools in arguments.values())

    later: list[str] = []
    while True:
        left = {alias: arguments for alias, arguments in unknown.items() if alias not in reached}
        more = [alias for alias, arguments in left.items() if is_obtainable(arguments)]
        if not more:
            return later
        later += more
        reached.update(more)


def _narrow_tool(tool: Tool, known: Mapping[str, list[Any] | None]) -> Tool:
    """Return the tool with its id arguments restricted to the known values.

    Optional id arguments without a known value are removed.
    """
    properties: dict[str, Any] = {}
    for name, schema in tool.protocol.parameters.items():
        values = known.get(name)
        if values is None:
            properties[name] = schema
        elif values and isinstance(schema, Mapping):
            properties[name] = (
                {**schema, "items": {"enum": values}} if "items" in schema else {"enum": values}
            )
    if not known:
        return tool
    schema = {**tool.protocol.input_schema, "properties": properties}
    return replace(tool, protocol=replace(tool.protocol, input_schema=schema))
