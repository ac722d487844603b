"""Protocols as others read them: an OpenAPI 3.1 document, MCP tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ErrorOutcome, HttpBinding, ToolProtocol, dump
from protocols.sources.declared import link_object
from protocols.sources.operations import annotations_of

_MCP_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_CREDENTIAL = {"type": "apiKey", "in": "header", "name": "Authorization"}


def to_openapi(protocols: Sequence[ToolProtocol], title: str) -> dict[str, Any]:
    """An OpenAPI 3.1 document, from which `read_openapi` reads the same protocols again.

    It cannot say all: examples, evidence, links that are not declared and unknown keys are left out, a method says
    more about writing than annotations may take back, and a tool without an HTTP binding becomes `POST /name`.
    """
    paths: dict[str, dict[str, Any]] = {}
    components = _Components()
    links = _links_by_producer(protocols)
    for protocol in protocols:
        binding = _binding(protocol)
        origin, path = _split(binding.url)
        operation = _operation(protocol, binding, components, links.get(protocol.name, {}))
        if origin:
            operation["servers"] = [{"url": origin}]
        method = binding.method.lower()
        if method in paths.get(path, {}):
            path = f"{path}#{protocol.name}"
        paths.setdefault(path, {})[method] = operation
    document: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": paths}
    _share_server(document)
    credentials = sorted({name for protocol in protocols for name in _binding(protocol).credentials})
    places = {name: place for one in protocols for name, place in _binding(one).credential_places.items()}
    shared = {
        "schemas": components.schemas,
        "securitySchemes": {name: _security_scheme(places.get(name, {})) for name in credentials},
    }
    if filled := {key: value for key, value in shared.items() if value}:
        document["components"] = filled
    return document


def _security_scheme(place: Mapping[str, str]) -> dict[str, str]:
    if place.get("prefix") == "Basic ":
        return {"type": "http", "scheme": "basic"}
    return {**_CREDENTIAL, "in": place.get("place", "header"), "name": place.get("name", "Authorization")}


def to_mcp(protocols: Sequence[ToolProtocol]) -> list[dict[str, Any]]:
    """Each protocol as an MCP Tool object. MCP's output is an object, so other results stand in its field `result`."""
    return [_mcp_tool(dump(protocol)) for protocol in protocols]


def _mcp_tool(document: JsonObject) -> dict[str, Any]:
    tool = {key: document[key] for key in _MCP_KEYS if key in document}
    output = tool.get("outputSchema")
    if output is not None and output.get("type") != "object":
        definitions = {"$defs": output["$defs"]} if "$defs" in output else {}
        inner = {key: value for key, value in output.items() if key != "$defs"}
        tool["outputSchema"] = {
            "type": "object", "properties": {"result": inner}, "required": ["result"], **definitions
        }  # fmt: skip
    return tool


