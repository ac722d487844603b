"""Where an operation of an OpenAPI or Swagger document is served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import JsonObject
from protocols.origin import Origin, split_url


def server_url(
    document: JsonObject, item: JsonObject, operation: JsonObject, *, at: str, where: str, base_url: str | None
) -> str:
    """The absolute URL, without a slash at its end, before an operation's path.

    Raises:
        InvalidProtocol: neither the document nor `base_url` nor the document's own address names a host.
    """
    declared = _swagger_server(document, where) if "swagger" in document else _server(document, item, operation)
    url = urljoin(where, declared) if is_url(where) else declared
    if base_url is not None:
        url = _replaced(url, base_url)
    if not re.match(r"https?://[^{}/?#]+([/?#]|$)", url):
        raise InvalidProtocol(
            where,
            f"{at} is served at {declared or '/'!r}, which names no http(s) host.",
            path="servers" if "swagger" not in document else "host",
            hint=f"Say where the service runs: '{where}@https://HOST'.",
        )
    return url.split("#")[0].split("?")[0].rstrip("/")


def is_url(text: str) -> bool:
    """Whether `text` is an http(s) address."""
    return text.lower().startswith(("http://", "https://"))


def home_of(url: str) -> Origin:
    """The origin of a document's address.

    Raises:
        SourceUnavailable: it is no http(s) address with a plain host.
    """
    try:
        return split_url(url)[0]
    except ValueError as error:
        raise SourceUnavailable(f"{error}; give a plain http(s) address.") from None


def covers(home: Origin, origin: Origin) -> bool:
    """Whether `origin` belongs to whoever serves `home`: the same origin, or its host or one below it.

    A host besides the same origin counts on the usual ports alone (80 and 443): on others other services run. Hosts
    beside it (`docs.example.com`, `api.example.com`) do not count: under a shared suffix they are somebody else's.
    """
    if origin == home:
        return True
    return (origin.host == home.host or origin.host.endswith(f".{home.host}")) and {origin.port, home.port} <= {80, 443}


def _server(document: JsonObject, item: JsonObject, operation: JsonObject) -> str:
    for holder in (operation, item, document):
        servers = holder.get("servers")
        for server in servers if isinstance(servers, list) else ():
            if isinstance(server, Mapping) and isinstance(server.get("url"), str):
                return _filled(server["url"], server.get("variables"))
    return "/"


def _filled(url: str, variables: Any) -> str:
    known = variables if isinstance(variables, Mapping) else {}

    def value(match: re.Match[str]) -> str:
        variable = known.get(match[1])
        if not isinstance(variable, Mapping):
            return match[0]
        choices = variable.get("enum")
        first = choices[0] if isinstance(choices, list) and choices else match[0]
        return str(variable.get("default", first))

    return re.sub(r"\{([^{}]+)\}", value, url)


def _swagger_server(document: JsonObject, where: str) -> str:
    host, path = document.get("host"), str(document.get("basePath") or "/")
    path = path if path.startswith("/") else f"/{path}"
    if not isinstance(host, str) or not host:
        return path
    schemes = document.get("schemes")
    offered = [s for s in schemes if s in ("http", "https")] if isinstance(schemes, list) else []
    usual = urlsplit(where).scheme if is_url(where) else "https"
    scheme = "https" if "https" in offered else next(iter(offered), usual)
    return f"{scheme}://{host}{path}"


def _replaced(url: str, base_url: str) -> str:
    base = urlsplit(base_url)
    return base_url if base.path.strip("/") else urlunsplit((base.scheme, base.netloc, urlsplit(url).path, "", ""))
