"""The protocol's JSON document: its own JSON Schema, reading and writing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json
from protocols.protocol import (
    Annotations,
    Binding,
    ErrorOutcome,
    Evidence,
    Example,
    HttpBinding,
    Link,
    McpBinding,
    ProgramBinding,
    PythonBinding,
    ToolProtocol,
    Verify,
)
from protocols.schema import first_error

_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_LEVEL = {"enum": ["declared", "observed", "guessed"]}
_NAMES = {"type": "object", "additionalProperties": _TEXT}


def _record(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_HTTP = _record(
    ["method", "url"],
    method={"enum": ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]},
    url={"type": "string", "pattern": "^https?://[^{}/?#]+([/?#]|$)"},
    locations={
        "type": "object",
        "additionalProperties": {"enum": ["path", "query", "header", "cookie", "body", "form"]},
    },
    wireNames=_NAMES,
    bodyArgument=_TEXT,
    credentials={"type": "array", "items": _TEXT},
    credentialPlaces={
        "type": "object",
        "additionalProperties": _record(
            [], place={"enum": ["header", "query", "cookie"]}, name={"type": "string", "minLength": 1}, prefix=_TEXT
        ),
    },
    idempotencyHeader=_TEXT,
)

DOCUMENT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "ToolProtocol",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "title": _TEXT,
        "description": _TEXT,
        "inputSchema": {
            "type": "object",
            "properties": {"properties": {"type": "object", "additionalProperties": {"type": ["object", "boolean"]}}},
        },
        "outputSchema": _OBJECT,
        "annotations": {
            "type": "object",
            "properties": {k: {"type": "boolean"} for k in ("readOnlyHint", "destructiveHint", "idempotentHint")},
        },
        "binding": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                "http": _HTTP,
                "python": _record(["module", "function"], module=_TEXT, function=_TEXT),
                "mcp": _record(["server", "tool"], server=_TEXT, tool=_TEXT),
                "program": _record(["source", "tools"], source=_TEXT, tools=_NAMES),
            },
            "additionalProperties": False,
        },
        "errors": {"type": "array", "items": _record(["status"], status=_TEXT, description=_TEXT, schema=_OBJECT)},
        "examples": {
            "type": "array",
            "items": _record([], question=_TEXT, program=_TEXT, arguments=_OBJECT, result=True),
        },
        "links": {
            "type": "array",
            "items": _record(["argument", "tool", "path"], argument=_TEXT, tool=_TEXT, path=_TEXT, support=_LEVEL),
        },
        "verifiedBy": _record(["tool"], tool=_TEXT, support=_LEVEL),
        "category": _TEXT,
        "collection": _TEXT,
        "evidence": _record(
            ["level"],
            level=_LEVEL,
            observations={"type": "integer", "minimum": 0},
            fields={"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        ),
    },
}
"""JSON Schema of a protocol document. Unknown keys are kept at the top level and in annotations, refused elsewhere."""

_VALIDATOR = jsonschema_rs.validator_for(DOCUMENT_SCHEMA)
_HINTS = {"read_only": "readOnlyHint", "destructive": "destructiveHint", "idempotent": "idempotentHint"}


def from_document(document: Json, *, where: str) -> ToolProtocol:
    """See `protocols.protocol.load`."""
    error = first_error(_VALIDATOR, document)
    if error is not None:
        raise InvalidProtocol(
            where,
            error.message,
            path=".".join(str(part) for part in error.instance_path),
            hint="The format is described in docs/protocols.md.",
        )
    get = document.get
    hints = get("annotations", {})
    return ToolProtocol(
        name=document["name"],
        title=get("title", ""),
        description=get("description", ""),
        input_schema=get("inputSchema", {"type": "object", "properties": {}}),
        output_schema=get("outputSchema"),
        annotations=Annotations(**{ours: hints.get(theirs) for ours, theirs in _HINTS.items()}),
        binding=_read_binding(get("binding")),
        errors=tuple(ErrorOutcome(**e) for e in get("errors", ())),
        examples=tuple(Example(**e) for e in get("examples", ())),
        links=tuple(Link(**e) for e in get("links", ())),
        verified_by=Verify(**get("verifiedBy")) if get("verifiedBy") else None,
        category=get("category", ""),
        collection=get("collection", ""),
        evidence=Evidence(**get("evidence", {})),
        extra={k: v for k, v in document.items() if k not in DOCUMENT_SCHEMA["properties"]}
        | _unknown_annotations(hints),
    )


def to_document(protocol: ToolProtocol) -> dict[str, Any]:
    """See `protocols.protocol.dump`."""
    extra = dict(protocol.extra)
    hints: dict[str, Any] = {
        theirs: value for ours, theirs in _HINTS.items() if (value := getattr(protocol.annotations, ours)) is not None
    } | dict(extra.pop("annotations", {}))
    document: dict[str, Any] = {
        "name": protocol.name,
        "title": protocol.title,
        "description": protocol.description,
        "inputSchema": dict(protocol.input_schema),
        "outputSchema": protocol.output_schema,
        "annotations": hints,
        "binding": _write_binding(protocol.binding),
        "errors": [_write_error(e) for e in protocol.errors],
        "examples": [
            _sparse(question=e.question, program=e.program, arguments=dict(e.arguments)) | {"result": e.result}
            for e in protocol.examples
        ],
        "links": [
            {"argument": link.argument, "tool": link.tool, "path": link.path, "support": link.support}
            for link in protocol.links
        ],
        "verifiedBy": protocol.verified_by
        and {"tool": protocol.verified_by.tool, "support": protocol.verified_by.support},
        "category": protocol.category,
        "collection": protocol.collection,
        "evidence": {"level": protocol.evidence.level}
        | _sparse(observations=protocol.evidence.observations, fields=dict(protocol.evidence.fields)),
    }
    kept = {k: v for k, v in document.items() if k in ("name", "inputSchema") or _says_something(v)}
    if protocol.output_schema is not None:
        kept["outputSchema"] = dict(protocol.output_schema)  # `{}` says that anything comes, its absence nothing
    return kept | extra


def _unknown_annotations(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations of other makers (MCP's `title`, `openWorldHint`), kept as they came."""
    unknown = {k: v for k, v in hints.items() if k not in _HINTS.values()}
    return {"annotations": unknown} if unknown else {}


