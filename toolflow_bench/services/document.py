"""The OpenAPI 3.1 document of a service, built from its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from protocols.schema import JsonObject
from toolflow_bench.services.operation import Operation

COMMON: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("common.yaml").read_text(encoding="utf-8")
)
"""The parts that the OpenAPI documents of all services share."""
KEY_HEADER: str = COMMON["key"]["name"]
"""Name of the header that carries an idempotency key."""
LONGEST_KEY: int = COMMON["key"]["schema"]["maxLength"]
"""Maximum number of characters in an idempotency key."""


def document(
    operations: Sequence[Operation],
    *,
    info: JsonObject,
    schemas: Mapping[str, JsonObject],
    server: str,
) -> dict[str, Any]:
    """Return the OpenAPI document of `operations`.

    `server` is the URL at which they are served, without a trailing slash.
    """
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation.entry
    return {
        "openapi": "3.1.0",
        "info": dict(info),
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Problem": COMMON["problem"]},
            "responses": COMMON["responses"],
        },
    }
