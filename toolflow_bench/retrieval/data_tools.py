"""Records of tools as data sets write them (ToolE, ToolBench, RestBench, MCP listings), read as `ToolDocument`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atc.retrieve.document import ToolDocument
from protocols.links import response_paths
from toolflow_bench.retrieval.data import first_text

_IDS = ("id", "tool_id", "name", "tool", "api_name")
_NAMES = ("name", "title", "summary", "api_name")
_DESCRIPTIONS = ("description", "desc", "api_description", "documentation", "doc", "text")
_CATEGORIES = ("category", "category_name")
_COLLECTIONS = ("collection", "tool_name", "server", "server_name", "api")
_ARGUMENTS = ("parameters", "inputSchema", "input_schema", "arguments")
_RETURNS = ("returns", "response_schema", "outputSchema", "output_schema", "template_response")
_SCHEMA_WORDS = frozenset({"properties", "items", "$ref", "allOf", "anyOf", "oneOf"})
_DEPTH = 3
"""Of response fields: how many objects deep."""


def read_tool(record: Mapping[str, Any], *, name: str = "", collection: str = "", category: str = "") -> ToolDocument:
    """The document of one record. `name` is the record's id where none is given; fields that are absent are empty.

    Parameters may be a JSON Schema, a list of objects with `name`, or a mapping from names to descriptions or schemas;
    `required_parameters` and `optional_parameters` (ToolBench) are lists of such objects.
    """
    name = name or first_text(record, _IDS)
    arguments = {said[0]: said for said in _arguments(record)}
    title = first_text(record, _NAMES)
    return ToolDocument(
        name=name,
        title=title if title != name else "",
        description=first_text(record, _DESCRIPTIONS),
        category=category or first_text(record, _CATEGORIES),
        collection=collection or first_text(record, _COLLECTIONS),
        parameters={argument: said for argument, said, _ in arguments.values()},
        required=tuple(sorted(argument for argument, _, needed in arguments.values() if needed)),
        returns=tuple(dict.fromkeys(_returns(record))),
    )


def _arguments(record: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Name, description, and whether it must be given, of each argument."""
    for key in _ARGUMENTS:
        yield from _argument_list(record.get(key))
    for key, needed in (("required_parameters", True), ("optional_parameters", False)):
        for name, said, _ in _argument_list(record.get(key)):
            yield name, said, needed
    body = record.get("request_body")
    for media in _mappings(body.get("content")) if isinstance(body, Mapping) else ():
        yield from _argument_list(media.get("schema"))


def _argument_list(value: Any) -> Iterator[tuple[str, str, bool]]:
    if isinstance(value, list):
        for one in value:
            if isinstance(one, Mapping) and isinstance(one.get("name"), str):
                schema = one.get("schema")
                said = one.get("description") or (schema.get("description") if isinstance(schema, Mapping) else "")
                yield one["name"], _text(said), str(one.get("required", "")).casefold() == "true"
            elif isinstance(one, str):
                yield one, "", False
    elif isinstance(value, Mapping):
        properties = value.get("properties")
        required = value.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        if not isinstance(properties, Mapping):
            properties = {} if value.get("type") == "object" else value
        for name, said in properties.items():
            about = said.get("description", "") if isinstance(said, Mapping) else said
            yield str(name), _text(about), name in needed


def _returns(record: Mapping[str, Any]) -> Iterator[str]:
    for key in _RETURNS:
        value = record.get(key)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield from value
        elif isinstance(value, dict) and _SCHEMA_WORDS & value.keys():
            steps = (path.replace("[]", "").strip(".").split(".") for path, _ in response_paths(value))
            yield from (names[-1] for names in steps if names[-1] and len(names) <= _DEPTH)
        else:
            yield from _keys(value, depth=_DEPTH)


def _keys(template: Any, *, depth: int) -> Iterator[str]:
    """The keys of a response template, those `depth` objects deep included, in order."""
    if isinstance(template, list):
        for one in template[:1]:
            yield from _keys(one, depth=depth)
    elif isinstance(template, Mapping) and depth:
        for key, value in template.items():
            yield str(key)
            yield from _keys(value, depth=depth - 1)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value.values() if isinstance(one, Mapping)] if isinstance(value, Mapping) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
