"""Removal of guessed links between tools that the calls of a run contradict.

A link says that an argument takes values from another tool's responses. A guessed link rests on
similar names alone, so it is dropped if the responses in a run show that it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from atc.core.json_paths import EACH, find_places, walk
from protocols.effects import acts
from protocols.protocol import Link
from protocols.schema import Json, parse_path
from protocols.tool import Tool
from protocols.toolbox import Producer, Toolbox
from sandbox.trace import ToolCall


def find_proposable(tools: Toolbox, tool: Tool, argument: str) -> list[Producer]:
    """Return the producers of an argument's values that a message may propose, best first.

    A producer is a tool whose responses contain such values. `argument` is the original name. A
    tool that changes data is not proposed if the link to it is only guessed.
    """
    return [
        producer
        for producer in tools.producers(tool, argument)
        if producer.support != "guessed" or not acts(producer.tool.protocol)
    ]


def drop_contradicted_links(tools: Toolbox, calls: Iterable[ToolCall]) -> Toolbox:
    """Return the toolbox without the guessed links that the calls of a run contradict.

    There are two ways to contradict a link. Either the tool refused values from the link's producer
    and accepted none of them. Or it accepted values from the response of another tool, and none
    from the producer.
    """
    made = [call for call in calls if call.tool in tools]
    changed = dict[str, Tool]()
    for alias in dict.fromkeys(call.tool for call in made):
        tool = tools[alias]
        kept = [
            link
            for link in tool.protocol.links
            if link.support != "guessed" or not _is_contradicted(link, tool, tools, made)
        ]
        if len(kept) < len(tool.protocol.links):
            changed[alias] = replace(tool, protocol=replace(tool.protocol, links=tuple(kept)))
    return tools.map(lambda tool: changed.get(tool.alias, tool)) if changed else tools


def _is_contradicted(link: Link, tool: Tool, tools: Toolbox, calls: Sequence[ToolCall]) -> bool:
    """Return True if the calls of a run contradict a link of `tool`.

    For what this means, see `drop_contradicted_links`.
    """
    path = tuple(parse_path(link.path, each=EACH))
    linked = set[Json]()
    elsewhere = set[Json]()
    for call in calls:
        if call.error is not None:
            continue
        if tools[call.tool].protocol.name == link.tool and tools[call.tool].source == tool.source:
            for place in find_places(call.result, path):
                linked |= _scalars(place.value_or_none)
        elif call.tool != tool.alias:
            elsewhere |= _scalars(call.result)
    accepted, refused = _tried_values(link.argument, tool, calls)
    if not linked or accepted & linked:
        return False
    return bool(refused & linked or accepted & (elsewhere - linked))


def _tried_values(
    argument: str, tool: Tool, calls: Sequence[ToolCall]
) -> tuple[set[Json], set[Json]]:
    """Return the values of an argument that a tool accepted, and those that it refused."""
    accepted = set[Json]()
    refused = set[Json]()
    for call in calls:
        values = _scalars(tool.original_arguments(call.arguments).get(argument))
        if call.tool == tool.alias and call.error is None:
            accepted |= values
        elif call.tool == tool.alias and call.outcome == "refused":
            refused |= values
    return accepted, refused


def _scalars(value: Json) -> set[Json]:
    """Return the texts and numbers in a JSON value."""
    return {
        inner
        for _, inner in walk(value)
        if isinstance(inner, str | int | float) and not isinstance(inner, bool)
    }
