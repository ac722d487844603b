"""Response headers that a program may read: totals, next pages, `Location`, rate limits, `ETag`.

They are tool output, like the body: untrusted, stored with the result and removed with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocols.naming import split_words
from protocols.protocol import ToolProtocol
from protocols.schema import JsonObject, as_mapping, items_of_type

MOST_HEADERS: Final = 40
"""Maximum number of headers that are kept of one response."""
MOST_BYTES: Final = 8192
"""Maximum size of all kept names and values together. A header that does not fit is left out."""
_LEFT_OUT: Final = split_words(
    # How the message was sent, by whom, and over which connection.
    "connection keep-alive proxy-connection transfer-encoding te trailer upgrade via server date"
    " alt-svc forwarded x-powered-by x-served-by x-runtime x-envoy-upstream-service-time"
    # How the body was encoded. The program gets the decoded value.
    " content-length content-encoding content-md5 accept-ranges"
    # Rules for caches between the service and a browser.
    " age cache-control expires pragma vary x-cache x-cache-hits x-timer"
    # Cookies and logins, which may be credentials.
    " set-cookie set-cookie2 www-authenticate proxy-authenticate authorization"
    " proxy-authorization authentication-info proxy-authentication-info"
    # Rules for browsers, most of them about security.
    " strict-transport-security content-security-policy content-security-policy-report-only"
    " x-content-type-options x-frame-options x-xss-protection x-permitted-cross-domain-policies"
    " x-download-options x-dns-prefetch-control referrer-policy permissions-policy feature-policy"
    " origin-agent-cluster timing-allow-origin clear-site-data expect-ct nel report-to"
    " reporting-endpoints server-timing x-robots-tag"
)
_LEFT_OUT_PREFIXES: Final = ("access-control-", "cross-origin-", "cf-", "x-amz-cf-")


RESPONSE_HEADERS: Final = "x-atc-response-headers"
"""Key of `ToolProtocol.extra`: the names of headers that a response has, for the tool's stub."""
_NAMED: Final = split_words("location link content-range")
_NAMED_PREFIXES: Final = ("x-total", "x-next", "total-", "next-", "x-page", "x-pagination")
_MOST_NAMED = 8
_PLACES: Final = split_words("location operation-location azure-asyncoperation")
"""Headers with the address of what a call made or began."""
_RESULT_ENDS: Final = split_words("id ids count total key location url uri href")
"""Last words of the names of headers that may be the result of a call without a body."""
_ABOUT_REQUESTS: Final = split_words(
    "request correlation trace span session transaction rate ratelimit limit quota api client user"
    " account tenant org organization project host server instance region"
)
"""Words of headers about the request, its sender or the server, which are no result."""


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those of the headers of a response that belong to its result.

    Left out are headers about the connection, the encoding, caching, security and cookies, and a
    `Content-Type` that only says JSON. `headers` are keyed by lower-case name. The number and the
    size of the result are limited.
    """
    kept = {
        name: value
        for name, value in headers.items()
        if name not in _LEFT_OUT and not name.startswith(_LEFT_OUT_PREFIXES)
    }
    if kept.get("content-type", "").lower().startswith("application/json"):
        del kept["content-type"]
    return _limit(kept) if kept else kept


def _limit(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the first of the headers that are within the limits of number and size."""
    room = MOST_BYTES
    within: dict[str, str] = {}
    for name, value in headers.items():
        size = len(name) + len(value)
        if size <= room and len(within) < MOST_HEADERS:
            room -= size
            within[name] = value
    return within


def declared_headers(response: JsonObject) -> tuple[str, ...]:
    """Return the names of the headers that an OpenAPI response declares and that are kept."""
    declared = {str(name).lower(): "" for name in as_mapping(response.get("headers"))}
    return tuple(kept_headers(declared))[:_MOST_NAMED]


def worth_naming(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of those headers of a response that say where the rest of a result is."""
    found = [n for n in headers if n in _NAMED or n.startswith(_NAMED_PREFIXES)]
    return tuple(found[:_MOST_NAMED])


def places(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with the address of what a call made or began, such as `Location`."""
    return {name: value for name, value in headers.items() if name in _PLACES and value}


def results_without_body(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that may be the result of a call whose response has no body.

    These are addresses, ids and counts: `Location`, `X-Upload-Id`, `X-Deleted-Count`.
    """
    found = places(headers)
    for name, value in headers.items():
        words = name.split("-")
        if value and words[-1] in _RESULT_ENDS and _ABOUT_REQUESTS.isdisjoint(words):
            found[name] = value
    return dict(list(found.items())[:_MOST_NAMED])


def named_headers(protocol: ToolProtocol) -> tuple[str, ...]:
    """Return the names of the headers that a tool's responses are known to have."""
    return tuple(items_of_type(protocol.extra.get(RESPONSE_HEADERS), str)[:_MOST_NAMED])
