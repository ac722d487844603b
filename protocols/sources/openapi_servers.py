"""Servers of OpenAPI operations: the absolute URL before each path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from protocols.errors import InvalidProtocol
from protocols.schema import Json, JsonObject, as_mapping, items_of_type
from protocols.sources.document import OpenApiDocument
from protocols.urls import is_url, split_url


def server_of(document: OpenApiDocument, servers: list[Any], base_url: str | None) -> str:
    """Return the absolute URL that precedes an operation's path, without a trailing slash."""
    declared = _url(servers) or "/"
    # A file has no address: relative URLs in it are resolved against the document's own server.
    base = document.where if is_url(document.where) else _url(document.content.get("servers"))
    url = declared if is_url(declared) else urljoin(base, declared)
    if base_url is not None:
        path = re.sub(r"^(\w+:)?//[^/?#]*", "", url)
        url = base_url if urlsplit(base_url).path else f"{base_url}/{path.lstrip('/')}"
    try:
        split_url(url)
    except ValueError as error:
        problem = f"{document.at} is served at {declared!r} ({error}), which names no http(s) host."
        hint = f"Say where the service runs: '{document.where}@https://HOST'."
        path = "host" if "swagger" in document.content else "servers"
        raise InvalidProtocol(document.where, problem, path=path, hint=hint) from None
    return url.split("#")[0].split("?")[0].rstrip("/")


def swagger_server(document: JsonObject, where: str) -> str:
    """Return the URL that precedes each path of a Swagger document.

    If the document names no host, the result is only a path.
    """
    host = document.get("host")
    path = f"/{str(document.get('basePath') or '').removeprefix('/')}"
    if not isinstance(host, str) or not host:
        return path
    offered = [
        scheme for scheme in items_of_type(document.get("schemes")) if scheme in ("https", "http")
    ]
    usual = urlsplit(where).scheme if is_url(where) else "https"
    return f"{max(offered, default=usual)}://{host}{path}"


def _url(servers: Json) -> str:
    """Return the URL of the first server with its variables filled in, or "".

    A variable has its default value, else the first value of its enum.
    """
    server = next(
        (one for one in items_of_type(servers, Mapping) if isinstance(one.get("url"), str)),
        {"url": ""},
    )
    variables = as_mapping(server.get("variables"))

    def value(match: re.Match[str]) -> str:
        variable = as_mapping(variables.get(match[1]))
        return str(
            variable.get("default", next(iter(items_of_type(variable.get("enum"))), match[0]))
        )

    return re.sub(r"\{([^{}]+)\}", value, server["url"])
