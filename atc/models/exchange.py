"""The HTTP client of model endpoints: `httpx2`, as the OpenAI client wants it, over the transport that tools have.

So a model endpoint has the same limits as a tool: one deadline, one number of bytes, and no redirect elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import httpx2

from protocols.http.decoding import ACCEPTED
from protocols.http.redirects import follow_redirects
from protocols.http.request import HttpRequest
from protocols.http.transport import Transport
from protocols.response import Answer
from protocols.urls import Origin, split_url

_LONGEST_SECONDS = 600.0  # where a request names no time-out


class UnusableReply(httpx2.TransportError):
    """An answer came that is of no use, however often it is asked for again."""


class ModelTransport(httpx2.BaseTransport):
    """Sends requests whole and gives answers that were read whole, as UTF-8."""

    def __init__(self, origin: Origin, *, max_bytes: int) -> None:
        """Make a transport for the endpoint at `origin`, which the user named and may be on this machine.

        `max_bytes` bounds an answer, decompressed.
        """
        context = httpx2.create_ssl_context()
        self._transport = Transport(
            max_body_bytes=max_bytes, homes={origin.host}, ssl_context=context
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its answer; the read time-out is the time for all of it.

        Raises:
            httpx2.ReadTimeout: it did not come in time.
            httpx2.ConnectError: the endpoint cannot be reached, or the connection broke.
            Unusable: it is too large, or a redirect that is not followed.
        """
        timeout: Mapping[str, float | None] = request.extensions.get("timeout", {})
        deadline = time.monotonic() + (timeout.get("read") or _LONGEST_SECONDS)
        try:
            origin, _ = split_url(str(request.url))
        except ValueError as error:
            raise UnusableReply(str(error)) from None
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _OWN_HEADERS
        }
        headers["Accept-Encoding"] = ACCEPTED
        sent = HttpRequest(
            method=request.method,
            url=str(request.url),
            headers=headers,
            body=request.read() or None,
        )
        answer, _ = follow_redirects(
            sent, lambda one: self._transport.send(one, origin, deadline=deadline)
        )
        if answer.status is None:
            if time.monotonic() >= deadline:
                raise httpx2.ReadTimeout(answer.trouble, request=request)
            raise httpx2.ConnectError(answer.trouble, request=request)
        if answer.trouble:
            raise UnusableReply(answer.trouble, request=request)
        return httpx2.Response(
            answer.status,
            headers=_remaining_headers(answer),
            content=answer.text().encode(),
            request=request,
        )

    def close(self) -> None:
        """Close idle connections."""
        self._transport.close()


_OWN_HEADERS = ("host", "content-length", "connection", "transfer-encoding", "accept-encoding")
"""Headers of a request that the transport sets itself."""


def _remaining_headers(answer: Answer) -> dict[str, str]:
    """Return the headers that still hold once the body was decompressed and decoded."""
    kept = {
        name: answer.headers[name]
        for name in ("retry-after", "retry-after-ms")
        if name in answer.headers
    }
    return kept | {"content-type": answer.media_type or "application/json"}
