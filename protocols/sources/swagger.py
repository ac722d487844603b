"""The parts of a Swagger 2 document that OpenAPI 3 writes in another way, in its terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from protocols.jsontypes import JsonObject
from protocols.origin import is_url
from protocols.sources.operation import FORM_TYPES

_FLOWS = {"application": "clientCredentials", "accessCode": "authorizationCode"}


def server(document: JsonObject, where: str) -> str:
    """The URL before each path: a path alone where the document, read from `where`, names no host."""
    host, path = document.get("host"), f"/{str(document.get('basePath') or '').removeprefix('/')}"
    if not isinstance(host, str) or not host:
        return path
    offered = [scheme for scheme in document.get("schemes") or () if scheme in ("https", "http")]
    usual = urlsplit(where).scheme if is_url(where) else "https"
    return f"{max(offered, default=usual)}://{host}{path}"


def request_body(parameters: Sequence[JsonObject], consumes: Sequence[str]) -> dict[str, Any]:
    """The `requestBody` that `in: body` and `in: formData` parameters make; empty where there are none."""
    for one in parameters:
        if one.get("in") == "body":
            media = next((m for m in consumes if "json" in m.lower()), None) or next(iter(consumes), "application/json")
            content = {media: {"schema": one.get("schema", {})}}
            return {"description": one.get("description"), "required": one.get("required"), "content": content}
    fields = {one["name"]: one for one in parameters if one.get("in") == "formData"}
    if not fields:
        return {}
    files = any(one.get("type") == "file" for one in fields.values())
    media = next((m for m in consumes if m in FORM_TYPES), FORM_TYPES[files])
    required = [name for name, one in fields.items() if one.get("required") is True]
    schema = {"type": "object", "properties": fields, "required": required}
    return {"required": bool(required), "content": {media: {"schema": schema}}}


def response(one: JsonObject, produces: Sequence[str]) -> dict[str, Any]:
    """A response with its `content` by media type."""
    described = {"schema": one["schema"]} if isinstance(one.get("schema"), Mapping) else {}
    # Without a schema it means, to the letter, an empty body; in practice (httpbin) it is merely not described.
    media = list(produces) or (["application/json"] if described else [])
    return {"description": one.get("description"), "content": dict.fromkeys(media, described)}


def flows(scheme: JsonObject) -> dict[str, Any]:
    """The OAuth flow of a security scheme, as OpenAPI 3's `flows`."""
    flow = _FLOWS.get(str(scheme.get("flow")))
    return {flow: scheme} if flow else {}
