"""Reading what a service offers from its `openapi.yaml`: operations, schemas, and the SQL that answers most of them.

The file holds what is the service's own. What every service answers alike (422, 429, 500, the idempotency key) is added
where `toolflow_bench.services.document` writes the document that is served, without the SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from toolflow_bench.services.answers import Record, handler_of
from toolflow_bench.services.operation import Operation, Parameter


def described(path: Path, handlers: ModuleType) -> dict[str, Any]:
    """What the file says of a service: its `info`, `operations`, `schemas` and `records`.

    What it gives no SQL for, the function of `handlers` answers that has the operation's id as its name; one without
    is an `AttributeError`.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe loader, the C one if there is one
    parameters = content["components"]["parameters"]
    operations = tuple(
        _operation(url, method, entry, parameters, handlers)
        for url, entries in content["paths"].items()
        for method, entry in entries.items()
    )
    schemas = {name: {"title": name, **schema} for name, schema in content["components"]["schemas"].items()}
    records = {name: Record(**record) for name, record in content.get("x-records", {}).items()}
    return {"info": content["info"], "operations": operations, "schemas": schemas, "records": records}


def _operation(
    path: str, method: str, entry: Mapping[str, Any], parameters: Mapping[str, Any], handlers: ModuleType
) -> Operation:
    status, responses = next(iter(entry["responses"])), entry["responses"]
    given = [parameters[_name(item)] if "$ref" in item else item for item in entry.get("parameters", ())]
    named: Callable[[], Any] = lambda: getattr(handlers, entry["operationId"])  # noqa: E731 - asked for where there is no SQL
    return Operation(
        id=entry["operationId"],
        path=path,
        description=entry["description"],
        returns=_name(responses[status]["content"]["application/json"]["schema"]),
        handler=handler_of(entry, named),
        method=method.upper(),
        tag=entry["tags"][0],
        parameters=(*map(_parameter, given), *_body(entry)),
        missing=responses.get(404, {}).get("description", ""),
        conflict=responses.get(409, {}).get("description", ""),
        takes_key=entry.get("x-takes-key", False),
        verified_by=entry.get("x-atc-verified-by", ""),
        links=responses[status].get("links", {}),
    )


def _parameter(item: Mapping[str, Any]) -> Parameter:
    required = item.get("required", False)
    return Parameter(name=item["name"], schema=item["schema"], description=item["description"], required=required)


def _body(entry: Mapping[str, Any]) -> Iterator[Parameter]:
    """The fields of the JSON body, each as a parameter."""
    if "requestBody" in entry:
        schema = entry["requestBody"]["content"]["application/json"]["schema"]
        for name, described_ in schema["properties"].items():
            kept = {key: value for key, value in described_.items() if key != "description"}
            required = name in schema.get("required", ())
            yield Parameter(name=name, schema=kept, description=described_["description"], required=required)


def _name(reference: Mapping[str, str]) -> str:
    """The last part of a `$ref`."""
    return reference["$ref"].rsplit("/", 1)[-1]
