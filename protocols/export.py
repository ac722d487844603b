"""Exports descriptions of tools as an OpenAPI 3.1 document or as MCP tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from protocols.effects import SAFE
from protocols.file_names import OCTETS
from protocols.file_schemas import is_file_response
from protocols.naming import identifier
from protocols.protocol import HttpBinding, ToolProtocol, dump
from protocols.response_headers import named_headers
from protocols.schema import JsonObject
from protocols.sources.operation import FORM_TYPES, annotations_of

RESULT = "result"
"""Key under which a response that is not an object is put, since MCP's results are objects."""
_MCP_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_BEARER = {"type": "http", "scheme": "bearer"}
_STYLES = {",": "form", "|": "pipeDelimited", " ": "spaceDelimited", "[]": "deepObject"}


def to_openapi(protocols: Sequence[ToolProtocol], title: str) -> dict[str, Any]:
    """Return tools as an OpenAPI 3.1 document, from which `read_openapi` reads them again.

    Some information is lost: examples, evidence, links, unknown keys, and annotations that
    contradict the method. A tool without an HTTP binding becomes `POST /name`.
    """
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "paths": {},
    }
    components = dict[str, Any]()
    schemes = dict[str, Any]()
    paths = document["paths"]
    for protocol in protocols:
        binding = protocol.binding
        if not isinstance(binding, HttpBinding):
            binding = HttpBinding(method="POST", url=f"/{protocol.name}")
        parts = urlsplit(binding.url)
        origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        path = binding.url.removeprefix(origin) or "/"
        operation = _operation(protocol, binding, components)
        servers = [{"url": origin or "/"}]
        if document.setdefault("servers", servers) != servers:
            operation["servers"] = servers
        if binding.method.lower() in paths.get(path, {}):
            path = f"{path}#{protocol.name}"
        paths.setdefault(path, {})[binding.method.lower()] = operation
        schemes |= {
            name: dict(binding.schemes.get(name) or _BEARER) for name in binding.credential_names
        }
    shared = {"schemas": components, "securitySchemes": dict(sorted(schemes.items()))}
    if filled := {key: value for key, value in shared.items() if value}:
        document["components"] = filled
    return document


def mcp_tool(protocol: ToolProtocol) -> dict[str, Any]:
    """Return a tool as an MCP Tool object, that is, as JSON.

    MCP's results are objects. A response that is not an object is wrapped in a field, whose name is
    the constant `RESULT`.
    """
    document = dump(protocol)
    tool = {key: document[key] for key in _MCP_KEYS if key in document}
    tool["inputSchema"] = {**tool["inputSchema"], "type": "object"}
    output = tool.get("outputSchema")
    if output is not None and output.get("type") != "object":
        inner = {key: value for key, value in output.items() if key != "$defs"}
        whole = {"type": "object", "properties": {RESULT: inner}, "required": [RESULT]}
        tool["outputSchema"] = whole | ({"$defs": output["$defs"]} if "$defs" in output else {})
    return tool


