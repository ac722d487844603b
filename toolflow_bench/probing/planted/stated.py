"""What it takes for a protocol to state a rule: schemas give verdicts, words are looked for in descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import violations
from toolflow_bench.probing.planted.fake import Stated

Calls = Sequence[Mapping[str, Json]]


def argument(tool: str, name: str, *, good: Sequence[Json], bad: Sequence[Json]) -> Stated:
    """The argument's schema allows every good value and no bad one."""

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        protocol = protocols[tool]
        if name not in protocol.parameters:
            return False
        schema = _of_argument(protocol, name)
        return all(_fits(schema, value) for value in good) and not any(_fits(schema, value) for value in bad)

    return stated


def calls(tool: str, *, good: Calls, bad: Calls) -> Stated:
    """The tool's input schema allows every good set of arguments and no bad one.

    Where arguments travel as text, their schemas may be of texts or of numbers: either way of writing them will do, as
    long as it is the same for all.
    """

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        schema = protocols[tool].input_schema
        written = ((good, bad), (_as_texts(good), _as_texts(bad)), (_as_numbers(good), _as_numbers(bad)))
        return any(
            all(_fits(schema, one) for one in right) and not any(_fits(schema, one) for one in wrong)
            for right, wrong in written
        )

    return stated


def responses(tool: str, *, good: Sequence[Json], bad: Sequence[Json] = ()) -> Stated:
    """The tool's response schema allows every good response and no bad one."""

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        schema = protocols[tool].output_schema
        if schema is None:
            return False
        return all(_fits(schema, one) for one in good) and not any(_fits(schema, one) for one in bad)

    return stated


def linked(tool: str, name: str, *, producer: str, path: str) -> Stated:
    """The protocol says that the argument's values come from this path of the producer's response."""

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        return any(
            (link.argument, link.tool, link.path) == (name, producer, path) and link.support != "guessed"
            for link in protocols[tool].links
        )

    return stated


def told(tool: str, *words: str) -> Stated:
    """One description in the protocol (the tool's, an argument's, an error's) has all the words."""

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        return any(all(word.lower() in text.lower() for word in words) for text in _descriptions(protocols[tool]))

    return stated


def keyword(tool: str, name: str, word: str, value: Json) -> Stated:
    """The argument's schema has this keyword with this value, or with its text."""

    def stated(protocols: Mapping[str, ToolProtocol]) -> bool:
        found = protocols[tool].parameters.get(name, {})
        return isinstance(found, Mapping) and found.get(word) in (value, str(value))

    return stated


def any_of(*ways: Stated) -> Stated:
    """There are several ways of saying it."""
    return lambda protocols: any(way(protocols) for way in ways)


def all_of(*parts: Stated) -> Stated:
    """It takes all of these."""
    return lambda protocols: all(part(protocols) for part in parts)


def _of_argument(protocol: ToolProtocol, name: str) -> JsonObject:
    definitions = protocol.input_schema.get("$defs")
    schema: Any = protocol.parameters[name]
    return {**schema, "$defs": definitions} if definitions and isinstance(schema, Mapping) else schema


def _fits(schema: JsonObject, value: Json) -> bool:
    return not violations(schema, value)


def _as_texts(calls: Calls) -> Calls:
    return [
        {name: str(value) if isinstance(value, int | float) else value for name, value in call.items()}
        for call in calls
    ]


def _as_numbers(calls: Calls) -> Calls:
    return [
        {name: int(value) if isinstance(value, str) and value.isdigit() else value for name, value in call.items()}
        for call in calls
    ]


def _descriptions(protocol: ToolProtocol) -> Iterator[str]:
    yield protocol.description
    for schema in protocol.parameters.values():
        if isinstance(schema, Mapping):
            yield str(schema.get("description", ""))
    for error in protocol.errors:
        yield error.description