class _Components:
    """`components/schemas`: the definitions of all protocols, under their own names where those agree."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}

    def hoist(self, schema: JsonObject, owner: str) -> dict[str, Any]:
        """`schema` with its `$defs`, and itself where it refers to itself, moved here."""
        definitions = schema.get("$defs", {})
        names = {f"#/$defs/{_escaped(name)}": self._name(name, part, owner) for name, part in definitions.items()}
        body = {key: value for key, value in schema.items() if key != "$defs"}
        if "#" in _references(schema):
            names["#"] = self._name(owner, None, owner)
            self.schemas[names["#"]] = _renamed(body, names)
        for name, part in definitions.items():
            self.schemas[names[f"#/$defs/{_escaped(name)}"]] = _renamed(part, names)
        return {"$ref": f"#/components/schemas/{names['#']}"} if "#" in names else _renamed(body, names)

    def _name(self, name: str, part: Json, owner: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
        same = {f"#/$defs/{_escaped(name)}": plain}
        if plain not in self.schemas or (part is not None and self.schemas[plain] == _renamed(part, same)):
            return plain
        base = f"{plain}.{re.sub(r'[^A-Za-z0-9_.-]+', '_', owner)}"
        chosen, number = base, 2
        while chosen in self.schemas:
            chosen, number = f"{base}.{number}", number + 1
        return chosen


def _operation(
    protocol: ToolProtocol, binding: HttpBinding, components: _Components, links: JsonObject
) -> dict[str, Any]:
    schema = components.hoist(protocol.input_schema, protocol.name)
    parameters = _parameters(protocol, binding, schema.get("properties", {}))
    if binding.idempotency_header:
        parameters.append({"name": binding.idempotency_header, "in": "header", "schema": {"type": "string"}})
    operation: dict[str, Any] = {
        "operationId": protocol.name,
        "summary": protocol.title,
        "description": protocol.description,
        "tags": [protocol.category] if protocol.category else [],
        "parameters": parameters,
        "requestBody": _request_body(protocol, binding, schema.get("properties", {})),
        "deprecated": protocol.extra.get("deprecated") is True,
        "x-atc-annotations": _differing_annotations(protocol, binding),
        "x-atc-verified-by": protocol.verified_by.tool if protocol.verified_by else None,
        "responses": _responses(protocol, components, links),
        "security": [{name: []} for name in binding.credentials],
    }
    return {key: value for key, value in operation.items() if value}


def _parameters(protocol: ToolProtocol, binding: HttpBinding, properties: JsonObject) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for argument, schema in properties.items():
        location = _location(binding, argument)
        if location in ("body", "form"):
            continue
        parameter: dict[str, Any] = {"name": binding.wire_names.get(argument, argument), "in": location}
        if location == "path" or argument in protocol.required:
            parameter["required"] = True
        plain = dict(schema) if isinstance(schema, Mapping) else {}
        if plain.pop("x-atc-join", None) == ",":
            parameter |= {"style": "form", "explode": False}
        found.append(parameter | {"schema": plain})
    return found


def _request_body(protocol: ToolProtocol, binding: HttpBinding, properties: JsonObject) -> dict[str, Any] | None:
    if (whole := binding.body_argument) is not None:
        schema = properties.get(whole, {})
        media = (
            schema.get("contentMediaType", "application/json") if isinstance(schema, Mapping) else "application/json"
        )
        return {"required": whole in protocol.required, "content": {media: {"schema": schema}}}
    fields = {name: part for name, part in properties.items() if _location(binding, name) in ("body", "form")}
    if not fields:
        return None
    media = "application/json"
    if any(_location(binding, name) == "form" for name in fields):
        media = "application/x-www-form-urlencoded"
    named = {binding.wire_names.get(name, name): part for name, part in fields.items()}
    required = [binding.wire_names.get(name, name) for name in fields if name in protocol.required]
    schema = {"type": "object", "properties": named} | ({"required": required} if required else {})
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def _responses(protocol: ToolProtocol, components: _Components, links: JsonObject) -> dict[str, Any]:
    output = protocol.output_schema
    success: dict[str, Any] = {"description": "Success"}
    status = "200"
    if output == {"type": "null"} and _binding(protocol).method != "HEAD":
        status = "204"
    elif output is not None:
        success["content"] = _content(output, components, protocol.name)
    if links:
        success["links"] = links
    responses: dict[str, Any] = {status: success}
    for error in protocol.errors:
        responses[error.status] = _error(error, components, protocol.name)
    return responses


def _error(error: ErrorOutcome, components: _Components, owner: str) -> dict[str, Any]:
    response: dict[str, Any] = {"description": error.description}
    if error.schema is not None:
        response["content"] = _content(error.schema, components, owner)
    return response


def _content(schema: JsonObject, components: _Components, owner: str) -> dict[str, Any]:
    media = "text/plain" if schema == {"type": "string"} else "application/json"
    return {media: {"schema": components.hoist(schema, owner)}}


def _differing_annotations(protocol: ToolProtocol, binding: HttpBinding) -> dict[str, Any]:
    usual, own = annotations_of(binding.method), protocol.annotations
    pairs = (
        ("readOnlyHint", own.read_only, usual.read_only),
        ("destructiveHint", own.destructive, usual.destructive),
        ("idempotentHint", own.idempotent, usual.idempotent),
    )
    return {key: mine for key, mine, theirs in pairs if mine is not None and mine != theirs}


def _links_by_producer(protocols: Sequence[ToolProtocol]) -> dict[str, dict[str, Any]]:
    """Producing tool → its `links`, one for each consumer and argument."""
    found: dict[str, dict[str, Any]] = {}
    for protocol in protocols:
        for link in protocol.links:
            if link.support == "declared":
                of_producer = found.setdefault(link.tool, {})
                name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{protocol.name}.{link.argument}")
                while name in of_producer:
                    name += "_"
                of_producer[name] = link_object(_qualified(protocol, link.argument), link.path, protocol.name)
    return found


def _qualified(protocol: ToolProtocol, argument: str) -> str:
    return _binding(protocol).wire_names.get(argument, argument)


def _binding(protocol: ToolProtocol) -> HttpBinding:
    if isinstance(protocol.binding, HttpBinding):
        return protocol.binding
    locations = dict.fromkeys(protocol.parameters, "body")
    return HttpBinding(method="POST", url=f"/{protocol.name}", locations=locations)  # type: ignore[arg-type]


def _location(binding: HttpBinding, argument: str) -> str:
    wire = binding.wire_names.get(argument, argument)
    usual = "query" if binding.method in ("GET", "HEAD", "OPTIONS", "DELETE") else "body"
    return binding.locations.get(argument, "path" if f"{{{wire}}}" in binding.url else usual)


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return origin, url.removeprefix(origin) or "/"


def _share_server(document: dict[str, Any]) -> None:
    """Say once what all operations say."""
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    servers = [operation.get("servers") for operation in operations]
    if servers and servers[0] is not None and all(server == servers[0] for server in servers):
        document["servers"] = servers[0]
        for operation in operations:
            del operation["servers"]


def _references(schema: Json) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_references, schema)) if schema else set()
    if not isinstance(schema, Mapping):
        return set()
    own = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
    return own.union(*(_references(part) for part in schema.values()))


def _renamed(schema: Json, names: Mapping[str, str]) -> Any:
    if isinstance(schema, list):
        return [_renamed(part, names) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    renamed = {key: _renamed(part, names) for key, part in schema.items()}
    if isinstance(ref := schema.get("$ref"), str) and ref in names:
        renamed["$ref"] = f"#/components/schemas/{names[ref]}"
    return renamed


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