def _hoist_definitions(schema: JsonObject, owner: str, shared: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` with its `$defs` moved to `shared`, where several tools can use them.

    If the name of a definition is taken by another schema in `shared`, `owner` becomes a prefix of
    the name.
    """
    before = ""
    while True:
        text = json.dumps(schema).replace(
            '"$ref": "#/$defs/', f'"$ref": "#/components/schemas/{before}'
        )
        body: dict[str, Any] = json.loads(text)
        found = {f"{before}{name}": part for name, part in body.pop("$defs", {}).items()}
        if all(shared.get(name, part) == part for name, part in found.items()):
            break
        before += f"{identifier(owner)}."
    shared |= found
    return body


def _operation(
    protocol: ToolProtocol, binding: HttpBinding, components: dict[str, Any]
) -> dict[str, Any]:
    properties = _hoist_definitions(protocol.input_schema, protocol.name, components).get(
        "properties", {}
    )
    parameters = _parameters(protocol, binding, properties)
    if binding.idempotency_header:
        parameters.append(
            {"name": binding.idempotency_header, "in": "header", "schema": {"type": "string"}}
        )
    usual = annotations_of(binding.method).to_hints | (
        {"readOnlyHint": True} if binding.method in SAFE else {}
    )
    operation: dict[str, Any] = {
        "operationId": protocol.name,
        "summary": protocol.title,
        "description": protocol.description,
        "tags": [protocol.category] if protocol.category else [],
        "parameters": parameters,
        "requestBody": _request_body(protocol, binding, properties),
        "deprecated": protocol.extra.get("deprecated") is True,
        "x-atc-annotations": {
            k: v for k, v in protocol.annotations.to_hints.items() if usual.get(k) != v
        },
        "x-atc-verified-by": protocol.verified_by.tool if protocol.verified_by else None,
        "responses": _responses(protocol, binding, components),
        "security": [_security_requirement(names) for names in binding.credentials],
    }
    return {key: value for key, value in operation.items() if value}


def _security_requirement(names: str | tuple[str, ...]) -> dict[str, list[str]]:
    """Return OpenAPI's security requirement for credentials that must be sent together."""
    return {name: [] for name in ((names,) if isinstance(names, str) else names)}


def _parameters(
    protocol: ToolProtocol, binding: HttpBinding, properties: JsonObject
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for argument, schema in properties.items():
        location = binding.location(argument)
        if location in ("body", "form"):
            continue
        parameter: dict[str, Any] = {"name": binding.wire_name(argument), "in": location}
        if location == "path" or argument in protocol.required:
            parameter["required"] = True
        plain = dict(schema) if isinstance(schema, Mapping) else {}
        described = {"schema": plain}
        joint = plain.pop("x-atc-join", "")
        if style := _STYLES.get(joint):
            parameter |= {"style": style, "explode": style == "deepObject"}
        found.append(
            parameter
            | ({"content": {"application/json": described}} if joint == "{}" else described)
        )
    return found


def _request_body(
    protocol: ToolProtocol, binding: HttpBinding, properties: JsonObject
) -> dict[str, Any] | None:
    if (whole := binding.body_argument) is not None:
        schema = properties.get(whole, {})
        described = schema if isinstance(schema, Mapping) else {}
        media = binding.media or described.get("contentMediaType", "application/json")
        return {"required": whole in protocol.required, "content": {media: {"schema": schema}}}
    fields = {
        name: part
        for name, part in properties.items()
        if binding.location(name) in ("body", "form")
    }
    if not fields:
        return None
    form = any(binding.location(name) == "form" for name in fields)
    named = {binding.wire_name(name): part for name, part in fields.items()}
    required = [binding.wire_name(name) for name in fields if name in protocol.required]
    schema = {"type": "object", "properties": named} | ({"required": required} if required else {})
    media = binding.media or (FORM_TYPES[0] if form else "application/json")
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def _responses(
    protocol: ToolProtocol, binding: HttpBinding, components: dict[str, Any]
) -> dict[str, Any]:
    output = protocol.output_schema
    status = "200"
    success: dict[str, Any] = {"description": "Success"}
    if output == {"type": "null"} and binding.method != "HEAD":
        status = "204"
    elif output is not None:
        success["content"] = _content(output, components, protocol.name, binding.accept)
    elif binding.accept:
        success["content"] = {media: {} for media in binding.accept}
    if headers := named_headers(protocol):
        success["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    found = {status: success}
    for error in protocol.errors:
        found[error.status] = {"description": error.description}
        if error.schema is not None:
            found[error.status]["content"] = _content(error.schema, components, protocol.name)
    return found


def _content(
    schema: JsonObject, components: dict[str, Any], owner: str, declared: Sequence[str] = ()
) -> dict[str, Any]:
    usual = "text/plain" if schema == {"type": "string"} else "application/json"
    if is_file_response(schema):
        usual = OCTETS
    described = {"schema": _hoist_definitions(schema, owner, components)}
    return dict.fromkeys(declared or (usual,), described)
