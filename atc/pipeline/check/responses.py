"""Types of the responses of tools, from the schemas that their protocols declare."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.response_location import ResponseLocation
from atc.pipeline.check.schema import convert
from protocols.file_schemas import MAY_BE_FILE, is_file_response
from protocols.naming import singular, snake
from protocols.schema import SHOWN_FIELDS, as_mapping, resolve
from protocols.tool import Tool


@dataclass(frozen=True, slots=True)
class FileType(t.Type):
    """The type of a body that the program gets as a file. `tool` is the alias of its tool."""

    tool: str


_known: dict[tuple[int, bool], tuple[weakref.ref[Tool], t.ResponseSchema | None]] = {}
"""Response schemas, keyed by the id of the tool and by `lenient`, as long as the tool exists.

Most programs are checked against tools that were seen before.
"""


def response_document(tool: Tool, *, lenient: bool = False) -> t.ResponseSchema | None:
    """Return the response schema of `tool`, or None if it is missing or only guessed.

    If `lenient` is True, weak evidence is ignored. Weak evidence is a schema inferred from
    responses, because other responses may differ, and the values in an enum, because a service may
    return new values before its document lists them.
    """
    key = (id(tool), lenient)
    known = _known.get(key)
    if known is not None and known[0]() is tool:
        return known[1]
    schema = tool.protocol.output_schema
    level = tool.protocol.evidence.level
    believed = level == "declared" if lenient else level != "guessed"
    document = (
        t.ResponseSchema(schema, strict=level == "declared", lists_values=not lenient)
        if believed and isinstance(schema, Mapping)
        else None
    )
    _known[key] = weakref.ref(tool, lambda _: _known.pop(key, None)), document
    return document


def result_type(tool: Tool, document: t.ResponseSchema) -> t.Type:
    """Return the type of the value that a call of `tool` returns to the program."""
    origin = ResponseLocation(tool.alias)
    if document.root.get(MAY_BE_FILE):
        return t.ANY
    if is_file_response(document.root):
        return FileType(tool.alias)
    if tool.wrapper is None:
        return convert(document.root, document, origin)
    top = resolve(document.root, document.root)
    inner = top["properties"][tool.wrapper]
    shown = as_mapping(as_mapping(top.get(SHOWN_FIELDS)).get("properties")).get(tool.wrapper)
    return convert({"allOf": [inner, shown]} if shown else inner, document, origin)


def error_type(tool: Tool) -> t.Type:
    """Return the type of the bodies of errors that the document of `tool` describes.

    It is the union of all of them, and `NEVER` if none is described.
    """
    return t.join_all(
        convert(outcome.schema, t.ResponseSchema(outcome.schema, strict=True), origin)
        for outcome in tool.protocol.errors
        if outcome.schema is not None and outcome.status[0] in "d45"
        for origin in (ResponseLocation(tool.alias),)
    )


def find_named_objects(tools: Iterable[Tool]) -> list[tuple[str, frozenset[str]]]:
    """Return the objects that the response schemas of the tools define under a name.

    Each is its name in snake case, in the singular, and its keys.
    """
    found: list[tuple[str, frozenset[str]]] = []
    seen: set[int] = set()
    for tool in tools:
        document = response_document(tool)
        if document is None:
            continue
        root = document.root
        definitions = [*as_mapping(root.get("$defs")).items(), (str(root.get("title", "")), root)]
        for name, schema in definitions:
            if id(schema) in seen or not name:
                continue
            seen.add(id(schema))
            spend(1)
            kinds = t.members(convert(schema, document, ResponseLocation(tool.alias)))
            shapes = [kind.shape for kind in kinds if isinstance(kind, t.Record)]
            keys = frozenset(key for shape in shapes for key in shape.properties)
            found.append((singular(snake(name)), keys))
    return found
