"""Security of OpenAPI operations: which credentials they need, and how these are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urljoin

from protocols.schema import Json, JsonObject, as_mapping, items_of_type
from protocols.sources.document import OpenApiDocument

Alternatives: TypeAlias = list[tuple[str, ...]]
"""Alternative credentials, each a tuple of names to send together."""
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


def security_fields(
    document: OpenApiDocument, operation: JsonObject, server: str, siblings: Alternatives
) -> dict[str, Any]:
    """Return the fields of an `HttpBinding` that say which secrets an operation needs.

    They are the credentials and their security schemes. `siblings` are the credentials of other
    operations, for an operation that declares nothing. The name of the operation's header for
    idempotency keys, if any, is returned with them.
    """
    credentials = credentials_of(document.content, operation)
    others = [] if credentials else siblings
    schemes = {
        one: scheme_of(document, one, server) for names in (*credentials, *others) for one in names
    }
    headers = {
        one["name"].lower(): one["name"]
        for one in operation["parameters"]
        if one.get("in") == "header"
    }
    return {
        "credentials": _single_names(credentials),
        "sibling_credentials": _single_names(others),
        "schemes": {one: scheme for one, scheme in schemes.items() if scheme},
        "idempotency_header": headers.get("idempotency-key"),
    }


def _single_names(credentials: Alternatives) -> tuple[str | tuple[str, ...], ...]:
    """Return alternatives in which a name that is sent alone is a text."""
    return tuple(names[0] if len(names) == 1 else names for names in credentials)


def _declared_alternatives(security: Json) -> tuple[tuple[str, ...], ...]:
    """Return the names of credentials in each item of an operation's `security`."""
    return tuple(tuple(map(str, one)) for one in items_of_type(security, Mapping))


def sibling_credentials(operations: Iterable[JsonObject]) -> Alternatives:
    """Return the alternatives that most operations of a document declare; [] if none does."""
    declared = [_declared_alternatives(operation.get("security")) for operation in operations]
    count = Counter(one for one in declared if one and all(one))
    return list(count.most_common(1)[0][0]) if count else []


def credentials_of(content: JsonObject, operation: JsonObject) -> Alternatives:
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
