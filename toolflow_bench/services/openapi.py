"""Loads a service's `openapi.yaml`: operations, schemas, and the SQL that answers most operations.

The file describes only what is specific to the service. The responses that all services share (422,
429, 500) and the idempotency key are added here. The document that the service serves does not
contain the SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import yaml

from protocols.schema import JsonObject
from toolflow_bench.services.answers import RecordLookup, handler_of
from toolflow_bench.services.document import COMMON, KEY_HEADER
from toolflow_bench.services.operation import Operation, Parameter


def load_description(path: Path, handlers: ModuleType) -> dict[str, Any]:
    """Read a service's `openapi.yaml`: its `info`, `operations`, `schemas` and `records`.

    An operation without SQL is answered by the function in `handlers` whose name is the operation's
    id.

    Raises:
        AttributeError: there is no such function.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe loader
    shared = content["components"]["parameters"]
    operations = tuple(
        operation_of(url, method, entry, handler_of(entry, handlers), shared=shared)
        for url, entries in content["paths"].items()
        for method, entry in entries.items()
    )
    schemas = {
        name: {"title": name, **schema} for name, schema in content["components"]["schemas"].items()
    }
    records = {
        name: RecordLookup(**record) for name, record in content.get("x-records", {}).items()
    }
    return {
        "info": content["info"],
        "operations": operations,
        "schemas": schemas,
        "records": records,
    }


def operation_of(
    path: str,
    method: str,
    entry: Mapping[str, Any],
    handler: Any,
    *,
    shared: Mapping[str, Any] = MappingProxyType({}),
) -> Operation:
    """Return the operation that `entry` of the OpenAPI document describes.

    It also gets the responses that all operations share. `shared` has the document's parameters to
    which `entry` may refer, keyed by name.
    """
    key = entry.get("x-takes-key", False)
    given = [
        shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in entry.get("parameters", ())
    ]
    described = {
        name: part
        for name, part in entry.items()
        if name == "x-atc-verified-by" or name[:2] != "x-"
    }
    described["parameters"] = [
        *({"required": False, **one} for one in given),
        *([COMMON["key"]] if key else []),
    ]
    parameters = [
        Parameter(name=p["name"], schema=p["schema"], required=p.get("required", False))
        for p in given
    ]
    if "requestBody" in entry:
        schema = {"required": [], **entry["requestBody"]["content"]["application/json"]["schema"]}
        described["requestBody"] = {
            "required": True,
            "content": _json({**schema, "additionalProperties": False}),
        }
        for name, part in schema["properties"].items():
            parameters.append(
                Parameter(name=name, schema=part, required=name in schema["required"])
            )
    problem = _json({"$ref": "#/components/schemas/Problem"})
    refused = (
        "An argument is missing, unknown or not allowed; `detail` names it and says what is "
        "allowed."
    )
    refused += f" Or the {KEY_HEADER} came before with other arguments." if key else ""
    described["responses"] = {
        **{
            str(status): {"description": "The result.", "content": problem, **r}
            for status, r in entry["responses"].items()
        },
        "422": {"description": refused, "content": problem},
        "429": {"$ref": "#/components/responses/TooManyRequests"},
        "500": {"$ref": "#/components/responses/ServerError"},
    }
    return Operation(
        path=path,
        method=method.upper(),
        entry=described,
        handler=handler,
        parameters=tuple(parameters),
        takes_key=key,
    )


def _json(schema: JsonObject) -> JsonObject:
    return {"application/json": {"schema": schema}}
