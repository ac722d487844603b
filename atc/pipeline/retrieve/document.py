"""The searchable document of a tool, and the texts derived from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from protocols.links import response_paths
from protocols.schema import JsonObject, parse_path
from protocols.tool import Tool

_DEEPEST = 3
"""Maximum nesting depth of response fields that are indexed.

Deeper fields say little about the tool.
"""
_ARGUMENTS = 8
_FIELDS = 4
"""Maximum numbers of argument names and field names in the text that is embedded.

Further names obscure the tool's purpose. The numbers were chosen on synthetic queries of RestBench,
StableToolBench and LiveMCPBench (compared with all names: +.044, +.010 and -.003 nDCG@5).
"""


@dataclass(frozen=True, kw_only=True)
class ToolDocument:
    """The searchable text of one tool, in sections such as name, description and parameters.

    The sections are those of ToolBench's retrieval document, including the return schema. `name`
    identifies the tool in its index (the alias in a toolbox). `parameters` maps each argument to
    its description; `returns` are the names of response fields. `category`, `collection` and `name`
    are the three levels of AnyTool's hierarchy.
    """

    name: str
    description: str = ""
    title: str = ""
    category: str = ""
    collection: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hash of all fields, the key for derived data such as vectors and synthetic queries."""
        return hashlib.sha256(json.dumps(_json_fields(self), sort_keys=True).encode()).hexdigest()[
            :24
        ]

    @classmethod
    def of(cls, tool: Tool) -> ToolDocument:
        """Build the document of a tool. Its name is the tool's alias."""
        protocol = tool.protocol
        about = {
            name: one.get("description")
            for name, one in protocol.parameters.items()
            if isinstance(one, Mapping)
        }
        return cls(
            name=tool.alias,
            description=protocol.description,
            title=protocol.title,
            category=protocol.category,
            collection=protocol.collection,
            parameters={
                name: text if isinstance(text := about.get(name), str) else ""
                for name in protocol.parameters
            },
            required=tuple(sorted(protocol.required)),
            returns=response_field_names(protocol.output_schema),
        )


def documents(tools: Iterable[Tool]) -> list[ToolDocument]:
    """Return the searchable documents of `tools`, in the order of the tools."""
    return [ToolDocument.of(tool) for tool in tools]


def response_field_names(schema: JsonObject | None) -> tuple[str, ...]:
    """Return the names of a response's fields in order, without duplicates.

    Fields of deeply nested objects are left out.
    """
    names: dict[str, None] = {}
    for path, _ in response_paths(schema):
        keys = [step for step in parse_path(path) if isinstance(step, str) and step != "*"]
        if keys and len(keys) <= _DEEPEST:
            names[keys[-1]] = None
    return tuple(names)


def words_text(document: ToolDocument) -> str:
    """Return the text of a document that BM25 indexes.

    Name and description are included twice. Of parameters and fields only the names are included:
    their descriptions (of ids, of paging) are the same for most tools of an API and would hide what
    distinguishes the tools.
    """
    about = [document.name, document.title, document.description]
    return "\n".join(
        [
            document.category,
            document.collection,
            *about,
            *about,
            *document.parameters,
            *document.returns,
        ]
    )


def vector_text(document: ToolDocument) -> str:
    """Return the text of a document that an embedding model reads.

    It is `json_text` with only the first few arguments and response fields.
    """
    arguments = dict(list(document.parameters.items())[:_ARGUMENTS])
    return json_text(replace(document, parameters=arguments, returns=document.returns[:_FIELDS]))


def json_text(document: ToolDocument) -> str:
    """Return a document as JSON without empty sections, as it is shown to a language model."""
    order = ("category", "collection", "name", "title", "description")
    sections: dict[str, Any] = {name: getattr(document, name) for name in order}
    sections |= {"parameters": list(document.parameters), "returns": list(document.returns)}
    return json.dumps({key: value for key, value in sections.items() if value}, ensure_ascii=False)


def read_document(record: JsonObject) -> ToolDocument:
    """Build a document from a JSON object that `dump_document` returned."""
    lists = {key: tuple(record.get(key, ())) for key in ("required", "returns")}
    return ToolDocument(**{**record, **lists})


def dump_document(document: ToolDocument) -> JsonObject:
    """Return a document as a JSON object without empty fields."""
    return {key: value for key, value in _json_fields(document).items() if value}


def _json_fields(document: ToolDocument) -> dict[str, Any]:
    """Return the fields of a document as a JSON object.

    `dataclasses.asdict` would copy the fields deeply, which takes minutes for a million tools.
    """
    found = {field.name: getattr(document, field.name) for field in fields(document)}
    return found | {"parameters": dict(document.parameters)}