def _read_binding(binding: Mapping[str, Any] | None) -> Binding | None:
    match binding:
        case {"http": http}:
            return HttpBinding(
                method=http["method"],
                url=http["url"],
                locations=http.get("locations", {}),
                wire_names=http.get("wireNames", {}),
                body_argument=http.get("bodyArgument"),
                credentials=tuple(http.get("credentials", ())),
                credential_places=http.get("credentialPlaces", {}),
                idempotency_header=http.get("idempotencyHeader"),
            )
        case {"python": python}:
            return PythonBinding(**python)
        case {"mcp": mcp}:
            return McpBinding(**mcp)
        case {"program": program}:
            return ProgramBinding(**program)
        case _:
            return None


def _write_binding(binding: Binding | None) -> dict[str, Any] | None:
    match binding:
        case HttpBinding():
            return {
                "http": _sparse(
                    method=binding.method,
                    url=binding.url,
                    locations=dict(binding.locations),
                    wireNames=dict(binding.wire_names),
                    bodyArgument=binding.body_argument,
                    credentials=list(binding.credentials),
                    credentialPlaces={name: dict(place) for name, place in binding.credential_places.items()},
                    idempotencyHeader=binding.idempotency_header,
                )
            }
        case PythonBinding():
            return {"python": {"module": binding.module, "function": binding.function}}
        case McpBinding():
            return {"mcp": {"server": binding.server, "tool": binding.tool}}
        case ProgramBinding():
            return {"program": {"source": binding.source, "tools": dict(binding.tools)}}
        case None:
            return None


def _write_error(error: ErrorOutcome) -> dict[str, Any]:
    written = {"status": error.status} | _sparse(description=error.description)
    return written if error.schema is None else written | {"schema": dict(error.schema)}


def _says_something(value: Any) -> bool:
    return value not in (None, "", [], {}) and value != {"level": "declared"}


def _sparse(**values: Any) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not None and v not in ("", [], {}, 0)}
