"""An argument that a tool did not like: where its value came from, and which field beside that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from atc.attribute.blame import Record
from atc.attribute.facts import MOST_KEYS, snippet
from atc.attribute.paths import at, text
from atc.attribute.provenance import Origin, origins
from atc.attribute.source import Source
from atc.check.report import listed
from protocols.jsontypes import Json, JsonObject
from protocols.schema import violations
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

_CLAUSES = {"format": "in format", "pattern": "matching", "minimum": "at least", "maximum": "at most"}


def argument_sources(call: ToolCall, name: str, record: Record) -> list[Source]:
    """Where the text of the program takes an argument's value from, nearest last."""
    node = record.site(call)
    given = next((k.value for k in node.keywords if k.arg == name), None) if node is not None else None
    return record.slicer.sources(given) if given is not None else []


def origin_of(call: ToolCall, name: str, record: Record) -> tuple[Origin | None, int]:
    """The earlier response that an argument's value came from, and how many other places hold an equal value.

    The program's text decides where it leads to an equal value; else equality of telling values does.
    """
    value = call.arguments.get(name)
    before = [other for other in record.trace.calls if other.index < call.index]
    for source in reversed(argument_sources(call, name, record)):
        for made, place in record.items(source) if source.kind == "call" else ():
            same = place.missing is None and type(place.value) is type(value) and place.value == value
            if same and made.index < call.index:
                return Origin(made.index, made.tool, text(place.path), place.path), 0
    found = origins(value, before)
    return (found[0], len(found) - 1) if found else (None, 0)


def about_argument(call: ToolCall, name: str, record: Record) -> Iterator[str]:
    """Where an argument's value came from, what stands beside it, and where the protocol says values come from."""
    value = call.arguments.get(name)
    tool = record.facts.tools.get(call.tool)
    origin, others = origin_of(call, name, record)
    if name not in call.arguments:
        yield f"Argument {name!r} was not given."
    elif origin is None:
        shown = snippet(value, most=80)
        yield f"Argument {name!r} = {shown} is in no earlier result: the program wrote it itself."
    else:
        made = next(c for c in record.trace.calls if c.index == origin.call)
        yield record.facts.about_origin(name, call, origin, made, others=others)
        yield from _beside(call, name, origin, made, record)
    if tool is None:
        return
    original = tool.arguments.get(name, name)
    schema = tool.protocol.parameters.get(original, {})
    if said := _wanted(schema):
        yield f"Argument {name!r} must be {said}."
    for link in tool.protocol.links:
        makers = [t.alias for t in record.facts.tools.values() if t.protocol.name == link.tool]
        if link.argument == original and link.support != "guessed" and makers:
            field = link.path.rpartition(".")[2]
            yield f"Values of {name!r} are the field {field!r} in the result of {makers[0]}."


def _wanted(schema: JsonObject) -> str:
    """`of type string, matching ^[A-Z]{3}$, described as: …`; empty where the schema says nothing."""
    kind = schema.get("type")
    parts = [f"of type {' or '.join(kind) if isinstance(kind, list) else kind}"] if kind else []
    if "enum" in schema:
        parts.append(f"one of {listed(map(repr, schema['enum']))}")
    parts += [f"{word} {schema[key]}" for key, word in _CLAUSES.items() if key in schema]
    if schema.get("description"):
        parts.append(f"described as: {' '.join(str(schema['description']).split())[:120]}".rstrip("."))
    return ", ".join(parts)


def _beside(call: ToolCall, name: str, origin: Origin, made: ToolCall, record: Record) -> Iterator[str]:
    """A field beside the one that was passed on, where something proves it to be the one that was meant."""
    value = call.arguments.get(name)
    whole = isinstance(value, Mapping)
    parent_path = origin.steps if whole else origin.steps[:-1]
    parent = at(made.result, parent_path)
    tool = record.facts.tools.get(call.tool)
    if not isinstance(parent, Mapping):
        return
    where = record.facts.result_of(made, parent_path)
    used = None if whole else origin.steps[-1]
    source = record.facts.tools.get(made.tool)
    for field, why in _meant(name, value, parent, tool, source) if tool is not None else ():
        if field != used:
            yield f"The field {field!r} of {where} = {snippet(parent[field], most=60)} {why}."
            return
    yield f"The fields of {where} are {listed(map(str, parent), most=MOST_KEYS)}."


def _meant(name: str, value: Json, parent: JsonObject, tool: Tool, source: Tool | None) -> Iterator[tuple[str, str]]:
    """Fields that an argument may have been meant to take, and why; the best reason first."""
    original = tool.arguments.get(name, name)
    for link in tool.protocol.links:
        if link.argument == original and source is not None and link.tool == source.protocol.name:
            yield from ((f, f"is what {name!r} takes") for f in parent if f == link.path.rpartition(".")[2])
    yield from ((f, "has the argument's name") for f in dict.fromkeys((name, original)) if f in parent)
    schema = tool.protocol.parameters.get(original, {})
    if violations(schema, value):
        fitting = [f for f, v in parent.items() if not violations(schema, v)]
        if len(fitting) == 1:
            yield fitting[0], f"is the only one that {name!r} accepts"
    yield from ((f, f"has a name like {name!r}") for f in parent if f.endswith(f"_{name}") or name.endswith(f"_{f}"))
