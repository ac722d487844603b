"""The OpenAPI 3.1 document of a service, made from its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from protocols.jsontypes import JsonObject
from toolflow_bench.services.operation import Operation, Parameter

_COMMON: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("common.yaml").read_text(encoding="utf-8"))
KEY_HEADER: str = _COMMON["key"]["name"]
"""Header of operations that take a key."""
LONGEST_KEY: int = _COMMON["key"]["schema"]["maxLength"]
"""Characters of an idempotency key."""


def document(
    operations: Sequence[Operation], *, info: JsonObject, schemas: Mapping[str, JsonObject], server: str
) -> dict[str, Any]:
    """The document of `operations`, served at `server` (a URL without trailing slash)."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": dict(info),
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": {**schemas, "Problem": _COMMON["problem"]}, "responses": _COMMON["responses"]},
    }


def _describe(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {"operationId": operation.id, "description": operation.description}
    if operation.tag:
        described["tags"] = [operation.tag]
    in_body = [p for p in operation.parameters if operation.location(p) == "body"]
    others = [_parameter(operation, p) for p in operation.parameters if p not in in_body]
    described["parameters"] = [*others, _COMMON["key"]] if operation.takes_key else others
    if operation.verified_by:
        described["x-atc-verified-by"] = operation.verified_by
    if in_body:
        schema = {
            "type": "object",
            "properties": {p.name: {**p.schema, "description": p.description} for p in in_body},
            "required": [p.name for p in in_body if p.required],
            "additionalProperties": False,
        }
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    described["responses"] = _responses(operation)
    return described


def _parameter(operation: Operation, parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": operation.location(parameter),
        "required": parameter.required,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _responses(operation: Operation) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "The result.", "content": _json(operation.returns)}
    if operation.links:
        success["links"] = operation.links
    responses = {str(operation.success): success}
    if operation.missing:
        responses["404"] = _problem(operation.missing)
    if operation.conflict:
        responses["409"] = _problem(operation.conflict)
    refused = "An argument is missing, unknown or not allowed; `detail` names it and says what is allowed."
    if operation.takes_key:
        refused += f" Or the {KEY_HEADER} came before with other arguments."
    responses["422"] = _problem(refused)
    responses["429"] = {"$ref": "#/components/responses/TooManyRequests"}
    responses["500"] = {"$ref": "#/components/responses/ServerError"}
    return responses


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": _json("Problem")}


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
