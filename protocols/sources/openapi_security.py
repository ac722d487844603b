"""Security of OpenAPI operations: which credentials they need, and how these are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from protocols.schema import JsonObject, as_mapping, items_of_type
from protocols.sources.document import OpenApiDocument

_FLOWS = {
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
    "password": "password",
    "deviceAuthorization": "deviceAuthorization",
}
"""OpenAPI 3 names of the supported OAuth flows, keyed by their names in Swagger 2.

Swagger 2 has no device flow.
"""
_ADDRESSES = ("authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl")


def credentials_of(content: JsonObject, operation: JsonObject) -> list[tuple[str, ...]]:
    """Return the alternative credentials of an operation, each a tuple of names to send together.

    An empty tuple means that no credential is needed.
    """
    declared = operation.get("security", content.get("security"))
    offered = [tuple(map(str, one)) for one in items_of_type(declared, Mapping)]
    if any(offered):
        return list(dict.fromkeys(offered))
    for one in operation["parameters"]:
        if (
            one.get("in") == "header"
            and one["name"].lower() == "authorization"
            and one.get("required") is True
        ):
            return [("Authorization",)]
    return [()] if declared == [] or offered else []


def scheme_of(document: OpenApiDocument, name: str, server: str) -> dict[str, Any]:
    """Return the security scheme of a credential, which says how it is sent.

    Return {} for a bearer token (the default), and if there is no such scheme. Addresses of OAuth
    flows are made absolute.
    """
    known = as_mapping(document.content.get("components")).get("securitySchemes")
    raw = document.follow(
        as_mapping(known or document.content.get("securityDefinitions")).get(name)
    )
    if str(raw.get("scheme")).lower() == "bearer":  # the default
        return {}
    kept = (
        "type",
        "in",
        "name",
        "scheme",
        *(["description"] if raw.get("type") == "apiKey" else []),
    )
    scheme = {key: raw[key] for key in kept if isinstance(raw.get(key), str)}
    flows = {}
    for flow, one in as_mapping(
        raw.get("flows") or {_FLOWS.get(str(raw.get("flow"))): raw}
    ).items():
        if flow in _FLOWS.values() and isinstance(one, Mapping):
            urls = {key: one[key] for key in _ADDRESSES if isinstance(one.get(key), str)}
            scopes = dict.fromkeys(as_mapping(one.get("scopes")), "")
            flows[flow] = {key: urljoin(f"{server}/", url) for key, url in urls.items()} | {
                "scopes": scopes
            }
    return scheme | ({"flows": flows} if flows else {})
